"""Which frames of a video are wrong, and in what: a phrase for each body, for film strips."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sightline.physics.laws import LAWS, Violation
from sightline.physics.parse import State, Tracks
from sightline.physics.score.words import ERROR_LAWS, law_title
from sightline.physics.types import WORLD_SIDE, Doubles, Motion, Shape

#: A body further than this from its true place is wrong, in world units: the tolerance of the law.
OFF = next(law.tolerance for law in LAWS if law.name == "position")

# Of bodies that are there.
_STATES = {
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


def wrong_frames(
    motion: Motion, tracks: Tracks, count: int, violations: Sequence[Violation] = ()
) -> dict[int, tuple[str, ...]]:
    """Return what is wrong in each frame that is: a phrase per body, then the laws violated there.

    Every body is judged that the truth or the video shows by more than `OFF`. One that the border cuts
    in both may be off by its radius: what is left of it says no more.

    Args:
        motion: what should happen.
        tracks: of the video, the true bodies first.
        count: frames to look at.
        violations: of the laws; each marks the frame where it is worst or begins.
    """
    names = [_colour(rgb) for rgb in motion.colours]
    found: dict[int, tuple[str, ...]] = {}
    shown = _depth(motion.positions, motion.sizes)
    bodies = min(len(names), tracks.bodies)
    for frame in range(count):
        told = {
            body: _phrase(motion, tracks, frame, body, float(shown[frame, body]))
            for body in range(bodies)
        }
        phrases = [f"{names[body]} {what}" for body, what in told.items() if what]
        extra = tracks.states[frame, len(names) :]
        if ((extra == State.SEEN) | (extra > State.MERGED)).any():
            phrases.append("a body too many")
        named = [body for body, what in told.items() if what]
        phrases += _broken(violations, frame, named, names)
        if phrases:
            found[frame] = tuple(phrases)
    return found


def _phrase(motion: Motion, tracks: Tracks, frame: int, body: int, shown: float) -> str:
    """Say what is wrong with a body in a frame; nothing if it is right.

    Args:
        motion: what should happen.
        tracks: of the video.
        frame: its number.
        body: its number.
        shown: how far the body truly reaches into the picture, in world units.
    """
    state = State(int(tracks.states[frame, body]))
    size = float(motion.sizes[body])
    if state in (State.LOST, State.OUTSIDE):
        return "gone" if shown > OFF else ""
    if state == State.MERGED:
        return "hidden" if shown > OFF and _apart(motion, frame, body) else ""
    if state in _STATES and shown > OFF:
        return _STATES[state]
    place = tracks.positions[frame, body]
    if shown <= 0:
        seen = float(_depth(place[None, None], motion.sizes[body : body + 1])[0, 0])
        return "still there" if seen > OFF else ""
    off = float(np.linalg.norm(place - motion.positions[frame, body]))
    cut = state == State.PARTLY_OUTSIDE and shown < 2 * size
    return f"off by {off:.1f}" if off > (max(OFF, size) if cut else OFF) else ""


def _broken(
    violations: Sequence[Violation], frame: int, told: Sequence[int], names: Sequence[str]
) -> list[str]:
    """Name the laws violated at a frame, but not of bodies of which a phrase is told already."""
    here = [one for one in violations if one.frame == frame and one.law not in ERROR_LAWS]
    return list(
        dict.fromkeys(
            f"{names[one.body]}: {law_title(one.law)}"
            if 0 <= one.body < len(names)
            else law_title(one.law)
            for one in here
            if one.body not in told
        )
    )


def _depth(positions: Doubles, sizes: Doubles) -> Doubles:
    """Return (T, N) how far bodies reach into the picture, up to their diameter; not at all: 0 or less.

    Args:
        positions: (T, N, 2) centres.
        sizes: (N,) radii or half sides.
    """
    inward = np.minimum(positions, WORLD_SIDE - positions)
    outside = np.linalg.norm(np.minimum(inward, 0), axis=2)  # over a corner, too
    reach = np.where(outside > 0, -outside, inward.min(axis=2)) + sizes
    return np.asarray(np.minimum(reach, 2 * sizes))


def _apart(motion: Motion, frame: int, body: int) -> bool:
    """Whether a body is truly further than `OFF` from all others: nothing can hide it."""
    away = np.linalg.norm(motion.positions[frame] - motion.positions[frame, body], axis=1)
    gaps = away - motion.sizes - motion.sizes[body]
    return bool((np.delete(gaps, body) > OFF).all())


def _colour(rgb: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> str:
    """Return the name of the nearest colour."""
    away = {name: np.abs(rgb.astype(int) - one).sum() for name, one in _COLOURS.items()}
    return min(away, key=away.__getitem__)
