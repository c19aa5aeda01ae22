"""Settings of a batch of files. Free of heavy imports: `sightline depth --help` reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from sightline.config import Flag, Palette, comma_list
from sightline.errors import InputError

Format = Literal["npz", "png", "exr", "color", "ply", "glb", "normals"]

FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True, slots=True)
class BatchConfig:
    """Which files are read and written.

    Attributes:
        save: files to write, separated by commas: npz (all fields), png (16 bit), exr (float),
            color (image with legend), ply (point cloud), glb (mesh),
            normals (surface normals as an image). For a video: npz (a folder of
            frames), png (16-bit lossless video), color (video). Default: npz,color; for a video
            png,color.
        palette: color map of the color image.
        recursive: search subfolders of the given folders.
        resume: skip inputs whose results exist and were made with the same settings.
        keep_going: continue after an invalid file and report it at the end.
    """

    save: Annotated[tuple[Format, ...] | None, comma_list(FORMATS)] = None
    palette: Palette = "spectral"
    recursive: Flag = False
    resume: Flag = False
    keep_going: Flag = False

    def __post_init__(self) -> None:
        if self.save is None:
            return
        if not self.save:
            raise InputError("nothing to save", remedy=f"give --save {','.join(FORMATS)}")
        unknown = [name for name in self.save if name not in FORMATS]
        if unknown:
            raise InputError(f"cannot save {unknown[0]!r}", remedy=f"use {', '.join(FORMATS)}")
