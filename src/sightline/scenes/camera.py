"""Where a camera stands and what its lens takes in: from a `View` to a `Camera` and its pose."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.scenes.shapes import Vector
from sightline.scenes.world import View
from sightline.types import Camera


def look_at(eye: Vector, target: Vector, roll: float = 0.0) -> NDArray[np.float64]:
    """Point a camera at something.

    Args:
        eye: (3,) place of the camera, [m].
        target: (3,) what comes to lie in the middle of the picture, [m].
        roll: tilt about the optical axis in [degrees]; the camera is upright at 0. Looking straight up
            or down, x of the picture is x of the world.

    Returns:
        (4, 4) camera-to-world pose.
    """
    forward = np.asarray(target, np.float64) - np.asarray(eye, np.float64)
    distance = float(np.linalg.norm(forward))
    if not distance > 0:
        raise InputError("a camera cannot look at its own place")
    forward /= distance
    right = np.cross([0.0, 1.0, 0.0], forward)
    length = float(np.linalg.norm(right))
    right = right / length if length > 1e-9 else np.array([1.0, 0.0, 0.0])
    down = np.cross(forward, right)
    turn = np.radians(roll)
    pose = np.eye(4)
    pose[:3, 0] = np.cos(turn) * right + np.sin(turn) * down
    pose[:3, 1] = np.cos(turn) * down - np.sin(turn) * right
    pose[:3, 2] = forward
    pose[:3, 3] = np.asarray(eye, np.float64)
    return pose


def place(view: View, width: int, height: int) -> tuple[Camera, NDArray[np.float64]]:
    """Give a view a picture size.

    `View.fov` is the horizontal field of view at 4:3. Other aspects keep the angle across the diagonal,
    as one lens does over sensors cut differently; so an upright picture is not a narrow one.

    Args:
        view: where the camera stands and looks.
        width: of the picture, [px].
        height: of the picture, [px].

    Returns:
        The camera, and its (4, 4) camera-to-world pose.
    """
    half_diagonal = 1.25 * math.tan(math.radians(view.fov) / 2)
    focal = math.hypot(width, height) / 2 / half_diagonal
    return Camera.from_focal(focal, width, height), look_at(view.eye, view.target, view.roll)
