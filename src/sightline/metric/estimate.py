"""Metres for a picture: every yardstick that is known or found, one fit, one map with error bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.head.apply import to_metres
from sightline.metric.head.clues import Clue
from sightline.metric.head.fit import MetricFit, Prior, fit, span_of
from sightline.metric.lens import focal_sigma
from sightline.metric.painters.paint import PaintConfig
from sightline.metric.painters.types import Painter
from sightline.metric.painters.yardsticks import OnPainting, PaintedClues, painted_clues
from sightline.metric.people.iris import IrisFinder
from sightline.metric.people.types import PeopleFinder
from sightline.metric.prior import CONTRAST
from sightline.metric.remarks import remarks_on
from sightline.metric.yardsticks.conflicts import conflict_notes, conflicts_of
from sightline.metric.yardsticks.floor import height_clue
from sightline.metric.yardsticks.iris import iris_clues
from sightline.metric.yardsticks.known import (
    check_box,
    check_depth,
    check_length,
    length_clue,
    object_clue,
    point_clues,
    sparse_clues,
)
from sightline.metric.yardsticks.people import people_clues, shared_sigmas
from sightline.metric.yardsticks.reading import edge_notes
from sightline.metric.yardsticks.words import Length
from sightline.types import Camera, DepthMap

Infer = Callable[[NDArray[np.uint8]], DepthMap]

NO_IRISES = "no face shows both irises well enough to measure by them"


@dataclass(frozen=True, slots=True)
class Known:
    """What the user knows about a picture.

    Attributes:
        lengths: pixels (x, y, x, y) and the length between them.
        depths: pixel (x, y) and its depth along the optical axis.
        boxes: (left, top, right, bottom) around a thing, and its height.
        camera_height: of the camera over the floor.
        measured: a map of measured depth, sparse or dense.
    """

    lengths: tuple[tuple[tuple[float, ...], Length], ...] = ()
    depths: tuple[tuple[tuple[float, ...], Length], ...] = ()
    boxes: tuple[tuple[tuple[float, ...], Length], ...] = ()
    camera_height: Length | None = None
    measured: DepthMap | None = None

    def check(self, width: int, height: int) -> None:
        """Refuse what cannot be in a picture of some size, before anything is computed.

        Raises:
            InputError: a place outside it, or a length or box that is none.
        """
        for ends, length in self.lengths:
            check_length(ends, length, width, height)
        for place, depth in self.depths:
            check_depth(place, depth, width, height)
        for box, size in self.boxes:
            check_box(box, size, width, height)


@dataclass(frozen=True, slots=True, eq=False)
class Metres:
    """The result.

    Attributes:
        depth: in [m], with sigma and camera.
        fit: scale, shift, and what became of every clue.
        warnings: what to know before believing it, a line each.
        sources: who found and painted people, for the record.
        painted: what was painted; None where nothing was.
    """

    depth: DepthMap
    fit: MetricFit
    warnings: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)
    painted: PaintedClues | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything but the map, as JSON has it."""
        assert self.depth.camera is not None
        return {
            "kind": str(self.depth.kind),
            "unit": self.depth.unit,
            "scale": self.fit.scale,
            "scale_sigma": self.fit.scale_sigma,
            "shift": self.fit.shift,
            "shift_sigma": self.fit.shift_sigma,
            "focal_px": self.depth.camera.focal,
            "focal_source": str(self.depth.camera.source),
            "focal_sigma": self.fit.focal_sigma,
            "median_depth_m": float(np.median(self.depth.values[self.depth.valid])),
            "median_sigma_share": self.usual_sigma,
            "yardsticks": [
                {
                    "name": clue.name,
                    "kind": clue.kind,
                    "alone_distances_times": clue.factor,
                    "residual": clue.off,
                    "sigma": clue.sigma,
                    "weight": clue.weight,
                    "contradicts": clue.contradicts,
                }
                for clue in self.fit.clues
            ],
            "warnings": list(self.warnings),
            "model": self.depth.source,
            **self.sources,
            **({} if self.painted is None else {"paintings": self.painted.to_dict()}),
        }

    @property
    def usual_sigma(self) -> float:
        """Median over the pixels of sigma over depth."""
        valid = self.depth.valid
        assert self.depth.sigma is not None
        return float(np.median(self.depth.sigma[valid] / self.depth.values[valid]))


