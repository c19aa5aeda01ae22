"""What can be set when pictures are turned into metres: one field, one flag of `sightline metric`.

Kept free of heavy imports, because `sightline metric --help` is generated from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from sightline.batch.options import LARGEST, SMALLEST, Flag, Palette, check_ranges
from sightline.errors import InputError


@dataclass(frozen=True, slots=True)
class Yardsticks:
    """How to get metres of one picture.

    Attributes:
        length: a known length between two pixels, x,y,x,y=0.9m; several times if there are several. A
            number without a unit is in metres, here and in the flags below.
        depth_at: a known depth, x,y=3.2m; several times if there are several; or a .csv of x,y,depth.
        box: a thing of known height, left,top,right,bottom=2m; several times if there are several.
        camera_height: of the camera over the floor, such as 1.5m; the floor is found in the picture.
        measured: a map of measured depth of the picture's size, sparse or dense, 0 where nothing is
            known: npz, exr or png by sightline, or any 16-bit png with --measured-unit.
        measured_unit: what a step of that png is: mm (most depth cameras), or kitti (1/256 m).
        people: look for people and measure by them; off when only what you give is to count.
        sure: how sure it must be that somebody is a person, 0 to 1; a lamp taken for one spoils all
            distances.
        meshes: folder of people's meshes and masks by another tool, which then takes the place of ours
            (PICTURE_0.obj, PICTURE_0_mask.png …, in metres before the camera).
        iris: measure by the irises of faces, 11.7 mm wide: for portraits.
        painter: paint people into the picture and measure by them too: an inpainting model of
            diffusers, by its name on the hub or its folder.
        paintings: how many with people in them.
        attempts: at most so many paintings in all.
        painter_steps: of denoising for each painting; default: the painter's own, 50 for Stable
            Diffusion. Fewer are faster and worse.
        painter_side: shorter side of what is painted, in pixels.
        model: name of a depth model (see `sightline models`) or a weight file; a relative one.
        size: shorter side of the network's input in pixels; default: what the model was made for.
        fov: horizontal field of view in degrees; overrides what the picture says of its lens.
        sigma: each pixel's own uncertainty of relative depth too (four times the work).
        threads: processor threads in all; default: every core.
        accept_licence: accept the model's non-commercial licence.
        max_pixels: refuse pictures with more pixels than this.
        seed: of everything random.
    """

    length: tuple[str, ...] = ()
    depth_at: tuple[str, ...] = ()
    box: tuple[str, ...] = ()
    camera_height: str | None = None
    measured: Path | None = None
    measured_unit: Literal["mm", "kitti"] | None = None
    people: Annotated[bool, Parameter(negative="--no-people")] = True
    sure: float = 0.85
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
    threads: int | None = None
    accept_licence: Flag = False
    max_pixels: int = 200_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_ranges(
            self.size,
            threads=self.threads,
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
                "painted people have to be found", remedy="leave out --no-people or --painter"
            )
        if not 0 <= self.sure <= 1:
            raise InputError(f"--sure must lie in 0 to 1, got {self.sure:g}")
        if self.measured_unit is not None and self.measured is None:
            raise InputError("--measured-unit is that of --measured", remedy="leave it out")
        if self.meshes is not None and not self.people:
            raise InputError("--meshes are people", remedy="leave out --no-people or --meshes")
        if self.meshes is not None and self.painter is not None:
            raise InputError(
                "meshes are of the people in the picture as it is",
                remedy="leave out --meshes or --painter",
            )
        for name in ("length", "depth_at", "box"):
            if isinstance(getattr(self, name), str):  # one of them, in Python
                object.__setattr__(self, name, (getattr(self, name),))

    @property
    def gives_yardsticks(self) -> bool:
        """Whether there are metres without anybody in the picture."""
        return self.about_one_picture or self.camera_height is not None or self.iris

    @property
    def about_one_picture(self) -> bool:
        """Whether something is given that can be true of one picture only."""
        return bool(self.length or self.depth_at or self.box or self.measured)


@dataclass(frozen=True, slots=True)
class MetricOptions(Yardsticks):
    """How to get metres of many pictures.

    Attributes:
        palette: colours of the color picture.
        recursive: look into subfolders of given folders.
        keep_going: go on after a bad file and report it at the end.
    """

    palette: Palette = "spectral"
    recursive: Flag = False
    keep_going: Flag = False
