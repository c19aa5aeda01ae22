"""Names and numbers of a score as people read them: what a law, a bucket and a yardstick are called."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sightline.physics.data.spec import COMBINATORIAL
from sightline.physics.laws import LAWS
from sightline.physics.laws.evidence import GRAVITIES
from sightline.physics.probes.parts import Probe
from sightline.physics.score.outcomes import probe_made
from sightline.physics.worlds.ranges import SCENARIOS

#: The figure that everything is set beside, and the one before an impact.
HEADLINE, BEFORE = "velocity_paper", "velocity_before"

#: Laws that are distances to the truth: of a single frame they are told as a place, not as a breach.
ERROR_LAWS = (HEADLINE, "velocity_code", BEFORE, "position")

NOTHING = "–"

#: Title of each law, and what it measures.
LAW_WORDS: dict[str, tuple[str, str]] = {
    "velocity_paper": (
        "velocity error",
        "mean |v − v̂| over balls and frames after the given ones; after the impact of a collision",
    ),
    "velocity_code": (
        "velocity error, released code",
        "error of the mean velocity over the same frames, as the released evaluator has it",
    ),
    "velocity_before": ("velocity error before impact", "mean |v − v̂| before the collision"),
    "position": ("position error", "mean distance to the true place"),
    "momentum": ("momentum", "change of Σ m v over the video, relative to Σ m |v|"),
    "kinetic_energy": ("kinetic energy", "change of ½ Σ m v² over the video, relative"),
    "total_energy": ("total energy", "change of kinetic plus potential energy, relative"),
    "gravity": ("gravity", "downward acceleration fitted to the paths"),
    "restitution": (
        "restitution",
        "speed of separation over speed of approach; negative: passed through",
    ),
    "inertia": ("inertia", "mean change of velocity over six frames without a cause"),
    "jump": ("jump", "largest change of velocity from one step to the next without a cause"),
    "radius": ("radius", "largest minus smallest radius of a body"),
    "presence": ("presence", "frames in which a body is gone or in pieces"),
    "colour": ("colour", "frames in which a body has another colour"),
    "shape": ("shape", "frames in which a body has another shape, or none"),
    "penetration": ("penetration", "depth of a body in another"),
}

#: Short and long name of a bucket.
BUCKET_WORDS: dict[str, tuple[str, str]] = {
    "all": ("all", "all videos"),
    "in": ("in", "in distribution"),
    "out": ("out", "out of distribution"),
    "r_out": ("out: r", "out of distribution in radius"),
    "v_out": ("out: v", "out of distribution in speed"),
    "rv_out": ("out: rv", "out of distribution in radius and speed"),
    "zero_speed": ("at rest", "out of distribution: a ball at rest"),
    "in_template": ("trained", "templates of the training set"),
    "held_out": ("held out", "templates held out of training"),
    "test": ("probe", "videos of the probe"),
}

#: What each yardstick is.
YARDSTICK_WORDS: dict[str, str] = {
    "truth": "the true videos through the same parser: the floor, what a right model would measure; as "
    "pictures, through the codec of the data set once more",
    "copy-last": "the last given frame stands still",
    "constant-velocity": "every body goes on as it moved last, through others and against gravity",
    "nearest-case": "the training case nearest in radii and speeds, from the true start: a memoriser",
}

#: The same where it is something else: in combinatorial worlds, and in those with walls or gates.
_SCENE_WORDS = {
    "truth": "the true videos through the codec of the data set once more: the floor, what a right "
    "model would get",
}
_WALLED_WORDS = {
    "nearest-case": "as the bodies moved in the training scene whose first frame is nearest, from the "
    "true start: a memoriser",
}

#: What the videos of a world show.
SCENARIO_WORDS: dict[str, str] = {
    "uniform": "uniform motion",
    "parabola": "parabolas",
    "collision": "collisions",
    "combinatorial": "combinatorial worlds",
    "spatial": "two bodies at once",
    "temporal": "one event after another",
    "gate": "a ball at a gate",
}

_UNITS = {law.name: law.unit for law in LAWS}


def law_title(name: str) -> str:
    """Return what a law is called."""
    return LAW_WORDS[name][0] if name in LAW_WORDS else name.replace("_", " ")


def law_meaning(name: str) -> str:
    """Return what a law measures, in a phrase."""
    return (
        LAW_WORDS[name][1]
        if name in LAW_WORDS
        else next(one.says for one in LAWS if one.name == name)
    )


def unit_of(name: str) -> str:
    """Return the unit of a law's figure; nothing for a plain number.

    >>> unit_of("position"), unit_of("restitution")
    ('units', '')
    """
    return "" if _UNITS[name] == "1" else _UNITS[name]


def right_value(law: str, scenario: str) -> float | None:
    """Return the value that a law should have where that is not zero by its nature, else None.

    >>> right_value("gravity", "parabola"), right_value("restitution", "collision")
    (2.5, 1.0)
    """
    if law == "restitution":
        return 1.0
    return GRAVITIES.get(scenario, 0.0) if law == "gravity" else None


def yardstick_words(name: str, scenario: str) -> str:
    """Return what a yardstick is in a world, in a phrase."""
    if scenario == COMBINATORIAL:
        return (YARDSTICK_WORDS | _SCENE_WORDS)[name]
    words = YARDSTICK_WORDS if scenario in SCENARIOS else YARDSTICK_WORDS | _WALLED_WORDS
    return words[name]


def bucket_name(bucket: str, probe: Probe | None = None, *, short: bool = False) -> str:
    """Return what a bucket is called; a template is called by its id.

    Videos of a probe are that, whatever ranges they lie in.
    """
    if probe is not None and bucket in ("in", "all"):
        bucket = "test"
    if bucket not in BUCKET_WORDS:
        return bucket if short else f"template {bucket}"
    return BUCKET_WORDS[bucket][0 if short else 1]


def probe_in(provenance: Mapping[str, Any]) -> Probe | None:
    """Return the probe that a data set is a part of, if it is of one."""
    return probe_made(str(provenance.get("made_of") or ""))


def number(value: float | None, error: float | None = None, most: int = 4) -> str:
    """Format a mean: three digits, the third only if its standard error is no larger.

    Args:
        value: None is a dash.
        error: its standard error, if known.
        most: digits after the point; what they cannot show is 0.

    >>> number(3.7121, 0.26), number(0.01049), number(-0.00001), number(32.0)
    ('3.7', '0.0105', '0', '32')
    >>> number(1.9166, 1.2), number(123.4), number(0.9998, 0.0001)
    ('1.9', '123', '1.00')
    """
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) < 0.5 * 10**-most:
        return "0"
    value = float(f"{value:.2e}")
    digits = 2 - math.floor(math.log10(abs(value)))
    if error:
        digits = max(digits - 1, min(digits, -math.floor(math.log10(error))))
    digits = max(0, min(digits, most))
    text = f"{value:.{digits}f}"
    if error is None and value == round(value):
        text = f"{value:.0f}"
    return "0" if not text.strip("-0.") else text.replace("-", "−")


def plus_minus(value: float | None, error: float | None) -> str:
    """Return half of the 95 % interval of a mean, with as many digits as `number` gives the mean.

    Empty where it is not known, or smaller than these digits.

    >>> plus_minus(3.7121, 0.26), plus_minus(0.0105, 0.00131), plus_minus(2.0, None)
    ('±0.5', '±0.003', '')
    """
    if value is None or not error or not math.isfinite(error):
        return ""
    digits = len(number(value, error).partition(".")[2])
    half = f"{1.96 * error:.{digits}f}"
    return f"±{half}" if half.strip("0.") else ""


def percent(share: float | None) -> str:
    r"""Format a share as a percentage: whole, except next to none and to all.

    >>> percent(0.883), percent(0.004), percent(0.9996), percent(1)
    ('88\xa0%', '0.4\xa0%', '99.9\xa0%', '100\xa0%')
    """
    if share is None or math.isnan(share):
        return NOTHING
    points = 100 * share
    if 0 < points < 1 or 99 < points < 100:
        return f"{min(max(points, 0.1), 99.9):.1f}\u00a0%"
    return f"{points:.0f}\u00a0%"


def times(value: float | None, other: float | None) -> str:
    """Say how many times another figure one is; empty where that means nothing.

    >>> times(3.71, 0.0105), times(0.9, 1.0), times(1.0, 0.0)
    ('350 ×', '0.90 ×', '')
    """
    if value is None or other is None or value <= 0 or other < 5e-5:
        return ""
    ratio = value / other
    if ratio < 10:
        return f"{ratio:.2g} ×" if ratio >= 1 else f"{ratio:.2f} ×"
    return f"{float(f'{ratio:.2g}'):,.0f} ×"


def aligned(cells: list[str], pad: str = " ") -> list[str]:
    """Fill numbers up behind the point, so that the points of a column lie below each other.

    >>> aligned(["3.71", "0.0105", "32"])
    ['3.71  ', '0.0105', '32     ']
    """
    behind = [len(cell) - cell.index(".") if "." in cell else 0 for cell in cells]
    widest = max(behind, default=0)
    return [cell + pad * (widest - size) for cell, size in zip(cells, behind, strict=True)]
