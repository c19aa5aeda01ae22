"""Settings of metric depth. Free of heavy imports: `sightline metric --help` reads it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from sightline.config import LARGEST, SMALLEST, Engine, Flag, check_ranges
from sightline.errors import InputError


@dataclass(frozen=True, slots=True)
class MetricConfig:
    """How metric depth is estimated: the evidence of scale, and the models.

    Attributes:
        length: known length between two pixels, x,y,x,y=0.9m; may be repeated. Here and in the flags
            below, a number without a unit is in meters.
        depth_at: known depth at a pixel, x,y=3.2m; may be repeated; or a .csv file of x,y,depth.
        box: object of known height, left,top,right,bottom=2m; may be repeated.
        camera_height: height of the camera above the floor, for example 1.5m; the floor is detected
            in the image.
        measured: measured depth map of the image's size, sparse or dense, 0 where unknown: npz, exr
            or png by Sightline, or any 16-bit png with --measured-unit.
        measured_unit: unit of that png: mm (most depth cameras) or kitti (1/256 m).
        people: detect people and use their height as evidence.
        min_confidence: minimum person-detection confidence, 0 to 1.
        meshes: folder of people's meshes and masks by another tool, used instead of detection
            (IMAGE_0.obj, IMAGE_0_mask.png, …, in meters, in camera coordinates).
        iris: use the diameter of irises, 11.7 mm, as evidence; for portraits.
        painter: paint people into the image and use them as evidence: a diffusers inpainting
            model, by its name on the Hugging Face hub or its folder.
        paintings: number of paintings with people in them.
        attempts: maximum number of paintings in total.
        painter_steps: denoising steps of each painting. Default: the painter's own, 50 for Stable
            Diffusion.
        painter_side: shorter side of the painted image in pixels.
        model: name of a relative depth model (see `sightline models`) or path of a weight file.
        size: shorter side of the network's input in pixels. Default: the model's own.
        fov: horizontal field of view in degrees; overrides the focal length in the EXIF data.
        sigma: add the uncertainty of relative depth at each pixel (about four times slower).
        engine: inference engine.
        device: device of the engine, for example cpu, cuda or mps.
        threads: total number of CPU threads; with --cluster, those of each worker. Default: all
            cores; with --cluster, 1.
        accept_license: accept the model's non-commercial license.
        max_pixels: reject images with more pixels than this.
        seed: random seed.
    """

    length: tuple[str, ...] = ()
    depth_at: tuple[str, ...] = ()
    box: tuple[str, ...] = ()
    camera_height: str | None = None
    measured: Path | None = None
    measured_unit: Literal["mm", "kitti"] | None = None
    people: Annotated[bool, Parameter(negative="--no-people")] = True
    min_confidence: float = 0.85
    meshes: Path | None = None
    iris: Flag = False
    painter: str | None = None
    paintings: int = 32
    attempts: int = 128
    painter_steps: int | None = None
    painter_side: int = 512
    model: str = "default"
    size: int | None = None
    fov: float | None = None
    sigma: Annotated[bool, Parameter(negative="--no-sigma")] = True
    engine: Engine = "auto"
    device: str | None = None
    threads: int | None = None
    accept_license: Flag = False
    max_pixels: int = 200_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_ranges(
            self.size,
            threads=self.threads,
            max_pixels=self.max_pixels,
            paintings=self.paintings,
            attempts=self.attempts,
            painter_steps=self.painter_steps,
        )
        if not SMALLEST <= self.painter_side <= LARGEST:
            raise InputError(
                f"painter-side must be from {SMALLEST} to {LARGEST}, got {self.painter_side}"
            )
        if self.painter is not None and not self.people:
            raise InputError(
                "--painter needs the detection of people",
                remedy="leave out --no-people or --painter",
            )
        if not 0 <= self.min_confidence <= 1:
            raise InputError(f"--min-confidence must be from 0 to 1, got {self.min_confidence:g}")
        if self.measured_unit is not None and self.measured is None:
            raise InputError("--measured-unit is used only with --measured", remedy="leave it out")
        if self.meshes is not None and not self.people:
            raise InputError(
                "--meshes cannot be used with --no-people", remedy="leave out one of them"
            )
        if self.meshes is not None and self.painter is not None:
            raise InputError(
                "--meshes describe the people in the original image",
                remedy="leave out --meshes or --painter",
            )
        for name in ("length", "depth_at", "box"):
            if isinstance(getattr(self, name), str):  # from Python, one without its tuple
                object.__setattr__(self, name, (getattr(self, name),))

    @property
    def has_evidence(self) -> bool:
        """Whether there is evidence of scale without any person in the image."""
        return self.is_for_one_image or self.camera_height is not None or self.iris

    @property
    def is_for_one_image(self) -> bool:
        """Whether evidence was given that can be true of one image only."""
        return bool(self.length or self.depth_at or self.box or self.measured)
