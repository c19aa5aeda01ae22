"""Names and number formats of reports: laws, buckets, baselines, probes and single cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sightline.physics.datasets.spec import COMBINATORIAL
from sightline.physics.laws import LAWS, Violation
from sightline.physics.laws.evidence import GRAVITIES
from sightline.physics.probes.parts import Probe
from sightline.physics.scoring.probe_outcomes import probe_made
from sightline.physics.scoring.sample import SampleScore
from sightline.physics.video_metrics.frame_metrics import NotAvailable
from sightline.physics.worlds.splits import SCENARIOS

#: The figure that everything is set beside, and the one before an impact.
HEADLINE, BEFORE = "velocity_steps", "velocity_before"

#: Laws that are distances to the truth: of a single frame they are told as a place, not as a breach.
ERROR_LAWS = (HEADLINE, "velocity_code", BEFORE, "position")

NOTHING = "–"

#: Title of each law, and what it measures.
LAW_WORDS: dict[str, tuple[str, str]] = {
    "velocity_steps": (
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
    "color": ("color", "frames in which a body has another color"),
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

#: What each baseline is.
BASELINE_WORDS: dict[str, str] = {
    "truth": "the true videos through the same parser: the floor, what a right model would measure; as "
    "pictures, through the codec of the data set once more",
    "copy-last": "the last given frame stands still",
    "constant-velocity": "every body goes on as it moved last, through others and against gravity",
    "nearest-case": "the training case nearest in radii and speeds, from the true start: a memorizer",
}

#: The same where it is something else: in combinatorial worlds, and in those with walls or gates.
_SCENE_WORDS = {
    "truth": "the true videos through the codec of the data set once more: the floor, what a right "
    "model would get",
}
_WALLED_WORDS = {
    "nearest-case": "as the bodies moved in the training scene whose first frame is nearest, from the "
    "true start: a memorizer",
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
    """Return the title of a law."""
    return LAW_WORDS[name][0] if name in LAW_WORDS else name.replace("_", " ")


def law_meaning(name: str) -> str:
    """Return a description of a law."""
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


def baseline_words(name: str, scenario: str) -> str:
    """Return a description of a baseline in a scenario."""
    if scenario == COMBINATORIAL:
        return (BASELINE_WORDS | _SCENE_WORDS)[name]
    words = BASELINE_WORDS if scenario in SCENARIOS else BASELINE_WORDS | _WALLED_WORDS
    return words[name]


def bucket_name(bucket: str, probe: Probe | None = None, *, short: bool = False) -> str:
    """Return the name of a bucket; a template is named by its id.

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
    """Format half of the 95 % interval of a mean, with the digits of `number`.

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
    """Format the ratio of two values; empty where it is meaningless.

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
    """Pad numbers on the right so that their decimal points align.

    >>> aligned(["3.71", "0.0105", "32"])
    ['3.71  ', '0.0105', '32     ']
    """
    behind = [len(cell) - cell.index(".") if "." in cell else 0 for cell in cells]
    widest = max(behind, default=0)
    return [cell + pad * (widest - size) for cell, size in zip(cells, behind, strict=True)]


#: Violations that are named.
MOST = 4


def case_words(
    score: SampleScore, bodies: Sequence[str], scenario: str
) -> dict[str, str | list[str]]:
    """Return parameters, errors and violations of a video as text.

    Args:
        score: of the video.
        bodies: names of the true bodies, such as `red ball`.
        scenario: of the data set.
    """
    return {
        "parameters": parameters_text(score.init, scenario),
        "pictures": pictures_text(score.pictures) if not score.values else "",
        "velocity": number(score.values.get(HEADLINE)),
        "position": number(score.values.get("position")),
        "violations": violations_text(score.violations, bodies),
    }


def parameters_text(init: Sequence[float], scenario: str) -> str:
    """Return radii and speeds of a sample in words; nothing for worlds of other parameters.

    >>> parameters_text((0.4, 1.8, 2.0, 0.5), "collision")
    'radii 0.40 and 1.80, speeds 2.00 and 0.50'
    """
    if scenario not in SCENARIOS:
        return ""
    if scenario == "collision":
        r1, r2, v1, v2 = init[:4]
        return f"radii {r1:.2f} and {r2:.2f}, speeds {abs(v1):.2f} and {abs(v2):.2f}"
    return f"radius {init[0]:.2f}, speed {abs(init[1]):.2f}"


def pictures_text(pictures: Mapping[str, float | NotAvailable]) -> str:
    """Return the picture metrics of a video in words.

    >>> pictures_text({"psnr": 21.437, "ssim": 0.9})
    'PSNR 21.4 dB, SSIM 0.900'
    """
    return ", ".join(
        f"{name.upper()} {number(value)}{' dB' if name == 'psnr' else ''}"
        for name, value in pictures.items()
        if not isinstance(value, NotAvailable)
    )


def violations_text(violations: Sequence[Violation], bodies: Sequence[str]) -> list[str]:
    """Name the worst violations, one per law, the gravest first.

    >>> violations_text([Violation("jump", 7, 0, 2.0, "units/s", 0.7)], ["red ball"])
    ['jump: 2 units/s at frame 7, red ball (tolerance 0.7)']
    """
    worst: dict[str, Violation] = {}
    for one in violations:
        if one.law in ERROR_LAWS or (one.law == "total_energy" and "kinetic_energy" in worst):
            continue
        if one.law not in worst or one.size > worst[one.law].size:
            worst[one.law] = one
    ordered = sorted(worst.values(), key=lambda one: -one.size / max(one.limit, 0.5))
    return [_line(one, bodies) for one in ordered[:MOST]]


def _line(one: Violation, bodies: Sequence[str]) -> str:
    who = f", {bodies[one.body]}" if 0 <= one.body < len(bodies) else ""
    if one.law == "restitution":
        size, limit = f"{number(one.size)} away from 1", f"{one.limit:g}"
    elif one.unit == "1":
        size, limit = f"{100 * one.size:.0f} % off", f"{100 * one.limit:.0f} %"
    else:
        size, limit = f"{number(one.size)} {one.unit}", f"{one.limit:g}"
    where = f"from frame {one.frame}" if one.unit == "frames" else f"at frame {one.frame}"
    return f"{law_title(one.law)}: {size} {where}{who} (tolerance {limit})"
