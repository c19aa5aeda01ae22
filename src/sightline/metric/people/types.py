"""Types of detected people, and the protocol of people detectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.types import BoolArray, Camera

#: Landmarks of BlazePose, in the order of its networks.
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
class BodyMesh:
    """Surface in meters in the camera frame: x right, y down, z forward.

    Attributes:
        vertices: (V, 3) float64 in [m].
        faces: (F, 3) int32.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Person:
    """Person in an image.

    Attributes:
        box: (4,) float64, left, top, right and bottom of the visible part, in [px].
        mask: (H, W) bool, pixels that show this person.
        confidence: probability that this is a person, 0 to 1.
        landmarks: (33, 2) float64 in [px], in the order of `LANDMARKS`; may lie outside the image.
        visibility: (33,) float64, 0 (hidden or outside) to 1.
        world: (33, 3) float64 in [m] relative to the center of the hips, in the camera's axes: the
            pose, not the position.
        mesh: surface from another tool, else None; with a mesh, the landmarks may be NaN with
            visibility 0.
        outlined: True if the mask is only the outline of the mesh, so that occlusion is unknown.
    """

    box: NDArray[np.float64]
    mask: BoolArray
    confidence: float
    landmarks: NDArray[np.float64]
    visibility: NDArray[np.float64]
    world: NDArray[np.float64]
    mesh: BodyMesh | None = None
    outlined: bool = False


def check_camera(pixels: NDArray[np.uint8], camera: Camera) -> None:
    """Raise InputError if the camera has another size than the (H, W, 3) image."""
    height, width = pixels.shape[:2]
    if (camera.height, camera.width) != (height, width):
        raise InputError(
            f"the camera is of {camera.width}×{camera.height} px, "
            f"the picture of {width}×{height} px"
        )


class PeopleFinder(Protocol):
    """Detector of people in an image."""

    #: Name and version of the detector, for records.
    source: str

    def find(self, pixels: NDArray[np.uint8], camera: Camera) -> list[Person]:
        """Return the people of an (H, W, 3) uint8 sRGB image, the most confident first."""
        ...
