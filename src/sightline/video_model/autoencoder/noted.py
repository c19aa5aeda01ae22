"""Safetensors files whose header says what they are, read with mistrust: codecs and models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from sightline.errors import InputError

T = TypeVar("T")


def read_noted(
    path: str | Path,
    key: str,
    what: str,
    build: Callable[[dict[str, Any], dict[str, Tensor]], T],
    whole: str | None = None,
) -> T:
    """Read a safetensors file whose header says what it is.

    Args:
        path: of the file.
        key: of the header's metadata; its value is JSON.
        what: it should be, in words.
        build: makes it from the header's notes and the weights.
        whole: the same in full, for a file that is something else.

    Raises:
        InputError: the file is not there, something else, or damaged.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError("no such file", path=path, remedy="check the name")
    try:
        with safe_open(path, framework="pt") as file:
            notes = (file.metadata() or {}).get(key)
            if notes is None:
                raise InputError(f"holds no {whole or what}", path=path)
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"not a safetensors file, or a damaged one ({error})", path=path
        ) from error
    try:
        return build(json.loads(notes), state)
    except InputError as error:
        raise InputError(error.problem, path=path, remedy=error.remedy) from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"a damaged {what} (its notes: {type(error).__name__})", path=path
        ) from error


def give_weights(module: nn.Module, state: dict[str, Tensor], what: str) -> None:
    """Give a module, built without memory of its own, weights that were read; compare them first.

    Args:
        module: of `torch.device("meta")`: what a damaged file asks for has cost nothing yet.
        state: weights by name.
        what: the file should be, in words.

    Raises:
        InputError: a weight is missing, too many, of another shape or not finite.
    """
    wanted = {name: value.shape for name, value in module.state_dict().items()}
    for name in sorted(wanted.keys() ^ state.keys()):
        how = "is missing" if name in wanted else "does not belong there"
        raise InputError(f"a damaged {what} ({name} {how})")
    for name, value in state.items():
        if value.shape != wanted[name]:
            got, shape = tuple(value.shape), tuple(wanted[name])
            raise InputError(f"a damaged {what} ({name} is {got}, expected {shape})")
        if not torch.isfinite(value).all():
            raise InputError(f"a damaged {what} ({name} is not finite)")
    module.load_state_dict(state, assign=True)
