"""Settings of depth estimation and of labeling. Free of heavy imports: `--help` reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from sightline.config import Engine, Flag, check_ranges


@dataclass(frozen=True, slots=True)
class DepthConfig:
    """Configuration of depth estimation.

    Attributes:
        model: name of a model (see `sightline models`) or path of a weight file.
        size: shorter side of the network's input in pixels. Default: the model's own.
        fov: horizontal field of view in degrees; overrides the focal length in the EXIF data.
        tiles: add detail from overlapping tiles, for large images (about ten times slower).
        sigma: estimate the uncertainty of each pixel (about four times slower).
        sharpen: sharpen depth edges. Default: on for the models that come with Sightline.
        engine: inference engine.
        device: device of the engine, for example cpu, cuda or mps.
        threads: total number of CPU threads; with --cluster, those of each worker. Default: all
            cores; with --cluster, 1.
        accept_license: accept the model's non-commercial license.
        stabilize: videos: keep scale and shift consistent between frames.
        keep_audio: videos: copy the audio track to the color video.
        max_pixels: reject images with more pixels than this.
    """

    model: str = "default"
    size: int | None = None
    fov: float | None = None
    tiles: Flag = False
    sigma: Flag = False
    sharpen: Annotated[bool | None, Parameter(negative="--no-sharpen")] = None
    engine: Engine = "auto"
    device: str | None = None
    threads: int | None = None
    accept_license: Flag = False
    stabilize: Annotated[bool, Parameter(negative="--no-stabilize")] = True
    keep_audio: Flag = False
    max_pixels: int = 200_000_000

    def __post_init__(self) -> None:
        check_ranges(self.size, threads=self.threads, max_pixels=self.max_pixels)


@dataclass(frozen=True, slots=True)
class LabelConfig:
    """Configuration of labeling by a teacher network.

    Attributes:
        model: the teacher: name of a model (see `sightline models`), path of a weight file, or
            hf:REPO for a depth model of transformers.
        size: shorter side of the network's input, and of the labels, in pixels; of a model of
            transformers only of the labels. Default: the model's own.
        mirror: average with the prediction for the mirrored image; better labels, twice the time.
        engine: inference engine.
        device: device of the engine, for example cpu, cuda or mps.
        threads: total number of CPU threads; with --cluster, those of each worker. Default: all
            cores; with --cluster, 1.
        accept_license: accept the model's non-commercial license.
        max_pixels: reject images with more pixels than this.
        recursive: search subfolders of the given folders.
    """

    model: str = "default"
    size: int | None = None
    mirror: Annotated[bool, Parameter(negative="--no-mirror")] = True
    engine: Engine = "auto"
    device: str | None = None
    threads: int | None = None
    accept_license: Flag = False
    max_pixels: int = 200_000_000
    recursive: Flag = False

    def __post_init__(self) -> None:
        check_ranges(self.size, threads=self.threads, max_pixels=self.max_pixels)
