"""What parsing gives: where each body is in each frame, how sure that is, and what became of it.

World units and seconds as in `physics.types`. No entry is ever NaN or infinite: a body that is not
seen keeps its last known place, and `states` says that this is no measurement.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import WORLD_SIDE, Doubles, Motion

#: Uncertainty of a place that nobody saw, in world units: it may be anywhere.
UNSEEN_SIGMA = WORLD_SIDE


class State(IntEnum):
    """What became of a body in a frame."""

    SEEN = 0  #: whole, in its colour and shape
    PARTLY_OUTSIDE = 1  #: cut by the border of the picture, and measured from what is left of it
    OUTSIDE = 2  #: left the picture over its border, or has not entered yet
    LOST = 3  #: not there although nothing says that it left
    MERGED = 4  #: hidden by another body, or one patch with a body of the same colour
    SPLIT = 5  #: in several pieces; the largest is measured
    DEFORMED = 6  #: neither ball nor square nor ring, or not of its size or shape
    RECOLOURED = 7  #: of another colour than it had


# Numbers, because looking up a member of an enumeration costs more than comparing an array with it.
_SEEN, _PARTLY_OUTSIDE = int(State.SEEN), int(State.PARTLY_OUTSIDE)
#: From OUTSIDE over LOST to MERGED, places are carried over or guessed; all others are measurements.
_UNMEASURED = (int(State.OUTSIDE), int(State.MERGED))
#: Standard deviation up to which the place of a body that the border cuts counts as known, in world
#: units: it is off by less than that in nine of ten cases, through mp4 too.
PLACED = 0.03


@dataclass(frozen=True, slots=True)
class Tracks:
    """The bodies of one video, frame by frame.

    Attributes:
        positions: (T, N, 2) float64, centres (x, y).
        position_sigma: (T, N, 2) float64, one standard deviation of each coordinate.
        radii: (T, N) float64, radius or half side, measured in this frame alone.
        radius_sigma: (T, N) float64.
        velocities: (T, N, 2) float64, forward difference (x[t + 1] - x[t]) / frame_time, the last
            one repeated: what the definitions of the velocity error ask for.
        smooth_velocities: (T, N, 2) float64, slope of a line through five frames on the side where
            the motion is straightest, so that a collision is not smeared.
        colours: (T, N, 3) uint8, RGB.
        shapes: (T, N) uint8, values of `Shape`.
        states: (T, N) uint8, values of `State`.
        sizes: (N,) float64, the radius of the body over the whole video.
        body_colours: (N, 3) uint8, the colour it began with.
        body_shapes: (N,) uint8, the shape it began with.
        pixel: world units per pixel.
        frame_time: seconds between frames.
    """

    positions: Doubles
    position_sigma: Doubles
    radii: Doubles
    radius_sigma: Doubles
    velocities: Doubles
    smooth_velocities: Doubles
    colours: NDArray[np.uint8]
    shapes: NDArray[np.uint8]
    states: NDArray[np.uint8]
    sizes: Doubles
    body_colours: NDArray[np.uint8]
    body_shapes: NDArray[np.uint8]
    pixel: float
    frame_time: float

    def __len__(self) -> int:
        """Return the number of frames."""
        return len(self.positions)

    @property
    def bodies(self) -> int:
        """Number of bodies."""
        return len(self.sizes)

    @property
    def measured(self) -> NDArray[np.bool_]:
        """(T, N) where place and size come from this frame's pixels."""
        return (self.states < _UNMEASURED[0]) | (self.states > _UNMEASURED[1])

    @property
    def whole(self) -> NDArray[np.bool_]:
        """(T, N) where a body is measured and no part of it is outside the picture."""
        return (self.states == _SEEN) | (self.states > _UNMEASURED[1])

    @property
    def there(self) -> NDArray[np.bool_]:
        """(T, N) where a body is in the picture, perhaps hidden by another."""
        return (self.states != int(State.OUTSIDE)) & (self.states != int(State.LOST))

    @property
    def placed(self) -> NDArray[np.bool_]:
        """(T, N) where the place of a body is known well: it is whole, or enough of it is seen."""
        cut = self.states == _PARTLY_OUTSIDE
        if not cut.any():
            return self.whole
        return self.whole | (cut & (self.position_sigma.max(axis=-1) <= PLACED))

    @property
    def masses(self) -> Doubles:
        """(N,) r², as the reference evaluator has it."""
        return self.sizes**2

    def take(self, bodies: NDArray[np.integer]) -> Tracks:
        """Return some of the bodies, in the order asked for."""
        return Tracks(
            self.positions[:, bodies],
            self.position_sigma[:, bodies],
            self.radii[:, bodies],
            self.radius_sigma[:, bodies],
            self.velocities[:, bodies],
            self.smooth_velocities[:, bodies],
            self.colours[:, bodies],
            self.shapes[:, bodies],
            self.states[:, bodies],
            self.sizes[bodies],
            self.body_colours[bodies],
            self.body_shapes[bodies],
            self.pixel,
            self.frame_time,
        )


@dataclass(frozen=True, slots=True)
class Prior:
    """What is known before looking: the bodies that should be there, and where they begin.

    The first tracks of a video parsed with a prior are its bodies, in its order; whatever else turns
    up follows. A body that never shows up is LOST from the first frame on.

    Attributes:
        positions: (N, 2) float64, centres in the first frame.
        sizes: (N,) float64, radius or half side.
        colours: (N, 3) uint8, RGB.
        shapes: (N,) uint8, values of `Shape`.
    """

    positions: Doubles
    sizes: Doubles
    colours: NDArray[np.uint8]
    shapes: NDArray[np.uint8]

    def __post_init__(self) -> None:
        count = len(self.sizes)
        wanted = {
            "positions": (count, 2),
            "sizes": (count,),
            "colours": (count, 3),
            "shapes": (count,),
        }
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise InputError(f"{name} of shape {getattr(self, name).shape}, expected {shape}")
        if not (np.isfinite(self.positions).all() and np.isfinite(self.sizes).all()):
            raise InputError("a prior needs finite positions and sizes")


def prior_of(known: Motion | Tracks) -> Prior:
    """Return what a motion, or a parsed beginning such as the condition frames, says about a video."""
    if isinstance(known, Motion):
        return Prior(known.positions[0], known.sizes, known.colours, known.shapes)
    return Prior(known.positions[0], known.sizes, known.body_colours, known.body_shapes)
