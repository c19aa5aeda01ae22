"""What laws say about a video, for people who do not know the laws by their names."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.physics.laws import Law
from sightline.physics.laws.evidence import ALL_BODIES, Violation
from sightline.physics.score.words import number, percent, right_value

#: What each law is about, in a phrase.
MEANINGS = {
    "velocity_paper": "how far speed and direction are off on average, after the given frames",
    "velocity_code": "the same for the mean velocity, as the program of the paper counts it",
    "velocity_before": "the same before the balls meet",
    "position": "how far bodies are from where they should be, on average",
    "momentum": "mass times velocity of all bodies together: by how much it changes",
    "kinetic_energy": "energy of motion: by how much it changes",
    "total_energy": "energy of motion and height together: by how much it changes",
    "gravity": "how fast bodies gain speed downwards",
    "restitution": "speed of parting over speed of meeting; below 0 they pass through each other",
    "inertia": "how much a body changes its velocity with nothing there to cause it",
    "jump": "largest change of velocity between two frames with nothing there to cause it",
    "radius": "by how much the size of a body changes",
    "presence": "frames in which a body is gone, in pieces, or out of nothing",
    "colour": "frames in which a body has another colour",
    "shape": "frames in which a body has another shape, or none",
    "penetration": "how deep a body lies in another",
}

#: What a person sees where a rule is broken; the body stands before it.
_SEEN = {
    "presence": "is gone or in pieces",
    "colour": "has another colour",
    "shape": "has another shape",
    "radius": "changes its size by {size}",
    "penetration": "lies {size} deep in another",
    "inertia": "changes its velocity by {size} with nothing there to cause it",
    "jump": "jumps: its velocity changes by {size} from one frame to the next",
    "total_energy": "the energy changes by {size}",
    "momentum": "the momentum changes by {size}",
    "restitution": "the balls do not part as fast as they met (off by {size} of their speed)",
}
#: Of these, no body does it.
_OF_ALL = ("total_energy", "momentum", "restitution")


def measured(law: Law, value: float | None, wrong: Sequence[Violation] = ()) -> str | None:
    """Return a law's value with its unit, None where it says nothing.

    Shares are percentages, restitution is a plain number. A law that looks at single frames may be
    broken in some while its value, a mean, is allowed: then the worst is told, too.

    Args:
        law: whose value it is.
        value: over the whole video.
        wrong: its violations.
    """
    if value is None:
        return None
    said = _amount(value, law.unit, plain=law.name == "restitution")
    worst = max((abs(one.size) for one in wrong), default=0.0)
    same = law.limit_unit is None or law.limit_unit == law.unit
    if same and abs(value) <= law.tolerance < worst:
        return f"{said}, at worst {_amount(worst, law.unit)}"
    return said


def allowed(law: Law, scenario: str) -> str:
    """Return what a law lets pass in a world, such as `up to 0.2 units/s` or `2.5 ± 0.25 units/s²`."""
    right = right_value(law.name, scenario)
    if right is not None:
        unit = "" if law.unit == "1" else f" {law.unit}"
        return f"{right:g} ± {law.tolerance:g}{unit}"
    if not law.tolerance:
        return "none"
    unit = law.limit_unit or law.unit
    if unit in ("1", "frames"):
        share = " of it" if law.unit != unit else ""
        return f"up to {_amount(law.tolerance, unit)}{share}"
    return f"up to {law.tolerance:g} {unit}"


def reasons(violations: Sequence[Violation], bodies: int, frame_time: float) -> list[str]:
    """Say what a person would notice, each kind once for each body, with the time when it is worst.

    Args:
        violations: of the rules of `is_abnormal`.
        bodies: in the video.
        frame_time: seconds between frames.
    """
    if not bodies:
        return ["there is nothing in the video"]
    worst: dict[tuple[str, int], Violation] = {}
    for one in violations:
        before = worst.get((one.law, one.body))
        if before is None or one.size > before.size:
            worst[one.law, one.body] = one
    return [_reason(one, bodies, frame_time) for one in worst.values()]


def _reason(one: Violation, bodies: int, frame_time: float) -> str:
    seen = _SEEN[one.law].format(size=_amount(one.size, one.unit))
    when = f"at {one.frame * frame_time:.1f} s"
    if one.law in _OF_ALL or one.body == ALL_BODIES:
        who = "" if one.law in _OF_ALL else "a body "
    else:
        who = "the body " if bodies == 1 else f"body {one.body + 1} "
    return f"{when} {who}{seen}"


def _amount(value: float, unit: str, *, plain: bool = False) -> str:
    """Return a number with its unit as it is said.

    >>> _amount(1.0, "frames"), _amount(0.25, "units/s"), _amount(0.98, "1", plain=True)
    ('1 frame', '0.250 units/s', '0.980')
    """
    if unit == "1":
        return number(value) if plain else percent(abs(value))
    if unit == "frames":
        return f"{value:.0f} frame" + ("" if round(value) == 1 else "s")
    return f"{number(value)} {unit}"
