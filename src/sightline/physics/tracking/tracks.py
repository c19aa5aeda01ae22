"""The result of tracking: position, uncertainty and state of each body in each frame.

World units and seconds as in `physics.types`. No entry is NaN or infinite: a body that is not seen
keeps its last position, and `states` marks it as not measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import WORLD_SIDE, Doubles, Motion

#: Standard deviation of the position of an unseen body, in world units.
UNSEEN_SIGMA = WORLD_SIDE


class State(IntEnum):
    """State of a body in a frame."""

    SEEN = 0  #: whole, in its color and shape
    PARTLY_OUTSIDE = 1  #: cut by the border of the picture, and measured from what is left of it
    OUTSIDE = 2  #: has left the picture across its border, or has not entered yet
    LOST = 3  #: missing, though it did not leave across the border
    MERGED = 4  #: hidden by another body, or one patch with a body of the same color
    SPLIT = 5  #: in several pieces; the largest is measured
    DEFORMED = 6  #: neither ball nor square nor ring, or not of its size or shape
    RECOLORED = 7  #: of another color than it had


# Plain integers: looking up an enum member costs more than comparing the array.
_SEEN, _PARTLY_OUTSIDE = int(State.SEEN), int(State.PARTLY_OUTSIDE)
#: In the states OUTSIDE, LOST and MERGED positions are carried over or estimated, not measured.
_UNMEASURED = (int(State.OUTSIDE), int(State.MERGED))
#: Standard deviation up to which the position of a body cut by the border counts as known, in world
#: units.
PLACED = 0.03


@dataclass(frozen=True, slots=True)
class Tracks:
    """Tracks of the bodies of one video.

    Attributes:
        positions: (T, N, 2) float64, centers (x, y).
        position_sigma: (T, N, 2) float64, one standard deviation of each coordinate.
        radii: (T, N) float64, radius or half side, measured in this frame alone.
        radius_sigma: (T, N) float64.
        velocities: (T, N, 2) float64, forward difference (x[t + 1] - x[t]) / frame_time, the last
            one repeated, as the velocity error is defined.
        smooth_velocities: (T, N, 2) float64, slope over the five-frame window with the smoothest
            motion, so that a collision is not averaged out.
        colors: (T, N, 3) uint8, RGB.
        shapes: (T, N) uint8, values of `Shape`.
        states: (T, N) uint8, values of `State`.
        sizes: (N,) float64, the radius of the body over the whole video.
        body_colors: (N, 3) uint8, the color it began with.
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
    colors: NDArray[np.uint8]
    shapes: NDArray[np.uint8]
    states: NDArray[np.uint8]
    sizes: Doubles
    body_colors: NDArray[np.uint8]
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
        """(T, N) where position and size are measured in this frame."""
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
        """(T, N) where the position is known well: the body is whole, or enough of it is visible."""
        cut = self.states == _PARTLY_OUTSIDE
        if not cut.any():
            return self.whole
        return self.whole | (cut & (self.position_sigma.max(axis=-1) <= PLACED))

    @property
    def masses(self) -> Doubles:
        """(N,) r², as in the released evaluator."""
        return self.sizes**2

    def take(self, bodies: NDArray[np.integer]) -> Tracks:
        """Return a selection of the bodies, in the given order."""
        return Tracks(
            self.positions[:, bodies],
            self.position_sigma[:, bodies],
            self.radii[:, bodies],
            self.radius_sigma[:, bodies],
            self.velocities[:, bodies],
            self.smooth_velocities[:, bodies],
            self.colors[:, bodies],
            self.shapes[:, bodies],
            self.states[:, bodies],
            self.sizes[bodies],
            self.body_colors[bodies],
            self.body_shapes[bodies],
            self.pixel,
            self.frame_time,
        )


@dataclass(frozen=True, slots=True)
class Prior:
    """The bodies that are expected in a video, and where they start.

    The first tracks of a video parsed with a prior are the expected bodies, in order; others follow. An
    expected body that never appears is LOST from the first frame on.

    Attributes:
        positions: (N, 2) float64, centers in the first frame.
        sizes: (N,) float64, radius or half side.
        colors: (N, 3) uint8, RGB.
        shapes: (N,) uint8, values of `Shape`.
    """

    positions: Doubles
    sizes: Doubles
    colors: NDArray[np.uint8]
    shapes: NDArray[np.uint8]

    def __post_init__(self) -> None:
        count = len(self.sizes)
        wanted = {
            "positions": (count, 2),
            "sizes": (count,),
            "colors": (count, 3),
            "shapes": (count,),
        }
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise InputError(f"{name} of shape {getattr(self, name).shape}, expected {shape}")
        if not (np.isfinite(self.positions).all() and np.isfinite(self.sizes).all()):
            raise InputError("a prior needs finite positions and sizes")


def prior_of(known: Motion | Tracks) -> Prior:
    """Return the prior given by a motion, or by the tracks of the first frames."""
    if isinstance(known, Motion):
        return Prior(known.positions[0], known.sizes, known.colors, known.shapes)
    return Prior(known.positions[0], known.sizes, known.body_colors, known.body_shapes)
