"""What is known of a person in a picture, and the protocol of whoever finds people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.types import BoolArray, Camera

#: The landmarks of BlazePose, in the order of its networks.
LANDMARKS = (
    "nose",
    *(f"eye_{part}.{side}" for side in "LR" for part in ("inner", "middle", "outer")),
    *(f"ear.{side}" for side in "LR"),
    *(f"mouth.{side}" for side in "LR"),
    *(f"{part}.{side}" for part in ("shoulder", "elbow", "wrist") for side in "LR"),
    *(f"{part}.{side}" for part in ("pinky", "index", "thumb") for side in "LR"),
    *(f"{part}.{side}" for part in ("hip", "knee", "ankle", "heel", "toe") for side in "LR"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """A surface in metres in the camera's frame: x to the right, y down, z forward.

    Attributes:
        vertices: (V, 3) float64 in [m].
        faces: (F, 3) int32.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Person:
    """One person in a picture.

    Attributes:
        box: (4,) float64, left, top, right and bottom of what is seen, in [px].
        mask: (H, W) bool, pixels that show this person.
        confidence: that this is a person, 0 to 1.
        landmarks: (33, 2) float64 in [px], in the order of `LANDMARKS`; may lie outside the picture.
        visibility: (33,) float64, 0 (hidden, or outside) to 1.
        world: (33, 3) float64 in [m] around the middle of the hips, in the camera's axes; how the
            body is bent, not where it is.
        mesh: the person's surface in metres where a tool has given one, else None; then the
            landmarks may be all NaN and of visibility 0.
        outlined: the mask is no more than the mesh's own outline, and does not say what is hidden.
    """

    box: NDArray[np.float64]
    mask: BoolArray
    confidence: float
    landmarks: NDArray[np.float64]
    visibility: NDArray[np.float64]
    world: NDArray[np.float64]
    mesh: Mesh | None = None
    outlined: bool = False


def check_camera(pixels: NDArray[np.uint8], camera: Camera) -> None:
    """Refuse a camera of another size than the (H, W, 3) picture."""
    height, width = pixels.shape[:2]
    if (camera.height, camera.width) != (height, width):
        raise InputError(
            f"the camera is of {camera.width}×{camera.height} px, "
            f"the picture of {width}×{height} px"
        )


class PeopleFinder(Protocol):
    """Finds everybody in a picture."""

    #: Name and version of what finds, for the record.
    source: str

    def find(self, pixels: NDArray[np.uint8], camera: Camera) -> list[Person]:
        """Return the people of an (H, W, 3) sRGB picture, the surest first."""
        ...
