"""Find the downloaded weights of a metric, and read them safely. Nothing is downloaded here.

A score must not depend on whether a network happened to be there, nor start downloads in the middle of
a run: missing weights are reported with the command that fetches them.

The weights are pickles of NumPy arrays. A pickle is a program, so it is given stand-ins for the three
names it may use (`numpy.dtype`, `numpy.ndarray` and `_reconstruct`), which only record shape, type and
bytes. The recorded values are checked before they become arrays, and no code of the file is executed.
"""

from __future__ import annotations

import importlib.util
import math
import pickle
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError, install
from sightline.physics.video_metrics.frame_metrics import NotAvailable


def fetched(metric: str, name: str) -> Path | NotAvailable:
    """Find the weights of a metric on this machine and compare their checksum.

    Args:
        metric: the metric's name for people.
        name: name in the registry, such as `lpips-alex`.
    """
    from sightline.models.cache import known_sha256
    from sightline.models.download import locate
    from sightline.models.registry import get

    entry = get(name)
    command = f"sightline models get {entry.name}"
    path = locate(entry)
    if path is None:
        return NotAvailable(metric, f"the weights {entry.name} are not on this machine", command)
    if known_sha256(path, path.name) != entry.sha256:
        return NotAvailable(metric, f"the weights {entry.name} are damaged", command)
    return path


def lacking(metric: str, *packages: str) -> NotAvailable | None:
    """Say which of these packages is not installed; None when all of them are."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if not missing:
        return None
    verb = "is" if len(missing) == 1 else "are"
    return NotAvailable(metric, f"{' and '.join(missing)} {verb} not installed", install("train"))


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
