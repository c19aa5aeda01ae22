"""Shared parts of the config classes, from which CLI flags and REST request models are generated.

Every feature has one frozen dataclass of settings beside the code it configures. Cyclopts turns its
fields into flags; `to_pydantic` turns them into the fields of a REST request. Descriptions come from
the "Attributes:" section of the docstring, so a setting has one name, one default and one text.

This module is imported by `sightline --help` and must stay free of heavy imports.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

from cyclopts import Parameter, Token

from sightline.errors import InputError

if TYPE_CHECKING:
    from pydantic import BaseModel

#: Names of the color palettes in `io.color`, repeated here because that module needs numpy.
Palette = Literal["spectral", "turbo", "inferno", "gray"]

#: Inference engines of `runtime`, repeated here because that module needs OpenVINO.
Engine = Literal["auto", "openvino", "torch"]

#: A switch that is off by default; the help omits the default.
Flag = Annotated[bool, Parameter(show_default=False)]

#: Bounds of the network input's shorter side in [px].
SMALLEST, LARGEST = 32, 4096

#: Settings that do not change a result.
_NEUTRAL = frozenset({"threads", "device", "accept_license", "max_pixels"})


@dataclass(frozen=True, slots=True)
class ParallelConfig:
    """Where the inputs of a command are processed.

    Attributes:
        workers: number of worker processes. Default: 1; with --cluster, one per CPU of the cluster.
        cluster: run on a Ray cluster instead of processes of this machine.
        address: address of the Ray cluster, for example auto or ray://host:10001. Default: the
            environment variable RAY_ADDRESS, or a new cluster on this machine.
    """

    workers: int | None = None
    cluster: Flag = False
    address: str | None = None

    def __post_init__(self) -> None:
        check_ranges(None, workers=self.workers)
        if self.address is not None and not self.cluster:
            raise InputError("--address is used only with --cluster", remedy="add --cluster")


def check_ranges(size: int | None, **counts: int | None) -> None:
    """Check that a network size lies within its bounds and that counts are at least 1.

    Args:
        size: shorter side of the network's input in [px]; None for the default.
        counts: other whole numbers by the name of their setting; None for the default.
    """
    if size is not None and not SMALLEST <= size <= LARGEST:
        raise InputError(f"size must be from {SMALLEST} to {LARGEST}, got {size}")
    for name, value in counts.items():
        if value is not None and value < 1:
            raise InputError(f"{name.replace('_', '-')} must be at least 1, got {value}")


def comma_list(choices: Sequence[str]) -> Parameter:
    """Return the parameter of a flag that takes several of `choices`, separated by commas."""

    def convert(_type: Any, tokens: Sequence[Token]) -> tuple[str, ...]:
        words = [word.strip() for token in tokens for word in token.value.split(",")]
        for word in words:
            if word not in choices:
                raise ValueError(f'"{word}" is not one of {", ".join(choices)}')
        return tuple(name for name in choices if name in words)

    return Parameter(converter=convert, n_tokens=1, show_choices=False)


def fingerprint(*parts: Any) -> str:
    """Return a short hash of everything that a result depends on.

    Fields of configs that do not change results (threads, device, limits) are left out.

    Args:
        parts: config dataclasses, and strings such as the checksum of the weights.
    """
    content = [
        part
        if isinstance(part, str)
        else {f.name: getattr(part, f.name) for f in fields(part) if f.name not in _NEUTRAL}
        for part in parts
    ]
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def descriptions(config: type) -> dict[str, str]:
    """Return the description of every field, from the docstrings of a config and its bases."""
    from docstring_parser import parse

    found: dict[str, str] = {}
    for cls in reversed(config.__mro__):
        for entry in parse(cls.__doc__ or "").params:
            found[entry.arg_name] = " ".join((entry.description or "").split())
    return found


def to_pydantic(
    config: type,
    *,
    include: Collection[str],
    name: str | None = None,
    base: type[BaseModel] | None = None,
    types: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    texts: Mapping[str, str] | None = None,
) -> type[BaseModel]:
    """Generate a REST request model from a config dataclass.

    Names, defaults and descriptions are those of the config. Tuples become lists, since forms repeat
    a field for each element.

    Args:
        config: a config dataclass.
        include: names of the fields that a request may set.
        name: name of the model. Default: the name of `config` with Request for Config.
        base: class to derive from, with the docstring, settings and further fields of the model.
        types: stricter types of some fields, for example with bounds and examples.
        defaults: defaults of some fields that differ from those of the config.
        texts: descriptions of some fields that differ from those of the config.
    """
    from pydantic import Field, create_model

    hints = get_type_hints(config, include_extras=True)
    described = {**descriptions(config), **(texts or {})}
    made: dict[str, Any] = {}
    for field in fields(config):
        if field.name not in include:
            continue
        kind = (types or {}).get(field.name) or _without_parameter(hints[field.name])
        default = (defaults or {}).get(field.name, field.default)
        text = described.get(field.name)
        if isinstance(default, tuple):
            made[field.name] = kind, Field(default_factory=list, description=text)
        else:
            made[field.name] = kind, Field(default, description=text)
    unknown = set(include) - set(made)
    if unknown:
        raise ValueError(f"{config.__name__} has no field {min(unknown)!r}")
    title = name or config.__name__.replace("Config", "Request")
    doc = config.__doc__ if base is None else base.__doc__
    return create_model(title, __base__=base, __doc__=doc, **made)


def _without_parameter(hint: Any) -> Any:
    """Strip what only the command line uses from a type; turn tuples into lists."""
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) is tuple:
        return list[get_args(hint)[0]]  # type: ignore[misc]
    return hint
