"""Focal length from vanishing points of straight lines, for Manhattan scenes.

Rooms and houses have three orthogonal directions. For a wrong focal length, no rotation of the camera
explains all their edges. So for each of a range of focal lengths the best rotation is found, and its
likelihood relative to chance is computed. The likelihoods give the estimate and its error, or none if
there is no single narrow peak: with one vanishing point, a frontal wall, a forest.

* The camera may be rotated in any way; its principal point is the center of the image, pixels are
square.
* A direction d meets the image at its vanishing point. A segment with midpoint m (from the center, in
  [px]) and unit normal n misses it by an angle whose sine is a·d / ‖f d_xy − d_z m‖ for a focal length
  f, where a = (f n, −n·m) is the normal of the plane through camera and segment.
* Each segment belongs to one of the directions with a normal error, or to none (Coughlan and Yuille,
  "Manhattan World", 1999, for pixels).
* The computation is deterministic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

#: Longer side to which images are shrunk; shorter side below which nothing is detected, in [px].
LONG_SIDE, LEAST_SIDE = 640, 16
#: Shortest segment, as a share of the longer side and in [px]; largest number of segments.
SHORTEST, SHORTEST_PX, MOST = 0.03, 8.0, 300
#: Segments this close to the border and along it belong to a frame, in [px].
BORDER = 2.5
#: Error of the ends of a segment in [px], and of edges that are not quite straight or square in [rad].
END_ERROR, EDGE_ERROR = 0.35, 0.003
#: Kernel width of the density of directions in [rad]; share of uniformly distributed directions.
SPREAD, ANYHOW = 0.15, 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Segments of an image, the longest first.

    Attributes:
        middle: (N, 2) midpoints as (x, y) from the center of the image, in [px].
        normal: (N, 2) unit normals as (x, y).
        length: (N,) in [px].
        sigma: (N,) standard deviation of the direction in the image, in [rad].
        usual: (N,) density of similar directions in this image, per [rad].
        size: (width, height) of the shrunk image in [px].
        shrink: scale of the shrunk image.
    """

    middle: Floats
    normal: Floats
    length: Floats
    sigma: Floats
    usual: Floats
    size: tuple[int, int]
    shrink: float

    def __len__(self) -> int:
        return len(self.length)

    def planes(self, focal: Floats) -> Floats:
        """Return (F, N, 3) normals, of any length, of the planes through camera and segments."""
        across = focal[:, None, None] * self.normal
        along = -(self.normal * self.middle).sum(1)
        return np.concatenate([across, np.broadcast_to(along, across.shape[:2])[..., None]], 2)

    def miss(self, focal: Floats, directions: Floats) -> tuple[Floats, Floats]:
        """Return by how much each segment misses the vanishing point of each direction.

        Args:
            focal: (F,) in [px].
            directions: (F, K, 3) in the camera frame.

        Returns:
            (F, K, N) signed sines of the angles; and (F, K, N) their denominators ‖f d_xy − d_z m‖.
        """
        point = directions[..., :2] * focal[:, None, None]
        depth = directions[..., 2:]
        x = point[..., :1] - depth * self.middle[:, 0]
        y = point[..., 1:] - depth * self.middle[:, 1]
        across = x * self.normal[:, 0] + y * self.normal[:, 1]
        # At its vanishing point, a segment may have any direction.
        reach = np.maximum(np.sqrt(x * x + y * y), np.float32(1e-3) * focal[:, None, None])
        return across / reach, reach


def find_segments(pixels: NDArray[np.uint8]) -> Segments | None:
    """Detect the straight edges of an image.

    Args:
        pixels: (H, W, 3) uint8 sRGB or (H, W) gray.

    Returns:
        None if there are none.
    """
    height, width = pixels.shape[:2]
    shrink = min(1.0, LONG_SIDE / max(height, width, 1))
    size = (round(width * shrink), round(height * shrink))
    if min(size) < LEAST_SIDE:
        return None
    small = pixels
    if shrink < 1:
        small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    small = np.ascontiguousarray(small)
    gray = small if small.ndim == 2 else cv2.cvtColor(small, cv2.COLOR_RGB2GRAY)
    found = cv2.createLineSegmentDetector().detect(gray)[0]
    if found is None:
        return None
    ends = np.asarray(found, np.float64).reshape(-1, 2, 2)
    return _longest(ends[~_on_border(ends, size)], size, shrink)


def _on_border(ends: Doubles, size: tuple[int, int]) -> NDArray[np.bool_]:
    """Return (N,) True for (N, 2, 2) segments along the border of the image."""
    near = (ends < BORDER) | (ends > np.array(size) - 1 - BORDER)
    flat = np.abs(ends[:, 0] - ends[:, 1]) < BORDER
    return np.asarray((near.all(1) & flat).any(1))


