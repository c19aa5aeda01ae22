"""`parse`: track the bodies of a video.

The steps: find the pixels that are not background and the patches of one color (`blobs`), fit their
outlines (`outlines`, `fit`), assign them to bodies from frame to frame and refine positions with the
known size (`association`, `squares`), and determine the state of each body (`states`). Takes about a
millisecond for 32 frames of 128 pixels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.tracking.association import follow, refine, settle_sizes
from sightline.physics.tracking.blobs import (
    AREA,
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    find_blobs,
    find_colors,
    find_ink,
    mixes,
    words_of,
)
from sightline.physics.tracking.fit import HALF, edge_profile, scratch
from sightline.physics.tracking.outlines import first_places, fit_clean, sharpness
from sightline.physics.tracking.squares import settle_squares
from sightline.physics.tracking.states import difference, judge, slopes
from sightline.physics.tracking.tracks import Prior, Tracks
from sightline.physics.types import FRAME_TIME, WORLD_SIDE, Doubles, Frames

#: Radius of the smallest body that is tracked, in world units.
SMALLEST_RADIUS = 0.15
_LEAST_PIXELS = 5
_SHARP_MISFIT = 0.2  # px; sharp outlines fit ten times better
_NEAR_COLOR = 150.0  # levels; largest distance of an expected color to one of the video


def parse(frames: Frames, *, frame_time: float = FRAME_TIME, prior: Prior | None = None) -> Tracks:
    """Track the bodies of a video.

    Bodies are balls, squares and rings of any color on white, at most 16. Their number need not be
    known; a
    prior fixes their order and which ones are expected.

    Args:
        frames: (T, H, W, 3) uint8 RGB, row 0 at the top. World x of column c is 10 · c / (W - 1).
        frame_time: seconds between frames.
        prior: expected bodies; None: bodies are numbered as they appear, large ones first.

    Returns:
        Tracks in world units, y up. No bodies (N = 0) for a blank video.
    """
    _check(frames, frame_time)
    frames = np.ascontiguousarray(frames)
    count, height, width = frames.shape[:3]
    data = frames.reshape(-1)
    room = np.empty(count * height * width, np.int32)
    ink = room[: find_ink(data, words_of(data), room)]
    colors = find_colors(data, ink, height, width)
    unit = WORLD_SIDE / max(width - 1, 1)
    least = max(_LEAST_PIXELS, np.pi * (SMALLEST_RADIUS * HALF / unit) ** 2)
    table, number = find_blobs(data, ink, colors, (count, height, width), least)
    _drop_backdrop(table, number, height, width)
    blobs = first_places(table, number, height, width)
    mix = mixes(colors)
    near = scratch(height, width)
    blur, noise, sharp = sharpness(frames, mix, blobs, near)
    edge = edge_profile(blur, noise, sharp)
    misfit = fit_clean(frames, mix, edge, blobs, near)
    if sharp and misfit > _SHARP_MISFIT:  # the edges only looked as sharp as drawn
        edge = edge_profile(blur, noise, False)
        fit_clean(frames, mix, edge, blobs, near)
    known, known_shapes = _expected(prior, colors, unit, height)
    assignment = follow(blobs, known, float(width))
    sizes = settle_sizes(assignment, blobs, known, known_shapes)
    places = refine(frames, mix, edge, blobs, assignment, sizes, near)
    settle_squares(frames, mix, edge, blobs, assignment, sizes, places)
    bodies, chosen = assignment.bodies, assignment.chosen
    body_colors = _first_colors(bodies, chosen, table, colors, prior)
    starts = _starts(bodies, known)
    found = judge(places, blobs, assignment, sizes, colors, body_colors, starts, (height, width))
    return Tracks(
        found.positions,
        found.position_sigma,
        found.radii,
        found.radius_sigma,
        difference(found.positions, frame_time),
        slopes(found.positions, chosen[:, :bodies] >= 0, frame_time),
        found.colors,
        found.shapes,
        found.states,
        _known_or_middle(sizes.radii * unit, found.radii),
        body_colors,
        sizes.shapes,
        unit,
        frame_time,
    )


def _check(frames: Frames, frame_time: float) -> None:
    """Refuse arrays that are not videos."""
    if not isinstance(frames, np.ndarray) or frames.dtype != np.uint8:
        kind = getattr(frames, "dtype", type(frames).__name__)
        raise InputError(f"frames are {kind}", remedy="give an array of uint8, 0 to 255")
    if frames.ndim != 4 or frames.shape[3] != 3:
        raise InputError(f"frames of shape {frames.shape}, expected (T, H, W, 3) RGB")
    if 0 in frames.shape:
        raise InputError(f"frames of shape {frames.shape}: there is nothing to see")
    if not (np.isfinite(frame_time) and frame_time > 0):
        raise InputError(f"the time between frames must be positive, got {frame_time}")


def _drop_backdrop(
    table: NDArray[np.int64], number: NDArray[np.int64], height: int, width: int
) -> None:
    """Forget blobs that fill most of the picture from border to border: a backdrop, no body."""
    fills = (
        (table[:, 0, AREA] > height * width // 2)
        & (table[:, 0, LEFT] == 0)
        & (table[:, 0, TOP] == 0)
        & (table[:, 0, RIGHT] == width - 1)
        & (table[:, 0, BOTTOM] == height - 1)
    )
    if fills.any():
        table[fills] = np.roll(table[fills], -1, axis=1)
        number[fills] -= 1


def _expected(
    prior: Prior | None, colors: Doubles, unit: float, height: int
) -> tuple[Doubles, NDArray[np.uint8]]:
    """Return a prior as `follow` takes it, (P, 4) in [px] and numbers of colors, and its shapes."""
    if prior is None:
        return np.empty((0, 4)), np.empty(0, np.uint8)
    known = np.empty((len(prior.sizes), 4))
    known[:, 0] = prior.positions[:, 0] / unit
    known[:, 1] = height - 1 - prior.positions[:, 1] / unit
    known[:, 2] = prior.sizes / unit
    known[:, 3] = -1
    if len(colors):
        away = np.linalg.norm(prior.colors[:, None].astype(np.float64) - colors, axis=2)
        nearest = away.argmin(axis=1)
        close = away[np.arange(len(known)), nearest] < _NEAR_COLOR
        known[:, 3] = np.where(close, nearest, len(colors))
    return known, np.ascontiguousarray(prior.shapes, np.uint8)


def _first_colors(
    bodies: int,
    chosen: NDArray[np.int64],
    table: NDArray[np.int64],
    colors: Doubles,
    prior: Prior | None,
) -> NDArray[np.uint8]:
    """Return the (N, 3) color each body began with: the prior's, or that of its first blob."""
    hues = np.zeros((bodies, 3), np.uint8)
    for body in range(bodies):
        if prior is not None and body < len(prior.sizes):
            hues[body] = prior.colors[body]
            continue
        first = int((chosen[:, body] >= 0).argmax())
        hues[body] = np.rint(colors[table[first, chosen[first, body], 0]])
    return hues


def _starts(bodies: int, known: Doubles) -> Doubles:
    """Return (N, 3) where a body is held that is never seen."""
    starts = np.zeros((bodies, 3))
    expected = min(len(known), bodies)
    starts[:expected] = known[:expected, :3]
    return starts


def _known_or_middle(sizes: Doubles, radii: Doubles) -> Doubles:
    """Return the (N,) sizes, and for bodies that were never whole the median of their radii."""
    for body in np.flatnonzero(sizes == 0):
        sizes[body] = np.median(radii[:, body])
    return sizes
