"""What can be set when depth is computed for many files: one field, one flag of `sightline depth`.

Kept free of heavy imports, because `sightline depth --help` is generated from it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_args

from cyclopts import Parameter, Token

from sightline.errors import InputError

Format = Literal["npz", "png", "exr", "color", "ply", "glb"]

#: The names of `files.palettes`, repeated here because that needs numpy; a test holds them together.
Palette = Literal["spectral", "turbo", "inferno", "grey"]

#: A switch that is off unless given; the help need not say so.
Flag = Annotated[bool, Parameter(show_default=False)]

FORMATS: tuple[Format, ...] = get_args(Format)

#: Bounds of `size` in [px]: below, there is nothing to see; above, no machine has the memory (the
#: upper one is that of `depth.preprocess`, which needs numpy; a test holds them together).
SMALLEST, LARGEST = 32, 4096

#: What a result depends on. Threads, workers and the like may change without making it stale.
_SETTINGS = (
    "size",
    "fov",
    "engine",
    "tiles",
    "sigma",
    "palette",
    "stabilise",
    "keep_audio",
)


def _comma_list(_type: Any, tokens: Sequence[Token]) -> tuple[Format, ...]:
    """Read `npz,png` (or the flag given several times) as a tuple without repeats."""
    words = [word.strip() for token in tokens for word in token.value.split(",")]
    for word in words:
        if word not in FORMATS:
            raise ValueError(f'"{word}" is none of {", ".join(FORMATS)}')
    return tuple(name for name in FORMATS if name in words)


def check_ranges(size: int | None, **counts: int | None) -> None:
    """Refuse a network size out of bounds, and counts below one; None is anything's default."""
    if size is not None and not SMALLEST <= size <= LARGEST:
        raise InputError(f"size must be from {SMALLEST} to {LARGEST}, got {size}")
    for name, value in counts.items():
        if value is not None and value < 1:
            raise InputError(f"{name.replace('_', '-')} must be at least 1, got {value}")


@dataclass(frozen=True, slots=True)
class DepthOptions:
    """How to compute and save depth.

    Attributes:
        model: name of a model (see `sightline models`) or a weight file.
        size: shorter side of the network's input in pixels; default: what the model was made for.
        save: files to write, separated by commas: npz (all fields), png (16 bit), exr (float),
            color (picture with legend), ply (points), glb (mesh). Of a video: npz (a folder of
            frames), png (16-bit lossless video), color (video). Default: npz,color; of a video
            png,color.
        fov: horizontal field of view in degrees; overrides what the picture says of its lens.
        tiles: also look at overlapping tiles, for detail in large pictures (slower).
        sigma: also estimate each pixel's uncertainty (slower).
        sharpen: draw outlines as steps instead of slopes; default: for our own models.
        palette: colours of the color picture.
        engine: what runs the network.
        device: device of the engine, for example cpu, cuda or mps.
        threads: processor threads in all; default: every core.
        workers: processes that share the files; one reads, computes and writes side by side already.
        recursive: look into subfolders of given folders.
        resume: skip inputs whose results are here, made with the same settings.
        keep_going: go on after a bad file and report it at the end.
        accept_licence: accept the model's non-commercial licence.
        stabilise: videos: keep scale and shift steady from frame to frame.
        keep_audio: videos: copy the sound into the color video.
        max_pixels: refuse pictures with more pixels than this.
    """

    model: str = "default"
    size: int | None = None
    save: Annotated[
        tuple[Format, ...] | None,
        Parameter(converter=_comma_list, n_tokens=1, show_choices=False),
    ] = None
    fov: float | None = None
    tiles: Flag = False
    sigma: Flag = False
    sharpen: Annotated[bool | None, Parameter(negative="--no-sharpen")] = None
    palette: Palette = "spectral"
    engine: Literal["auto", "openvino", "torch"] = "auto"
    device: str | None = None
    threads: int | None = None
    workers: int = 1
    recursive: Flag = False
    resume: Flag = False
    keep_going: Flag = False
    accept_licence: Flag = False
    stabilise: Annotated[bool, Parameter(negative="--no-stabilise")] = True
    keep_audio: Flag = False
    max_pixels: int = 200_000_000

    def __post_init__(self) -> None:
        check_ranges(
            self.size, threads=self.threads, workers=self.workers, max_pixels=self.max_pixels
        )
        if self.save is None:
            return
        if not self.save:
            raise InputError("nothing to save", remedy=f"give --save {','.join(FORMATS)}")
        unknown = [name for name in self.save if name not in FORMATS]
        if unknown:
            raise InputError(f"cannot save {unknown[0]!r}", remedy=f"use {', '.join(FORMATS)}")

    def settings(self, model_sha256: str) -> str:
        """Return a short fingerprint of the model and of everything else that a result depends on."""
        chosen = {f.name: getattr(self, f.name) for f in fields(self) if f.name in _SETTINGS}
        text = json.dumps({"model": model_sha256, **chosen}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