def _longest(ends: Doubles, size: tuple[int, int], shrink: float) -> Segments | None:
    """Keep the longest of the segments with these (N, 2, 2) ends."""
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    order = np.argsort(-length, kind="stable")[:MOST]
    order = order[length[order] >= max(SHORTEST * max(size), SHORTEST_PX)]
    if len(order) == 0:
        return None
    ends, length = ends[order], length[order]
    along = (ends[:, 1] - ends[:, 0]) / length[:, None]
    return Segments(
        middle=(ends.mean(1) - (np.array(size) - 1) / 2).astype(np.float32),
        normal=np.stack([-along[:, 1], along[:, 0]], 1).astype(np.float32),
        length=length.astype(np.float32),
        sigma=np.hypot(2 * END_ERROR / length, EDGE_ERROR).astype(np.float32),
        usual=_usual(along, length),
        size=size,
        shrink=shrink,
    )


def _usual(along: Doubles, length: Doubles) -> Floats:
    """Return the (N,) length-weighted density of directions near each segment's own, per [rad].

    Grain on the ground, leaves and ripples are horizontal in an image because of foreshortening. That
    many of them point at some place on the horizon is no evidence of a direction in space; segments
    are, if they agree more closely than by chance.
    """
    sine = along[:, :1] * along[:, 1] - along[:, 1:] * along[:, 0]
    kernel = np.exp(-0.5 * (sine / SPREAD) ** 2)
    np.fill_diagonal(kernel, 0)
    dense = kernel @ length / length.sum() / (SPREAD * np.sqrt(2 * np.pi))
    return np.asarray(ANYHOW / np.pi + (1 - ANYHOW) * dense, np.float32)


#: Range of the field of view along the longer side in [degrees]; number of focal lengths.
NARROW, WIDE, STEPS = 25.0, 110.0, 96
#: Number of segments whose intersections are candidate vanishing points; number of candidates, their
#: smallest separation in [degrees], and the factor on a segment's error for voting.
PEERS, POINTS, APART, LOOSE = 60, 10, 4.0, 2.0
#: Bins of the rotation about a vanishing point, over 90 degrees; number of peaks used.
BINS, TURNS = 60, 2
#: Starts refined for each focal length; refinement iterations, and those for a neighbor's rotation.
STARTS, ROUNDS, MORE = 2, 5, 3
#: Prior share of the segments along one of the three directions.
SQUARE = 0.5
#: Number of segments that count as one, because edges come in pairs and patterns. From rendered
#: rooms and streets.
ALIKE = 1.25
#: Smallest error of ln(focal).
FLOOR = 0.01
#: Conditions of an estimate: number of segments, log-likelihood gain for each, largest error, and
#: number of segments of the second direction.
LEAST_LINES, LEAST_GAIN, GREATEST_SIGMA, LEAST_OF_TWO = 12, 0.65, 0.085, 5


@dataclass(frozen=True, slots=True)
class FocalEstimate:
    """Focal length estimated from an image.

    Attributes:
        focal: in [px].
        sigma: standard deviation of its logarithm, for a lens without distortion. Barrel distortion (k1
            of −0.03 to −0.1) adds about 0.02 to 0.04.
        reason: what it is based on, in one line.
    """

    focal: float
    sigma: float
    reason: str


