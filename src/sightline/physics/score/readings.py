"""From the readings of single videos to what a probe is about: shares, errors, slopes and twins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sightline.physics.probes.parts import PIXEL
from sightline.physics.score.sample import SampleScore
from sightline.physics.types import Doubles

#: Bins of margins that right outcomes are counted in.
BINS = 4

#: Title of each figure for a report, its name on a screen, and its unit; `%` for a share of videos.
TITLES: dict[str, tuple[str, str, str]] = {
    "signed_speed": ("generated speed along the true motion", "signed speed", "units/s"),
    "slope": ("slope of generated against true speed", "slope of speed", ""),
    "turned_round": ("the ball turns round", "turned round", "%"),
    "right_outcome": ("right outcome at the gate: passes, or turns back", "right outcome", "%"),
    "passes": ("the ball passes the gate", "passes", "%"),
    "twins_apart": ("pairs of twins of which both are right", "twins apart", "%"),
    "collision_right": ("the collision comes out right", "collision right", "%"),
    "bounce_right": ("the bounce comes out right", "bounce right", "%"),
    "all_right": ("the collision and then the bounce come out right", "all events right", "%"),
    "ball_error_together": ("velocity error of the ball, both moving", "ball, both", "units/s"),
    "square_error_together": (
        *("velocity error of the square, both moving", "square, both"),
        "units/s",
    ),
    "ball_error_alone": ("velocity error of the ball, moving alone", "ball alone", "units/s"),
    "square_error_alone": ("velocity error of the square, moving alone", "square alone", "units/s"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """A figure of a probe.

    Attributes:
        value: a mean, a share from 0 to 1, or a slope.
        count: of videos, or pairs of twins, that it stands on.
    """

    value: float
    count: int


def read_all(scores: Sequence[SampleScore]) -> dict[str, Told]:
    """Return every figure that the videos of a probe give, in the order of `TITLES`."""
    found = {}
    for name in TITLES:
        values = [score.reading[name] for score in scores if name in score.reading]
        if values:
            found[name] = Told(float(np.mean(values)), len(values))
    found |= _slope(scores) | _twins(scores)
    return {name: found[name] for name in TITLES if name in found}


def by_margin(scores: Mapping[str, Sequence[SampleScore]]) -> list[tuple[str, int, list[Told]]]:
    """Count right outcomes at gates by the margin: its range in pixels, videos, and everybody's share.

    Args:
        scores: by predictor, of the same samples.
    """
    tables = {who: _outcomes(rows) for who, rows in scores.items()}
    margins = np.concatenate([table[:, 0] for table in tables.values()])
    if not len(margins):
        return []
    edges = np.linspace(margins.min(), margins.max(), BINS + 1)
    rows = []
    for k, (low, high) in enumerate(pairwise(edges)):
        told = []
        for table in tables.values():
            places = np.searchsorted(edges[1:-1], table[:, 0], side="right")
            right = table[places == k, 1]
            told.append(Told(float(right.mean()) if len(right) else float("nan"), len(right)))
        if any(one.count for one in told):
            rows.append((f"{low:.2f}–{high:.2f}", max(one.count for one in told), told))
    return rows


def _outcomes(scores: Sequence[SampleScore]) -> Doubles:
    """Return (N, 2) margin in pixels, without its sign, and whether the outcome is right."""
    told = [one for one in scores if "right_outcome" in one.reading]
    rows = [(abs(one.init[2]) / PIXEL, one.reading["right_outcome"]) for one in told]
    return np.array(rows, np.float64).reshape(-1, 2)


def _slope(scores: Sequence[SampleScore]) -> dict[str, Told]:
    """Return the slope of generated over true speed: 1 where it is kept, 0 where it plays no part."""
    pairs = [
        (abs(one.init[1]), one.reading["signed_speed"])
        for one in scores
        if "signed_speed" in one.reading
    ]
    if len(pairs) < 2 or np.ptp([true for true, _ in pairs]) < 1e-6:
        return {}
    true, made = np.array(pairs).T
    return {"slope": Told(float(np.polyfit(true, made, 1)[0]), len(pairs))}


def _twins(scores: Sequence[SampleScore]) -> dict[str, Told]:
    """Return in how many pairs both twins are right; they differ in the sign of the margin alone."""
    pairs: dict[tuple[float, ...], dict[bool, float]] = defaultdict(dict)
    for one in scores:
        if "right_outcome" in one.reading:
            r, v, margin = one.init[:3]
            key = round(r, 5), round(v, 5), round(abs(margin), 6)
            pairs[key][margin > 0] = one.reading["right_outcome"]
    both = [min(pair.values()) for pair in pairs.values() if len(pair) == 2]
    return {"twins_apart": Told(float(np.mean(both)), len(both))} if both else {}
