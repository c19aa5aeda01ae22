"""Radii and speeds in and out of distribution, as the released code has them and as the paper has them.

The two differ (phyworld/phyworld#4): App. C.1 gives one range of radii for all scenarios, the released
generators give collisions another. `code` is the default, because the published files follow it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sightline.errors import InputError

Interval = tuple[float, float]

SCENARIOS = ("uniform", "parabola", "collision")


@dataclass(frozen=True, slots=True)
class Ranges:
    """What a model is trained on (`radius`, `speed`), and the parts below and above that it is not.

    Attributes:
        radius: in distribution, in world units.
        radius_low: out of distribution, below.
        radius_high: out of distribution, above.
        speed: in distribution, in units/s.
        speed_low: out of distribution, below; from rest.
        speed_high: out of distribution, above.
    """

    radius: Interval
    radius_low: Interval
    radius_high: Interval
    speed: Interval = (1.0, 4.0)
    speed_low: Interval = (0.0, 0.8)
    speed_high: Interval = (4.5, 6.0)


_CODE_SINGLE = Ranges((0.7, 1.4), (0.3, 0.6), (1.5, 2.0))
_CODE_PAIR = Ranges((0.5, 1.5), (0.3, 0.4), (1.7, 2.0))
_PAPER = Ranges((0.7, 1.5), (0.3, 0.6), (1.5, 2.0))

#: By preset, then by scenario.
PRESETS: dict[str, dict[str, Ranges]] = {
    "code": {"uniform": _CODE_SINGLE, "parabola": _CODE_SINGLE, "collision": _CODE_PAIR},
    "paper": {"uniform": _PAPER, "parabola": _PAPER, "collision": _PAPER},
}

#: How many samples the paper evaluates on (App. C.1, about).
EVAL_SIZES: dict[str, dict[str, int]] = {
    "uniform": {"id": 1050, "ood": 2400},
    "parabola": {"id": 1100, "ood": 2500},
    "collision": {"id": 2000, "ood": 4800},
}


def ranges(scenario: str, preset: str = "code") -> Ranges:
    """Return the ranges of a scenario under a preset.

    >>> ranges("collision").radius, ranges("collision", "paper").radius
    ((0.5, 1.5), (0.7, 1.5))
    """
    check_scenario(scenario)
    if preset not in PRESETS:
        raise InputError(f"no ranges are called {preset!r}", remedy=f"use {', '.join(PRESETS)}")
    return PRESETS[preset][scenario]


def eval_size(scenario: str, split: str) -> int:
    """Return how many samples the paper evaluates on: `id`, or any of the out-of-distribution splits.

    >>> eval_size("collision", "id"), eval_size("collision", "ood-r1")
    (2000, 4800)
    """
    check_scenario(scenario)
    return EVAL_SIZES[scenario]["id" if split == "id" else "ood"]


def check_scenario(scenario: str) -> None:
    """Refuse a scenario that is not one of the three."""
    if scenario not in SCENARIOS:
        raise InputError(
            f"no scenario is called {scenario!r}", remedy=f"use {', '.join(SCENARIOS)}"
        )
