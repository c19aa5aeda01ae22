"""Which frames of a video are wrong, and in what: a phrase for each body, for film strips."""

from __future__ import annotations

import numpy as np

from sightline.physics.laws import LAWS
from sightline.physics.parse import State, Tracks
from sightline.physics.types import WORLD_SIDE, Motion, Shape

#: A body further than this from its true place is wrong, in world units: the tolerance of the law.
OFF = next(law.tolerance for law in LAWS if law.name == "position")

_STATES = {
    State.LOST: "gone",
    State.SPLIT: "in pieces",
    State.DEFORMED: "misshapen",
    State.RECOLOURED: "recoloured",
}
_COLOURS = {
    "red": (255, 0, 0),
    "blue": (0, 0, 255),
    "green": (0, 160, 0),
    "black": (0, 0, 0),
    "grey": (128, 128, 128),
}


def body_names(motion: Motion) -> list[str]:
    """Name the bodies by colour and shape, such as `red ball`."""
    return [
        f"{_colour(rgb)} {Shape(int(shape)).name.lower()}"
        for rgb, shape in zip(motion.colours, motion.shapes, strict=True)
    ]


def wrong_frames(motion: Motion, tracks: Tracks, count: int) -> dict[int, tuple[str, ...]]:
    """Return what is wrong in each frame that is: a phrase per body.

    A body that is partly outside by the truth and in the video is not judged: nobody sees where it is.

    Args:
        motion: what should happen.
        tracks: of the video, the true bodies first.
        count: frames to look at.
    """
    names = [_colour(rgb) for rgb in motion.colours]
    found: dict[int, tuple[str, ...]] = {}
    inside = _inside(motion)
    bodies = min(len(names), tracks.bodies)
    for frame in range(count):
        phrases = []
        for body in range(bodies):
            what = _phrase(motion, tracks, frame, body, bool(inside[frame, body]))
            if what:
                phrases.append(f"{names[body]} {what}")
        extra = tracks.states[frame, len(names) :]
        if ((extra == State.SEEN) | (extra > State.MERGED)).any():
            phrases.append("a body too many")
        if phrases:
            found[frame] = tuple(phrases)
    return found


def _phrase(motion: Motion, tracks: Tracks, frame: int, body: int, inside: bool) -> str:
    """Say what is wrong with a body in a frame; nothing if it is right."""
    state = State(int(tracks.states[frame, body]))
    if state in _STATES:
        return _STATES[state] if inside or tracks.whole[frame, body] else ""
    if state == State.OUTSIDE:
        return "gone" if inside else ""
    if state == State.MERGED or not (inside or tracks.whole[frame, body]):
        return ""
    if _left(motion, frame, body):
        return "still there"
    off = float(np.linalg.norm(tracks.positions[frame, body] - motion.positions[frame, body]))
    return f"off by {off:.1f}" if off > OFF else ""


def _left(motion: Motion, frame: int, body: int) -> bool:
    """Whether nothing of a body is in the picture any more, by the truth."""
    place, size = motion.positions[frame, body], motion.sizes[body]
    return bool(((place < -size) | (place > WORLD_SIDE + size)).any())


def _inside(motion: Motion) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return (T, N) where a body is wholly in the picture, by the truth."""
    margin = motion.sizes[:, None]
    where = (motion.positions >= margin) & (motion.positions <= WORLD_SIDE - margin)
    return np.asarray(where.all(axis=2))


def _colour(rgb: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> str:
    """Return the name of the nearest colour."""
    away = {name: np.abs(rgb.astype(int) - one).sum() for name, one in _COLOURS.items()}
    return min(away, key=away.__getitem__)
