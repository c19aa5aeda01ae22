"""Is a video abnormal, as a person would say at first sight: rules over the laws.

The paper asks ten people (§5: "abnormal" rate); these rules stand in for them, and say why. Each is a
law with a threshold of its own: wider than the law's tolerance, because people forgive what a ruler
does not. Measured on videos damaged on purpose: `tests/physics/test_corrupt.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from sightline.physics.laws.evidence import Violation
from sightline.physics.laws.table import LAWS, LawScores, check_laws
from sightline.physics.parse.tracks import Tracks


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From where on people notice; one per law, by its name.

    Attributes:
        presence: frames in which a body is gone.
        colour: frames in another colour.
        shape: frames in another shape.
        radius: change of a radius, as a share of it.
        penetration: depth of a body in another, in world units.
        inertia: change of velocity over six frames without a cause, in units/s.
        jump: change of velocity from one step to the next, in units/s.
        total_energy: change of the energy, as a share.
        momentum: change of the momentum, as a share.
        restitution: distance of the restitution to 1.
    """

    presence: float = 1
    colour: float = 1
    shape: float = 3
    radius: float = 0.15
    penetration: float = 0.2
    inertia: float = 0.4
    jump: float = 1.0
    total_energy: float = 0.3
    momentum: float = 0.25
    restitution: float = 0.35


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer.

    Attributes:
        abnormal: yes or no.
        reasons: a line for each rule that says yes, the most frequent kinds first in the table.
        violations: of the rules, that these are about.
    """

    abnormal: bool
    reasons: tuple[str, ...]
    violations: tuple[Violation, ...] = ()


def is_abnormal(tracks: Tracks, scenario: str, thresholds: Thresholds | None = None) -> Verdict:
    """Decide whether a person would call a parsed video abnormal.

    No truth is needed: what is physically possible is normal, even where it is not what should have
    happened.

    Args:
        tracks: of the video.
        scenario: `uniform`, `collision` or `parabola`.
        thresholds: of the rules; default: as documented.
    """
    limits = thresholds or Thresholds()
    rules = {field.name: getattr(limits, field.name) for field in fields(limits)}
    laws = tuple(replace(law, tolerance=rules[law.name]) for law in LAWS if law.name in rules)
    return verdict_of(check_laws(tracks, None, scenario, laws=laws), tracks.bodies)


def verdict_of(scores: LawScores, bodies: int) -> Verdict:
    """Put the violations of rules into words; a video without any body is abnormal too."""
    reasons = [
        f"{violation.law} at frame {violation.frame}"
        + (f", body {violation.body}" if violation.body >= 0 else "")
        + f": {violation.size:.2f} {violation.unit}, limit {violation.limit:g}"
        for violation in scores.violations
    ]
    if bodies == 0:
        reasons.append("there is nothing in the video")
    return Verdict(bool(reasons), tuple(reasons), tuple(scores.violations))
