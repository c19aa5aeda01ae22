"""The table of laws; `check_laws` evaluates them, `is_abnormal` classifies a video by rules over them.

Tolerances are meant for generated videos: several times the tracking error on a compressed 128-pixel
video, and well below what a person would notice. The values themselves do not depend on them.

The paper asks ten people for the rate of abnormal videos (§5); rules replace them and give reasons.
Each rule is a law with its own threshold, wider than the law's tolerance, at a size that people notice.
The rules are measured on deliberately corrupted videos in `tests/physics/test_corrupt.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from sightline.errors import InputError
from sightline.physics.laws import bodies, conserved_quantities, motion, velocity_error
from sightline.physics.laws.evidence import FIRST_FRAME, LawEvidence, Outcome, Violation, gather
from sightline.physics.tracking.tracks import State, Tracks
from sightline.physics.types import Motion


@dataclass(frozen=True, slots=True)
class Law:
    """A law of motion.

    Attributes:
        name: unique, used in reports.
        unit: of the value; `1` for a dimensionless number.
        tolerance: limit above which the law is violated, in `limit_unit` or else in `unit`.
        needs: `truth`, `pair` (two bodies), both or none.
        function: of the evidence and the tolerance.
        says: description for reports.
        limit_unit: unit of tolerance and violations where it is not that of the value.
    """

    name: str
    unit: str
    tolerance: float
    needs: tuple[str, ...]
    function: Callable[[LawEvidence, float], Outcome]
    says: str
    limit_unit: str | None = None


#: All laws that `check_laws` evaluates, in the order of the report.
LAWS: tuple[Law, ...] = (
    Law(
        "velocity_steps", "units/s", 0.2, ("truth",), velocity_error.steps_velocity, "mean |v - v̂|"
    ),
    Law(
        "velocity_code",
        "units/s",
        0.2,
        ("truth",),
        velocity_error.code_velocity,
        "error of the mean v",
    ),
    Law(
        "velocity_before",
        "units/s",
        0.2,
        ("truth", "pair"),
        velocity_error.velocity_before,
        "mean |v - v̂| before the impact",
    ),
    Law(
        "position",
        "units",
        0.2,
        ("truth",),
        velocity_error.position,
        "mean distance to the true place",
    ),
    Law("momentum", "1", 0.1, (), conserved_quantities.momentum, "change of Σ m v over Σ m |v|"),
    Law(
        "kinetic_energy",
        "1",
        0.25,
        (),
        conserved_quantities.kinetic_energy,
        "change of ½ Σ m v², relative",
    ),
    Law(
        "total_energy",
        "1",
        0.25,
        (),
        conserved_quantities.total_energy,
        "change of kinetic plus potential",
    ),
    Law("gravity", "units/s²", 0.25, (), motion.gravity, "fitted downward acceleration"),
    Law("restitution", "1", 0.2, ("pair",), bodies.restitution, "separation over approach"),
    Law("inertia", "units/s", 0.3, (), motion.inertia, "change of velocity without a cause"),
    Law("jump", "units/s", 0.7, (), motion.jumps, "largest change from step to step"),
    Law("radius", "units", 0.08, (), bodies.radius, "largest minus smallest radius", "1"),
    Law("presence", "frames", 0, (), bodies.presence, "lost, split or out of nothing"),
    Law("color", "frames", 1, (), bodies.color, "of another color"),
    Law("shape", "frames", 1, (), bodies.shape, "of another shape, or of none"),
    Law("penetration", "units", 0.1, ("pair",), bodies.penetration, "depth in another body"),
)


@dataclass(frozen=True, slots=True)
class LawScores:
    """Values and violations of the laws for one video.

    Attributes:
        scenario: whose laws of motion were assumed.
        values: of each law in its unit; None where the law does not apply.
        intervals: 95 % confidence intervals, for laws that have one.
        violations: of all laws, in the order of the table.
        coverage: share of bodies and frames that were measured or rightly outside, 0 to 1.
    """

    scenario: str
    values: dict[str, float | None]
    intervals: dict[str, tuple[float, float]]
    violations: tuple[Violation, ...]
    coverage: float

    def violates(self, law: str) -> bool:
        """Return whether a law is violated."""
        return any(violation.law == law for violation in self.violations)


def check_laws(
    tracks: Tracks,
    truth: Motion | None,
    scenario: str,
    *,
    laws: tuple[Law, ...] = LAWS,
    first: int = FIRST_FRAME,
) -> LawScores:
    """Evaluate the laws on a tracked video.

    Args:
        tracks: bodies of the video.
        truth: the true motion; without it, laws that need it do not apply.
        scenario: `uniform`, `collision` or `parabola`.
        laws: to evaluate.
        first: first frame that is compared with the truth; those before were given to the model.
    """
    if len({law.name for law in laws}) != len(laws):
        raise InputError("two laws have the same name")
    evidence = gather(tracks, truth, scenario, first)
    values: dict[str, float | None] = {}
    intervals: dict[str, tuple[float, float]] = {}
    violations: list[Violation] = []
    for law in laws:
        outcome = law.function(evidence, law.tolerance)
        values[law.name] = outcome.value
        if outcome.interval is not None:
            intervals[law.name] = outcome.interval
        unit = law.limit_unit or law.unit
        violations += [
            Violation(law.name, failure.frame, failure.body, failure.size, unit, law.tolerance)
            for failure in outcome.failures
        ]
    return LawScores(scenario, values, intervals, tuple(violations), _coverage(evidence))


def _coverage(evidence: LawEvidence) -> float:
    """Return the share of bodies and frames that are measured, or legitimately outside."""
    states = evidence.tracks.states
    if states.size == 0:
        return 1.0
    missing = ~evidence.tracks.measured & (states != State.OUTSIDE)
    return float(1 - missing.mean())


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Thresholds of the rules, by the name of their law.

    Attributes:
        presence: frames in which a body is missing.
        color: frames in another color.
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
    color: float = 1
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
    """The classification of a video.

    Attributes:
        abnormal: whether a rule is violated.
        reasons: one line per violation.
        violations: of the rules.
    """

    abnormal: bool
    reasons: tuple[str, ...]
    violations: tuple[Violation, ...] = ()


def is_abnormal(tracks: Tracks, scenario: str, thresholds: Thresholds | None = None) -> Verdict:
    """Classify a tracked video as normal or abnormal.

    No ground truth is needed: a physically possible motion is normal even if it is not the true one.

    Args:
        tracks: bodies of the video.
        scenario: `uniform`, `collision` or `parabola`.
        thresholds: of the rules; default: `Thresholds()`.
    """
    limits = thresholds or Thresholds()
    rules = {field.name: getattr(limits, field.name) for field in fields(limits)}
    laws = tuple(replace(law, tolerance=rules[law.name]) for law in LAWS if law.name in rules)
    return verdict_of(check_laws(tracks, None, scenario, laws=laws), tracks.bodies)


def verdict_of(scores: LawScores, bodies: int) -> Verdict:
    """Format the violations of the rules as reasons; a video without any body is abnormal too."""
    reasons = [
        f"{violation.law} at frame {violation.frame}"
        + (f", body {violation.body}" if violation.body >= 0 else "")
        + f": {violation.size:.2f} {violation.unit}, limit {violation.limit:g}"
        for violation in scores.violations
    ]
    if bodies == 0:
        reasons.append("there is nothing in the video")
    return Verdict(bool(reasons), tuple(reasons), tuple(scores.violations))
