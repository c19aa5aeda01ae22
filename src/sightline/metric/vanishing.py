"""The focal length of a photograph from its own lines, where what it shows was built square.

Rooms and houses have three directions square to each other. For a wrong focal length no turn of the
camera explains all their edges at once. So every focal length of a row is tried: the best turn for
it is sought, and how much better than chance it explains the edges is how likely it is. This row of
likelihoods gives the answer with its error, and none where it has no single narrow peak: with one
vanishing point, a wall from the front, a wood.

* The camera may be tilted in any way; its centre is that of the picture, its pixels are square.
* Likelihoods: each segment belongs to one of the directions, with a normal error, or to none
  (Coughlan and Yuille, "Manhattan World", 1999, for pixels). See `lines._usual` for "none".
* Nothing is drawn by chance: the same picture gives the same answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.lines import Floats, Segments, find_segments

#: Field of view along the longer side, from and to, in [degrees]; how many focal lengths are tried.
NARROW, WIDE, STEPS = 25.0, 110.0, 96
#: Longest segments whose crossings may be vanishing points; how many points are kept, how far apart
#: in [degrees], and how much more than its error a segment may miss them by.
PEERS, POINTS, APART, LOOSE = 60, 10, 4.0, 2.0
#: Turns about a vanishing point that are told apart, over 90 degrees; how many are looked at.
BINS, TURNS = 60, 2
#: Starts refined for each focal length; rounds of refining, and of refining a neighbour's turn.
STARTS, ROUNDS, MORE = 2, 5, 3
#: Share of the segments that belong to one of the three directions, before anything is known.
SQUARE = 0.5
#: Edges come in pairs and patterns: so many count as one. From rendered rooms and streets.
ALIKE = 1.25
#: Least error of ln(focal), however many lines agree.
FLOOR = 0.01
#: Trust: least segments, least gain over chance for each, greatest error, and least segments that
#: two of the directions have.
LEAST_LINES, LEAST_GAIN, GREATEST_SIGMA, LEAST_OF_TWO = 12, 0.65, 0.085, 5


@dataclass(frozen=True, slots=True)
class FocalGuess:
    """A focal length that was read off a picture.

    Attributes:
        focal: in [px].
        sigma: standard deviation of its logarithm, for a lens that keeps lines straight. Barrel
            distortion (k1 of −0.03 to −0.1) adds about 0.02 to 0.04.
        reason: what it rests on, in one line.
    """

    focal: float
    sigma: float
    reason: str


def focal_from_lines(pixels: NDArray[np.uint8]) -> FocalGuess | None:
    """Estimate the focal length of a picture from what is square in it.

    Args:
        pixels: (H, W, 3) uint8 sRGB or (H, W) grey; shrunk to 640 px if larger.

    Returns:
        None where the picture has no two finite orthogonal vanishing points that can be trusted.
    """
    lines = find_segments(pixels)
    if lines is None or len(lines) < LEAST_LINES:
        return None
    widest, narrowest = max(lines.size) / 2 / np.tan(np.radians([WIDE, NARROW]) / 2)
    row = np.geomspace(widest, narrowest, STEPS).astype(np.float32)
    turns = _best_turns(lines, row)
    gains, _ = _explain(lines, row, turns)
    best = int(gains.argmax())
    if gains[best] < LEAST_GAIN * len(lines) or best in (0, STEPS - 1):
        return None
    middle, sigma = _moments(row, gains)
    if sigma > GREATEST_SIGMA:
        return None
    step = math.log(row[1] / row[0])
    if sigma < 2 * step:  # the row is too coarse to tell where; how far it spreads, it can tell
        fine = (row[best] * np.exp(np.linspace(-4, 4, 65) * step)).astype(np.float32)
        near = _refine(lines, fine, np.repeat(turns[best : best + 1], len(fine), 0), ROUNDS)
        middle, narrow = _moments(fine, _explain(lines, fine, near)[0])
        sigma = narrow if sigma < step else max(narrow, sigma)
    shares = _explain(lines, row[best : best + 1], turns[best : best + 1])[1][0]
    counts = sorted((int((own > 0.5).sum()) for own in shares), reverse=True)
    if counts[1] < LEAST_OF_TWO:
        return None
    return FocalGuess(
        math.exp(middle) / lines.shrink, math.hypot(sigma, FLOOR), _reason(counts, len(lines))
    )


def _reason(counts: list[int], total: int) -> str:
    """Say how many lines each direction has, the greatest first."""
    if counts[2] < LEAST_OF_TWO:
        return f"two vanishing points of {counts[0]} and {counts[1]} of {total} lines"
    return f"three vanishing points of {counts[0]}, {counts[1]} and {counts[2]} of {total} lines"


def _moments(focal: Floats, gains: Floats) -> tuple[float, float]:
    """Mean and standard deviation of ln(focal) over a row of even steps in it."""
    weight = np.exp((gains - gains.max()).astype(np.float64) / ALIKE)
    weight /= weight.sum()
    place = np.log(focal.astype(np.float64))
    middle = float(weight @ place)
    return middle, math.sqrt(float(weight @ (place - middle) ** 2))


def _shares(lines: Segments, off: Floats) -> tuple[Floats, Floats]:
    """(F, 3, N) misses → (F, N) likelihood over that of chance; (F, 3, N) shares in it."""
    peak = SQUARE / 3 / math.sqrt(2 * math.pi) / (lines.sigma * lines.usual)
    like = peak * np.exp(-0.5 * (off / lines.sigma) ** 2)
    total = like.sum(1) + np.float32(1 - SQUARE)
    return total, like / total[:, None]


def _explain(lines: Segments, focal: Floats, turns: Floats) -> tuple[Floats, Floats]:
    """Tell how well turned cameras explain the segments.

    Args:
        lines: N segments.
        focal: (F,) in [px].
        turns: (F, 3, 3) rows are the three directions in the camera frame.

    Returns:
        (F,) logarithm of the likelihood over that of chance; (F, 3, N) share of each direction in
        each segment.
    """
    total, shares = _shares(lines, lines.miss(focal, turns)[0])
    return np.log(total).sum(1), shares


def _best_turns(lines: Segments, focal: Floats) -> Floats:
    """(F,) focal lengths → (F, 3, 3) the turn that explains most for each."""
    starts = _starts(lines, focal)
    scores = np.array([_explain(lines, focal, start)[0] for start in starts])
    every = np.arange(len(focal))
    best, gains = starts[0], np.full(len(focal), -np.inf, np.float32)
    for place in np.argsort(-scores, 0, kind="stable")[:STARTS]:
        best, gains = _better(lines, focal, (best, gains), starts[place, every], ROUNDS)
    # What is good for one focal length is tried for its neighbours, near and far.
    for shift in (1, -1, 4, -4, 16, -16):
        lent = best[np.clip(every - shift, 0, len(focal) - 1)]
        best, gains = _better(lines, focal, (best, gains), lent, MORE)
    return best


def _better(
    lines: Segments, focal: Floats, so_far: tuple[Floats, Floats], turns: Floats, rounds: int
) -> tuple[Floats, Floats]:
    """Refine turns, and take them where they gain more than those with their gains so far."""
    turns = _refine(lines, focal, turns, rounds)
    found, _ = _explain(lines, focal, turns)
    better = found > so_far[1]
    return np.where(better[:, None, None], turns, so_far[0]), np.where(better, found, so_far[1])


def _starts(lines: Segments, focal: Floats) -> Floats:
    """(F,) focal lengths → (S, F, 3, 3) turns that have one direction at a likely vanishing point.

    The second direction lies square to the first; each segment votes for where.
    """
    planes = _unit(lines.planes(focal))
    every = np.arange(len(focal))[:, None]
    starts = []
    for first in _vanishing_points(lines, focal):
        axis = np.eye(3, dtype=np.float32)[np.abs(first).argmin(1)]
        right = _unit(np.cross(first, axis))
        up = np.cross(first, right)
        along = np.cross(planes, first[:, None])
        angle = np.arctan2((along * up[:, None]).sum(2), (along * right[:, None]).sum(2))
        off = lines.miss(focal, first[:, None])[0][:, 0] / (LOOSE * lines.sigma)
        votes = np.zeros((len(focal), BINS))
        bins = np.floor(angle * (BINS / (math.pi / 2))).astype(np.intp) % BINS
        np.add.at(votes, (every, bins), lines.length * (1 - np.exp(-0.5 * off**2)))
        before, after = np.roll(votes, 1, 1), np.roll(votes, -1, 1)
        smooth = votes + 0.6 * (before + after)
        high = (smooth >= np.roll(smooth, 1, 1)) & (smooth >= np.roll(smooth, -1, 1))
        for place in np.argsort(-smooth * high, 1, kind="stable")[:, :TURNS].T:
            turn = ((place + 0.5) * (math.pi / 2 / BINS)).astype(np.float32)[:, None]
            second = np.cos(turn) * right + np.sin(turn) * up
            starts.append(np.stack([first, second, np.cross(first, second)], 1))
    return np.array(starts, np.float32)


def _vanishing_points(lines: Segments, focal: Floats) -> Floats:
    """(F,) focal lengths → (P, F, 3) directions that many segments point at, best first."""
    one = focal[len(focal) // 2, None]
    planes = lines.planes(one)[0]
    first, second = np.triu_indices(min(PEERS, len(lines)), 1)
    points = _unit(np.cross(planes[first], planes[second]))
    points = points[np.linalg.norm(points, axis=1) > 0.5]
    off = lines.miss(one, points[None])[0][0] / (LOOSE * lines.sigma)
    score = np.exp(-0.5 * off**2) @ lines.length
    kept = [np.array([0, 0, 1], np.float32)]  # looking along a street or at a wall
    while len(kept) <= POINTS and score.max(initial=0) > 0:
        kept.append(points[score.argmax()])
        score = np.where(np.abs(points @ kept[-1]) > math.cos(math.radians(APART)), 0, score)
    # The same points of the picture, for other focal lengths.
    directions = np.repeat(np.array(kept)[:, None], len(focal), 1)
    directions[..., 2] *= focal / one
    return _unit(directions)


def _refine(lines: Segments, focal: Floats, turns: Floats, rounds: int) -> Floats:
    """(F, 3, 3) turns → better ones: least squares, weighted by who belongs to what."""
    planes = lines.planes(focal)[:, None]
    for _ in range(rounds):
        off, reach = lines.miss(focal, turns)
        weight = (_shares(lines, off)[1] / lines.sigma**2).reshape(len(focal), -1, 1)
        # d turns to d + δ × d, and a·(δ × d) = δ·(d × a).
        slope = (np.cross(turns[:, :, None], planes) / reach[..., None]).reshape(len(focal), -1, 3)
        pull = (slope * weight).transpose(0, 2, 1)
        normal = pull @ slope + np.eye(3, dtype=np.float32)
        step = -np.linalg.solve(normal, pull @ off.reshape(len(focal), -1, 1))[..., 0]
        size = np.linalg.norm(step, axis=1, keepdims=True)
        step *= np.minimum(1, 0.1 / np.maximum(size, 1e-9))  # [rad]: not out of sight of its edges
        turned = turns + np.cross(step[:, None], turns)
        first = _unit(turned[:, 0])
        along = (turned[:, 1] * first).sum(1, keepdims=True)
        second = _unit(turned[:, 1] - along * first)
        turns = np.stack([first, second, np.cross(first, second)], 1)
    return turns


def _unit(vectors: Floats) -> Floats:
    """Bring vectors (…, 3) to length 1; those without any length stay."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(size, 1e-6), np.float32)
