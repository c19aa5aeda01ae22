"""Read weights that come as a pickle of NumPy arrays, without letting the file run anything.

A pickle is a program. Here it is given three names to work with (`numpy.dtype`, `numpy.ndarray` and
`_reconstruct`), none of which is NumPy's own: they are stand-ins that only note down shape, type and
bytes. When the program has ended, what it noted is checked and turned into arrays. So neither a foreign
function nor a malformed array header ever reaches code that would trust it.
"""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError

#: What is in a file: arrays, in dictionaries of dictionaries by name.
Tree = dict[str, Any]

#: Names that weights may use. NumPy 2 has moved the second; files of either age are read.
_KNOWN = {
    ("numpy", "dtype"): "dtype",
    ("numpy", "ndarray"): "ndarray",
    ("numpy.core.multiarray", "_reconstruct"): "array",
    ("numpy._core.multiarray", "_reconstruct"): "array",
}

_NUMBERS = frozenset({"f2", "f4", "f8", "i4", "i8", "u1"})

#: What the unpickler raises on a program that is cut short, malformed, or asks for the impossible.
_DAMAGE = (
    pickle.UnpicklingError,
    EOFError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ImportError,
    MemoryError,
    OverflowError,
    RecursionError,
)


def read_arrays(path: Path) -> Tree:
    """Read a pickle of nested dictionaries of numeric arrays, and of nothing else.

    Raises:
        InputError: the file is damaged, or wants more than arrays; nothing in it was run.
    """
    try:
        with path.open("rb") as stream:
            return _tree(_ArraysOnly(stream).load())
    except _DAMAGE as error:
        raise InputError(
            f"is not a plain pickle of NumPy arrays ({error}); it was refused",
            path=path,
            remedy="fetch it again with `sightline models get`",
        ) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", path=path) from error


class _ArraysOnly(pickle.Unpickler):
    """An unpickler that hands out stand-ins for three names and refuses every other."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream, encoding="bytes")

    def find_class(self, module: str, name: str, /) -> Any:
        """Return the stand-in of a known name."""
        known = _KNOWN.get((module, name))
        if known is None:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return _Name(known)


class _Name:
    """A name the pickle asked for; calling it makes a note. Nothing can be set on it."""

    __slots__ = ("_known",)

    def __init__(self, known: str) -> None:
        self._known = known

    def __call__(self, *words: Any) -> _Dtype | _Array:
        if self._known == "dtype":
            return _Dtype(words)
        if self._known == "array":
            return _Array()  # NumPy makes an empty one here and fills it by its state
        raise pickle.UnpicklingError("it makes an array in an unusual way")

    def __setstate__(self, _: Any) -> None:
        raise pickle.UnpicklingError("it changes what a name means")


class _Dtype:
    """The note of a number type: its code, such as `f4`, and the byte order from its state."""

    __slots__ = ("code", "order")

    def __init__(self, words: tuple[Any, ...]) -> None:
        code = words[0] if words else None
        if code not in _NUMBERS:
            raise pickle.UnpicklingError(f"it holds arrays of {code!r}, not of plain numbers")
        self.code, self.order = str(code), "="

    def __setstate__(self, state: Any) -> None:
        order, extras = state[1], state[2:5]
        if order not in ("<", ">", "=", "|") or any(extra is not None for extra in extras):
            raise pickle.UnpicklingError("it holds arrays of an unusual type")
        self.order = order


class _Array:
    """The note of an array: its state as `numpy.ndarray` would be given it."""

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: Any) -> None:
        self.state = tuple(state)

    def numbers(self) -> NDArray[Any]:
        """Return the array, once shape, type and number of bytes are found to agree."""
        _, shape, dtype, fortran, data = self.state
        plain = type(shape) is tuple and all(type(side) is int and side >= 0 for side in shape)
        if not plain or type(dtype) is not _Dtype or type(data) is not bytes:
            raise pickle.UnpicklingError("it holds a malformed array")
        number = np.dtype(dtype.order + dtype.code)
        if len(data) != math.prod(shape) * number.itemsize:
            raise pickle.UnpicklingError("it holds an array that does not fill its shape")
        flat = np.frombuffer(data, number)
        return flat.reshape(shape, order="F" if fortran else "C")


def _tree(value: Any) -> Tree:
    if type(value) is not dict:
        raise pickle.UnpicklingError("it holds something other than arrays by name")
    tree: Tree = {}
    for name, part in value.items():
        if type(name) is not str:
            raise pickle.UnpicklingError("it holds something without a name")
        tree[name] = part.numbers() if type(part) is _Array else _tree(part)
    return tree
