"""Painted people as yardsticks: paint, keep what is accepted, measure everybody in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.metric.head.clues import DepthClue
from sightline.metric.painters.paint import Attempt, PaintConfig, Painting, paint_people
from sightline.metric.painters.types import Painter
from sightline.metric.people.types import PeopleFinder
from sightline.metric.yardsticks.people import people_clues
from sightline.types import Camera, DepthMap

#: Told after every painting how many were made and how many of them accepted.
OnPainting = Callable[[int, int], None]

#: A caution that holds of more people than this names the first of them only.
_NAMED = 2


@dataclass(frozen=True, slots=True, eq=False)
class PaintedClues:
    """What painted people say about a picture.

    Attributes:
        clues: one per person that can be used.
        warnings: about people in paintings.
        made: number of paintings, accepted or not.
        wanted: number of accepted ones asked for.
        accepted: prompt and seed of each painting with people in it.
        refused: why the others were not accepted, and how many each time.
    """

    clues: tuple[DepthClue, ...]
    warnings: tuple[str, ...]
    made: int
    wanted: int
    accepted: tuple[tuple[str, int], ...]
    refused: dict[str, int]

    def __str__(self) -> str:
        """Say how many were painted, and what became of them."""
        said = f"{self.made} painted, {len(self.accepted)} accepted"
        why = ", ".join(f"{reason} in {count}" for reason, count in self.refused.items())
        return f"{said} ({why})" if why else said

    def to_dict(self) -> dict[str, Any]:
        """Return what was painted, as JSON has it."""
        return {
            "made": self.made,
            "wanted": self.wanted,
            "accepted": [
                {"name": f"painting {number}", "prompt": prompt, "seed": seed}
                for number, (prompt, seed) in enumerate(self.accepted, 1)
            ],
            "refused": self.refused,
        }


def painted_clues(
    pixels: NDArray[np.uint8],
    camera: Camera,
    relative: DepthMap,
    painter: Painter,
    finder: PeopleFinder,
    infer: Callable[[NDArray[np.uint8]], DepthMap],
    config: PaintConfig,
    on_painting: OnPainting | None = None,
) -> PaintedClues:
    """Paint people into a picture and measure them.

    Args:
        pixels: (H, W, 3) the picture.
        camera: of it.
        relative: its relative disparity.
        painter: paints.
        finder: finds people in paintings and in the original.
        infer: relative disparity of a painting.
        config: how many.
        on_painting: told after each one.
    """
    clues: list[DepthClue] = []
    cautions: list[str] = []
    attempts: list[Attempt] = []
    accepted: list[Painting] = []
    for attempt in paint_people(pixels, camera, relative, painter, finder, infer, config):
        attempts.append(attempt)
        if attempt.painting is not None:
            accepted.append(attempt.painting)
            found = people_clues(
                attempt.painting.people,
                attempt.painting.disparity,
                camera,
                ground=relative.values,
                where=f" in painting {len(accepted)}",
            )
            clues += found.clues
            cautions += found.warnings
        if on_painting is not None:
            on_painting(len(attempts), len(accepted))
    return PaintedClues(
        tuple(clues),
        tuple(_together(cautions)),
        len(attempts),
        config.wanted,
        tuple((one.prompt, one.seed) for one in accepted),
        dict(Counter(attempt.reason for attempt in attempts if attempt.painting is None)),
    )


def _together(cautions: Iterable[str]) -> list[str]:
    """Say the same of several people once: `person 1 in painting 1 and 7 others: cut off`."""
    names: dict[str, list[str]] = {}
    for line in cautions:
        name, _, what = line.partition(": ")
        names.setdefault(what, []).append(name)
    return [f"{_listed(whose)}: {what}" for what, whose in names.items()]


def _listed(names: list[str]) -> str:
    if len(names) <= _NAMED:
        return " and ".join(names)
    return f"{names[0]} and {len(names) - 1} others"
