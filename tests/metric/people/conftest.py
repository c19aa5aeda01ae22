"""People in the form of outputs of the networks, and the networks where they have been fetched."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sightline.metric.people.crops import Crop
from sightline.metric.people.pose_landmarks import COUNT, Pose
from sightline.metric.people.types import LANDMARKS
from sightline.models import registry
from sightline.models.download import locate

#: A standing person of 1.6 m about the middle of the hips: x right, y down, z away, in [m].
STANDING = {
    "nose": (0.0, -0.6, -0.1),
    "shoulder": (0.18, -0.45, 0.0),
    "elbow": (0.22, -0.2, 0.0),
    "wrist": (0.22, 0.02, -0.05),
    "hip": (0.1, 0.0, 0.0),
    "knee": (0.1, 0.42, 0.0),
    "ankle": (0.1, 0.82, 0.0),
    "heel": (0.1, 0.86, 0.04),
    "toe": (0.12, 0.88, -0.12),
}


def standing() -> np.ndarray:
    """(33, 3) in [m]; the person faces us, so its left is on the right."""
    rows = []
    for name in LANDMARKS:
        part, _, side = name.partition(".")
        x, y, z = STANDING.get(part, STANDING["wrist" if part in HAND else "nose"])
        rows.append((x if side == "L" else -x, y, z))
    return np.array(rows)


HAND = ("pinky", "index", "thumb")


@pytest.fixture
def make_pose() -> Callable[..., Pose]:
    """A standing person at (x, y) of `height` px, whose mask is a disc of half the crop's side."""

    def make(x: float = 100.0, y: float = 100.0, height: float = 100.0, shift: float = 0.0) -> Pose:
        world = standing()
        scale = height / 1.6
        landmarks = world[:, :2] * scale + (x + shift, y)
        reach = 0.9 * scale
        crop = Crop(x + shift, y, 2.5 * reach)
        v, u = np.mgrid[0:256, 0:256] - 127.5
        logits = np.where(np.hypot(u, v) < 64, 5.0, -5.0).astype(np.float32)
        circle = np.array([(x + shift, y), (x + shift, y - reach)])
        return Pose(crop, 0.9, landmarks, np.ones(COUNT), world, logits, circle)

    return make


def fetched(*names: str) -> None:
    """Skip where one of these models is not on this machine."""
    missing = [name for name in names if locate(registry.get(name)) is None]
    if missing:
        pytest.skip(f"not on this machine: sightline models get {' '.join(missing)}")


@pytest.fixture(scope="session")
def finder():
    """The real finder with its best network."""
    fetched("pose-detection", "pose-full", "pose-heavy")
    from sightline.metric.people.blazepose import BlazePoseFinder

    return BlazePoseFinder("pose-heavy", threads=1)


@pytest.fixture(scope="session")
def iris_finder():
    """The real measurer of irises."""
    fetched("face-detection", "face-landmarks", "iris-landmarks")
    from sightline.metric.people.iris import IrisFinder

    return IrisFinder(threads=1)
