"""`parse`: from the frames of a video to the bodies in it.

One pass over the bytes (`pixels`), patches of one colour (`blobs`), their outlines (`outline`, `fit`),
bodies from frame to frame (`follow`), places with the body's size known (`refine`, `squares`), and
what became of each (`states`). About a millisecond for 32 frames of 128 pixels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.parse.blobs import AREA, BOTTOM, LEFT, RIGHT, TOP, find_blobs
from sightline.physics.parse.edge import HALF, Edge
from sightline.physics.parse.fit import scratch
from sightline.physics.parse.follow import follow
from sightline.physics.parse.motion import difference, slopes
from sightline.physics.parse.outline import first_places, fit_clean
from sightline.physics.parse.pixels import find_colours, find_ink, mixes, words_of
from sightline.physics.parse.refine import refine, settle_sizes
from sightline.physics.parse.sharpness import sharpness
from sightline.physics.parse.squares import settle_squares
from sightline.physics.parse.states import judge
from sightline.physics.parse.tracks import Prior, Tracks
from sightline.physics.types import FRAME_TIME, WORLD_SIDE, Doubles, Frames

#: The smallest body that is looked for, in world units; anything smaller is dirt.
SMALLEST_RADIUS = 0.15
_LEAST_PIXELS = 5
_SHARP_MISFIT = 0.2  # px; outlines that are as drawn fit ten times better
_NEAR_COLOUR = 150.0  # levels; an expected colour is looked for among the video's this far off


def parse(frames: Frames, *, frame_time: float = FRAME_TIME, prior: Prior | None = None) -> Tracks:
    """Find the bodies of a video and measure them in every frame.

    Bodies are balls, squares and rings of any colour on white, at most 16 of them. Nobody has to say
    how many there are; a prior fixes their order, and which should be there.

    Args:
        frames: (T, H, W, 3) uint8 RGB, row 0 at the top. World x of column c is 10 · c / (W - 1).
        frame_time: seconds between frames.
        prior: bodies to expect; without one, bodies are numbered as they appear, large ones first.

    Returns:
        Tracks in world units, y up. No bodies (N = 0) for a blank video.
    """
    _check(frames, frame_time)
    frames = np.ascontiguousarray(frames)
    count, height, width = frames.shape[:3]
    data = frames.reshape(-1)
    room = np.empty(count * height * width, np.int32)
    ink = room[: find_ink(data, words_of(data), room)]
    colours = find_colours(data, ink, height, width)
    unit = WORLD_SIDE / max(width - 1, 1)
    least = max(_LEAST_PIXELS, np.pi * (SMALLEST_RADIUS * HALF / unit) ** 2)
    table, number = find_blobs(data, ink, colours, (count, height, width), least)
    _drop_backdrop(table, number, height, width)
    places, cut, crowded = first_places(table, number, height, width)
    clean = ~(cut | crowded)
    mix = mixes(colours)
    near = scratch(height, width)
    blur, noise, sharp = sharpness(frames, mix, table, number, places, clean, near)
    edge = Edge(blur, noise, sharp).pack()
    shapes, misfit = fit_clean(frames, mix, edge, table, number, places, cut, crowded, near)
    if sharp and misfit > _SHARP_MISFIT:  # it only looked as sharp as drawn
        edge = Edge(blur, noise, False).pack()
        shapes, _ = fit_clean(frames, mix, edge, table, number, places, cut, crowded, near)
    known, known_shapes = _expected(prior, colours, unit, height)
    bodies, chosen, notes = follow(table, number, places, clean, known, float(width))
    sizes, kinds = settle_sizes(bodies, chosen, places, clean, shapes, known, known_shapes)
    blobs = places
    places = refine(
        frames, mix, edge, table, number, blobs, cut, crowded, shapes,
        bodies, chosen, notes, sizes, kinds, near,
    )  # fmt: skip
    settle_squares(
        frames, mix, edge, table, number, blobs, clean, crowded, shapes,
        chosen, notes, sizes, kinds, places,
    )  # fmt: skip
    hues = _first_colours(bodies, chosen, table, colours, prior)
    positions, position_sigma, radii, radius_sigma, colour, shape, states = judge(
        places, table, chosen, notes, shapes, cut, crowded, colours, hues, sizes, kinds,
        _starts(bodies, known), height, width,
    )  # fmt: skip
    measured = chosen[:, :bodies] >= 0
    return Tracks(
        positions,
        position_sigma,
        radii,
        radius_sigma,
        difference(positions, frame_time),
        slopes(positions, measured, frame_time),
        colour,
        shape,
        states,
        _known_or_middle(sizes * unit, radii),
        hues,
        kinds,
        unit,
        frame_time,
    )


def _check(frames: Frames, frame_time: float) -> None:
    """Refuse what is no video."""
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
    prior: Prior | None, colours: Doubles, unit: float, height: int
) -> tuple[Doubles, NDArray[np.uint8]]:
    """Return a prior as `follow` takes it, (P, 4) in [px] and numbers of colours, and its shapes."""
    if prior is None:
        return np.empty((0, 4)), np.empty(0, np.uint8)
    known = np.empty((len(prior.sizes), 4))
    known[:, 0] = prior.positions[:, 0] / unit
    known[:, 1] = height - 1 - prior.positions[:, 1] / unit
    known[:, 2] = prior.sizes / unit
    known[:, 3] = -1
    if len(colours):
        away = np.linalg.norm(prior.colours[:, None].astype(np.float64) - colours, axis=2)
        nearest = away.argmin(axis=1)
        close = away[np.arange(len(known)), nearest] < _NEAR_COLOUR
        known[:, 3] = np.where(close, nearest, len(colours))
    return known, np.ascontiguousarray(prior.shapes, np.uint8)


def _first_colours(
    bodies: int,
    chosen: NDArray[np.int64],
    table: NDArray[np.int64],
    colours: Doubles,
    prior: Prior | None,
) -> NDArray[np.uint8]:
    """Return the (N, 3) colour each body began with: the prior's, or that of its first blob."""
    hues = np.zeros((bodies, 3), np.uint8)
    for body in range(bodies):
        if prior is not None and body < len(prior.sizes):
            hues[body] = prior.colours[body]
            continue
        first = int((chosen[:, body] >= 0).argmax())
        hues[body] = np.rint(colours[table[first, chosen[first, body], 0]])
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