def estimate(
    pixels: NDArray[np.uint8],
    camera: Camera,
    relative: DepthMap,
    known: Known,
    *,
    finder: PeopleFinder | None = None,
    irises: IrisFinder | None = None,
    focal_error: float | None = None,
    painter: Painter | None = None,
    infer: Infer | None = None,
    paint: PaintConfig | None = None,
    on_painting: OnPainting | None = None,
    seed: int = 0,
) -> Metres:
    """Turn a picture's relative disparity into metres.

    Args:
        pixels: (H, W, 3) sRGB.
        camera: of the picture.
        relative: its relative disparity, with sigma if that is to count.
        known: what the user knows.
        finder: finds people; None not to look for any.
        irises: finds irises; None not to look for any.
        focal_error: relative standard deviation of the focal length; None for what is usual of a
            camera's source.
        painter: paints people in; None not to.
        infer: relative disparity of paintings; needed with a painter.
        paint: how many paintings.
        on_painting: told after each of them how many were made and accepted.
        seed: of everything random.

    Raises:
        InputError: nothing of known size was given or found.
    """
    clues: list[Clue] = list(known_clues(known, relative, camera, seed))
    warnings = edge_notes(relative, known.lengths)
    conflicts = conflicts_of(relative, known.lengths, known.depths, known.boxes, known.measured)
    warnings += conflict_notes(conflicts)
    sources: dict[str, str] = {}
    missing: list[str] = []
    painted = None
    if finder is not None:
        sources["people_found_by"] = finder.source
        found = people_clues(finder.find(pixels, camera), relative.values, camera)
        clues += found.clues
        warnings += found.warnings
        missing += found.warnings or ["nobody was found"]
    if irises is not None:
        sources["irises_found_by"] = irises.source
        seen = iris_clues(irises.find(pixels), relative, camera)
        clues += seen
        if not seen:
            warnings.append(NO_IRISES)
            missing.append(NO_IRISES)
    if painter is not None:
        if finder is None or infer is None:
            raise InputError(
                "painted people have to be found and looked at", remedy="give a finder"
            )
        sources["people_painted_by"] = painter.source
        config = paint or PaintConfig(seed=seed)
        painted = painted_clues(
            pixels, camera, relative, painter, finder, infer, config, on_painting
        )
        clues += painted.clues
        warnings += painted.warnings
        if len(painted.accepted) < config.wanted:
            warnings.append(f"{config.wanted} paintings with people were wanted: {painted}")
        missing.append(f"the paintings have no people to measure by: {painted}")
    if not clues:
        raise _nothing(missing, looked=finder is not None, faces=irises is not None)
    error = focal_sigma(camera) if focal_error is None else focal_error
    prior = Prior(*CONTRAST, error, shared_sigmas())
    result = fit(clues, span_of(relative.values[relative.valid]), prior, seed=seed)
    depth = to_metres(relative, result, camera)
    warnings += remarks_on(result, depth, camera)
    return Metres(depth, result, tuple(warnings), sources, painted)


def _nothing(missing: Sequence[str], *, looked: bool, faces: bool) -> InputError:
    """Say that there are no metres, what was looked for in vain, and what else there is.

    Args:
        missing: what was not found, a line each.
        looked: people were looked for.
        faces: irises were looked for.
    """
    others = ["--length", "--depth-at", "--box", "--camera-height", "--measured"]
    others += [] if faces else ["--iris"]
    ways = f"give {', '.join(others[:-1])} or {others[-1]}"
    problem = "nothing of known size was given or found, so there are no metres"
    return InputError(
        f"{problem}: {'; '.join(missing)}" if missing else problem,
        remedy=ways if looked else f"{ways}, or let people be looked for",
    )


def known_clues(known: Known, relative: DepthMap, camera: Camera, seed: int = 0) -> Sequence[Clue]:
    """Turn what the user knows into clues."""
    clues: list[Clue] = []
    clues += [length_clue(relative, camera, *one) for one in known.lengths]
    clues += point_clues(relative, known.depths)
    clues += [object_clue(relative, camera, *one) for one in known.boxes]
    if known.camera_height is not None:
        clues.append(height_clue(relative, camera, known.camera_height, seed)[0])
    if known.measured is not None:
        clues += sparse_clues(relative, known.measured)
    return clues
