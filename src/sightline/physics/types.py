"""Types of the physics package: `Motion` of one video, `Samples` of many, and constants of the world.

World units and seconds throughout: x to the right, y up, the origin at the bottom left of a square
world of side 10 that fills the picture (PhyWorld, App. C.1). Frame k of a sample is at t = 0.01 + 0.1
k seconds, because the released generator stores a state after its first sub-step.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError

Doubles = NDArray[np.float64]
Frames = NDArray[np.uint8]

#: Side of the square world, in world units.
WORLD_SIDE = 10.0

#: Frames per video, time between frames and sub-step of the released integrator, in [s].
FRAMES = 32
FRAME_TIME = 0.1
SUB_STEP = 0.01

#: Downward acceleration of the parabola, in units/s².
GRAVITY = 2.5

RED = (255, 0, 0)
BLUE = (0, 0, 255)


class Shape(IntEnum):
    """Outline of a body; its `size` is a radius, or half the side of a square."""

    BALL = 0
    SQUARE = 1
    RING = 2


@dataclass(frozen=True, slots=True)
class Motion:
    """The motion of the bodies in one video.

    Attributes:
        positions: (T, N, 2) float64, centers (x, y) in world units.
        velocities: (T, N, 2) float64, in units/s, at the same times.
        sizes: (N,) float64, radius or half side, in world units.
        colors: (N, 3) uint8, RGB.
        shapes: (N,) uint8, values of `Shape`.
        frame_time: seconds between frames.
    """

    positions: Doubles
    velocities: Doubles
    sizes: Doubles
    colors: NDArray[np.uint8]
    shapes: NDArray[np.uint8]
    frame_time: float = FRAME_TIME

    def __post_init__(self) -> None:
        frames, bodies = self.positions.shape[:2]
        wanted = {
            "positions": (frames, bodies, 2),
            "velocities": (frames, bodies, 2),
            "sizes": (bodies,),
            "colors": (bodies, 3),
            "shapes": (bodies,),
        }
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise InputError(f"{name} of shape {getattr(self, name).shape}, expected {shape}")

    @property
    def masses(self) -> Doubles:
        """(N,) r²: density 1 without the factor π, as in the released evaluator."""
        return self.sizes**2


@dataclass(frozen=True, slots=True)
class Samples:
    """Parameters and motions of many videos of one scenario.

    Attributes:
        scenario: `uniform`, `collision`, `parabola`, or the name of a probe's world.
        init: (M, K) float64, the reference's `init_streams`: [r, v]; [r1, r2, v1, v2];
            [r, v, color]; or [r, v, color, shape].
        positions: (M, T, N, 2) float64.
        velocities: (M, T, N, 2) float64.
        sizes: (M, N) float64.
        colors: (M, N, 3) uint8.
        shapes: (M, N) uint8.
        frame_time: seconds between frames.
    """

    scenario: str
    init: Doubles
    positions: Doubles
    velocities: Doubles
    sizes: Doubles
    colors: NDArray[np.uint8]
    shapes: NDArray[np.uint8]
    frame_time: float = FRAME_TIME

    def __post_init__(self) -> None:
        count, frames, bodies = self.positions.shape[:3]
        wanted: dict[str, tuple[int, ...]] = {
            "positions": (count, frames, bodies, 2),
            "velocities": (count, frames, bodies, 2),
            "sizes": (count, bodies),
            "colors": (count, bodies, 3),
            "shapes": (count, bodies),
        }
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise InputError(f"{name} of shape {getattr(self, name).shape}, expected {shape}")
        if self.init.ndim != 2 or len(self.init) != count:
            raise InputError(f"init of shape {self.init.shape}, expected ({count}, parameters)")

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, index: int) -> Motion:
        """Return one video."""
        return Motion(
            self.positions[index],
            self.velocities[index],
            self.sizes[index],
            self.colors[index],
            self.shapes[index],
            self.frame_time,
        )

    def take(self, indexes: slice | NDArray[np.integer] | NDArray[np.bool_]) -> Samples:
        """Return a selection of the videos, in the given order."""
        return Samples(
            self.scenario,
            self.init[indexes],
            self.positions[indexes],
            self.velocities[indexes],
            self.sizes[indexes],
            self.colors[indexes],
            self.shapes[indexes],
            self.frame_time,
        )
