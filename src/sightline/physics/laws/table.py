"""All laws in one table, and `check_laws`, which asks each of them about a video.

Tolerances are for videos as models make them: several times the error of parsing a compressed
128-pixel video, and well below what a person would notice. The figures themselves know no tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sightline.errors import InputError
from sightline.physics.laws import conserved, errors, identity, motion, touching
from sightline.physics.laws.evidence import Evidence, Outcome, Violation, gather
from sightline.physics.laws.frames import FIRST_FRAME
from sightline.physics.parse.tracks import State, Tracks
from sightline.physics.types import Motion


@dataclass(frozen=True, slots=True)
class Law:
    """A row of the table.

    Attributes:
        name: unique, as it stands in reports.
        unit: of its value; `1` for a plain number.
        tolerance: above which something is a violation, in `limit_unit` or else in the unit.
        needs: `truth`, `pair` (two bodies), or nothing.
        function: of the evidence and the tolerance.
        says: one line for a report.
        limit_unit: unit of tolerance and violations where it is not that of the value.
    """

    name: str
    unit: str
    tolerance: float
    needs: tuple[str, ...]
    function: Callable[[Evidence, float], Outcome]
    says: str
    limit_unit: str | None = None


LAWS: tuple[Law, ...] = (
    Law("velocity_paper", "units/s", 0.2, ("truth",), errors.paper_velocity, "mean |v - v̂|"),
    Law("velocity_code", "units/s", 0.2, ("truth",), errors.code_velocity, "error of the mean v"),
    Law(
        *("velocity_before", "units/s", 0.2, ("truth", "pair"), errors.velocity_before),
        "mean |v - v̂| before the impact",
    ),
    Law("position", "units", 0.2, ("truth",), errors.position, "mean distance to the true place"),
    Law("momentum", "1", 0.1, (), conserved.momentum, "change of Σ m v over Σ m |v|"),
    Law("kinetic_energy", "1", 0.25, (), conserved.kinetic_energy, "change of ½ Σ m v², relative"),
    Law("total_energy", "1", 0.25, (), conserved.total_energy, "change of kinetic plus potential"),
    Law("gravity", "units/s²", 0.25, (), motion.gravity, "fitted downward acceleration"),
    Law("restitution", "1", 0.2, ("pair",), touching.restitution, "separation over approach"),
    Law("inertia", "units/s", 0.3, (), motion.inertia, "change of velocity without a cause"),
    Law("jump", "units/s", 0.7, (), motion.jumps, "largest change from step to step"),
    Law("radius", "units", 0.08, (), identity.radius, "largest minus smallest radius", "1"),
    Law("presence", "frames", 0, (), identity.presence, "lost, split or out of nothing"),
    Law("colour", "frames", 1, (), identity.colour, "of another colour"),
    Law("shape", "frames", 1, (), identity.shape, "of another shape, or of none"),
    Law("penetration", "units", 0.1, ("pair",), touching.penetration, "depth in another body"),
)


@dataclass(frozen=True, slots=True)
class LawScores:
    """What the laws say about one video.

    Attributes:
        scenario: which laws of motion were taken to hold.
        values: figure of each law in its unit; None where it says nothing about this video.
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
        """Whether a law is violated."""
        return any(violation.law == law for violation in self.violations)


def check_laws(
    tracks: Tracks,
    truth: Motion | None,
    scenario: str,
    *,
    laws: tuple[Law, ...] = LAWS,
    first: int = FIRST_FRAME,
) -> LawScores:
    """Ask every law about a parsed video.

    Args:
        tracks: of the video.
        truth: what should have happened; without it, laws that need it say nothing.
        scenario: `uniform`, `collision` or `parabola`.
        laws: rows to ask, for other tolerances.
        first: frame from which on the video is compared with the truth: those before were given.
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


def _coverage(evidence: Evidence) -> float:
    """Share of bodies and frames that are measured, or outside as bodies may be."""
    states = evidence.tracks.states
    if states.size == 0:
        return 1.0
    missing = ~evidence.tracks.measured & (states != State.OUTSIDE)
    return float(1 - missing.mean())
