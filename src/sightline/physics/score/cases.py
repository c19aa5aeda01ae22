"""What there is to say about one video: its parameters, its errors, and the laws that it violates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sightline.physics.laws import Violation
from sightline.physics.pictures.values import NotAvailable
from sightline.physics.score.sample import SampleScore
from sightline.physics.score.words import ERROR_LAWS, HEADLINE, law_title, number
from sightline.physics.worlds.ranges import SCENARIOS

#: Violations that are named.
MOST = 4


def case_words(
    score: SampleScore, bodies: Sequence[str], scenario: str
) -> dict[str, str | list[str]]:
    """Return parameters, errors and violations of a video in words.

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