def focal_from_lines(pixels: NDArray[np.uint8]) -> FocalEstimate | None:
    """Estimate the focal length of an image from orthogonal lines.

    Args:
        pixels: (H, W, 3) uint8 sRGB or (H, W) gray; shrunk to 640 px if larger.

    Returns:
        None without two reliable finite orthogonal vanishing points.
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
    if sigma < 2 * step:  # refine: the peak is narrower than the grid
        fine = (row[best] * np.exp(np.linspace(-4, 4, 65) * step)).astype(np.float32)
        near = _refine(lines, fine, np.repeat(turns[best : best + 1], len(fine), 0), ROUNDS)
        middle, narrow = _moments(fine, _explain(lines, fine, near)[0])
        sigma = narrow if sigma < step else max(narrow, sigma)
    shares = _explain(lines, row[best : best + 1], turns[best : best + 1])[1][0]
    counts = sorted((int((own > 0.5).sum()) for own in shares), reverse=True)
    if counts[1] < LEAST_OF_TWO:
        return None
    return FocalEstimate(
        math.exp(middle) / lines.shrink, math.hypot(sigma, FLOOR), _reason(counts, len(lines))
    )


def _reason(counts: list[int], total: int) -> str:
    """Describe the number of lines of each direction, the largest first."""
    if counts[2] < LEAST_OF_TWO:
        return f"two vanishing points of {counts[0]} and {counts[1]} of {total} lines"
    return f"three vanishing points of {counts[0]}, {counts[1]} and {counts[2]} of {total} lines"


def _moments(focal: Floats, gains: Floats) -> tuple[float, float]:
    """Return mean and standard deviation of ln(focal) over a grid of even steps."""
    weight = np.exp((gains - gains.max()).astype(np.float64) / ALIKE)
    weight /= weight.sum()
    place = np.log(focal.astype(np.float64))
    middle = float(weight @ place)
    return middle, math.sqrt(float(weight @ (place - middle) ** 2))


def _shares(lines: Segments, off: Floats) -> tuple[Floats, Floats]:
    """Return (F, N) likelihood ratios for (F, 3, N) misses, and (F, 3, N) responsibilities."""
    peak = SQUARE / 3 / math.sqrt(2 * math.pi) / (lines.sigma * lines.usual)
    like = peak * np.exp(-0.5 * (off / lines.sigma) ** 2)
    total = like.sum(1) + np.float32(1 - SQUARE)
    return total, like / total[:, None]


def _explain(lines: Segments, focal: Floats, turns: Floats) -> tuple[Floats, Floats]:
    """Evaluate camera rotations.

    Args:
        lines: N segments.
        focal: (F,) in [px].
        turns: (F, 3, 3) rows are the three directions in the camera frame.

    Returns:
        (F,) log-likelihood ratios to chance; (F, 3, N) responsibilities of the directions.
    """
    total, shares = _shares(lines, lines.miss(focal, turns)[0])
    return np.log(total).sum(1), shares


def _best_turns(lines: Segments, focal: Floats) -> Floats:
    """Return the (F, 3, 3) best rotation for each of (F,) focal lengths."""
    starts = _starts(lines, focal)
    scores = np.array([_explain(lines, focal, start)[0] for start in starts])
    every = np.arange(len(focal))
    best, gains = starts[0], np.full(len(focal), -np.inf, np.float32)
    for place in np.argsort(-scores, 0, kind="stable")[:STARTS]:
        best, gains = _better(lines, focal, (best, gains), starts[place, every], ROUNDS)
    # Propagate good rotations to neighboring focal lengths, near and far.
    for shift in (1, -1, 4, -4, 16, -16):
        lent = best[np.clip(every - shift, 0, len(focal) - 1)]
        best, gains = _better(lines, focal, (best, gains), lent, MORE)
    return best


def _better(
    lines: Segments, focal: Floats, so_far: tuple[Floats, Floats], turns: Floats, rounds: int
) -> tuple[Floats, Floats]:
    """Refine rotations, and keep them where they gain more than the best so far."""
    turns = _refine(lines, focal, turns, rounds)
    found, _ = _explain(lines, focal, turns)
    better = found > so_far[1]
    return np.where(better[:, None, None], turns, so_far[0]), np.where(better, found, so_far[1])


def _starts(lines: Segments, focal: Floats) -> Floats:
    """Return (S, F, 3, 3) rotations with one direction at a candidate vanishing point.

    The second direction is orthogonal to the first; segments vote for its angle.
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
    """Return (P, F, 3) candidate directions that many segments point at, the best first."""
    one = focal[len(focal) // 2, None]
    planes = lines.planes(one)[0]
    first, second = np.triu_indices(min(PEERS, len(lines)), 1)
    points = _unit(np.cross(planes[first], planes[second]))
    points = points[np.linalg.norm(points, axis=1) > 0.5]
    off = lines.miss(one, points[None])[0][0] / (LOOSE * lines.sigma)
    score = np.exp(-0.5 * off**2) @ lines.length
    kept = [np.array([0, 0, 1], np.float32)]  # a street or a frontal wall
    while len(kept) <= POINTS and score.max(initial=0) > 0:
        kept.append(points[score.argmax()])
        score = np.where(np.abs(points @ kept[-1]) > math.cos(math.radians(APART)), 0, score)
    # The same image points, for other focal lengths.
    directions = np.repeat(np.array(kept)[:, None], len(focal), 1)
    directions[..., 2] *= focal / one
    return _unit(directions)


def _refine(lines: Segments, focal: Floats, turns: Floats, rounds: int) -> Floats:
    """Refine (F, 3, 3) rotations by least squares, weighted by the responsibilities."""
    planes = lines.planes(focal)[:, None]
    for _ in range(rounds):
        off, reach = lines.miss(focal, turns)
        weight = (_shares(lines, off)[1] / lines.sigma**2).reshape(len(focal), -1, 1)
        # Small rotation δ: d becomes d + δ × d, and a·(δ × d) = δ·(d × a).
        slope = (np.cross(turns[:, :, None], planes) / reach[..., None]).reshape(len(focal), -1, 3)
        pull = (slope * weight).transpose(0, 2, 1)
        normal = pull @ slope + np.eye(3, dtype=np.float32)
        step = -np.linalg.solve(normal, pull @ off.reshape(len(focal), -1, 1))[..., 0]
        size = np.linalg.norm(step, axis=1, keepdims=True)
        step *= np.minimum(
            1, 0.1 / np.maximum(size, 1e-9)
        )  # at most 0.1 rad, so that segments stay assigned
        turned = turns + np.cross(step[:, None], turns)
        first = _unit(turned[:, 0])
        along = (turned[:, 1] * first).sum(1, keepdims=True)
        second = _unit(turned[:, 1] - along * first)
        turns = np.stack([first, second, np.cross(first, second)], 1)
    return turns


def _unit(vectors: Floats) -> Floats:
    """Normalize (…, 3) vectors; zero vectors stay zero."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(size, 1e-6), np.float32)
