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
from sightline.metric.head.fit import LEAST_CONTRAST, MetricFit, Prior, fit, span_of
from sightline.metric.head.problem import PEOPLE
from sightline.metric.lens import focal_sigma
from sightline.metric.painters.paint import PaintConfig, paint_people
from sightline.metric.painters.types import Painter
from sightline.metric.people.iris import IrisFinder
from sightline.metric.people.types import PeopleFinder
from sightline.metric.prior import CONTRAST
from sightline.metric.yardsticks.floor import height_clue
from sightline.metric.yardsticks.iris import iris_clues
from sightline.metric.yardsticks.known import length_clue, object_clue, point_clues, sparse_clues
from sightline.metric.yardsticks.people import people_clues, shared_sigmas
from sightline.metric.yardsticks.words import Length
from sightline.types import Camera, DepthMap

Infer = Callable[[NDArray[np.uint8]], DepthMap]


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


@dataclass(frozen=True, slots=True, eq=False)
class Metres:
    """The result.

    Attributes:
        depth: in [m], with sigma and camera.
        fit: scale, shift, and what became of every clue.
        focal_error: relative standard deviation of the focal length before the fit.
        warnings: what to know before believing it, a line each.
        sources: who found and painted people, for the record.
    """

    depth: DepthMap
    fit: MetricFit
    focal_error: float
    warnings: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)

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
            "focal_sigma": self.focal_error,
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
        seed: of everything random.

    Raises:
        InputError: nothing of known size was given or found.
    """
    clues: list[Clue] = list(known_clues(known, relative, camera, seed))
    warnings: list[str] = []
    sources: dict[str, str] = {}
    if finder is not None:
        sources["people_found_by"] = finder.source
        found = people_clues(finder.find(pixels, camera), relative.values, camera)
        clues += found.clues
        warnings += found.warnings
    if irises is not None:
        sources["irises_found_by"] = irises.source
        seen = iris_clues(irises.find(pixels), relative, camera)
        clues += seen
        if not seen:
            warnings.append("no face shows both irises well enough to measure by them")
    if painter is not None:
        if finder is None or infer is None:
            raise InputError(
                "painted people have to be found and looked at", remedy="give a finder"
            )
        sources["people_painted_by"] = painter.source
        config = paint or PaintConfig(seed=seed)
        accepted = 0
        for attempt in paint_people(pixels, camera, relative, painter, finder, infer, config):
            if attempt.painting is None:
                continue
            accepted += 1
            painted = people_clues(
                attempt.painting.people,
                attempt.painting.disparity,
                camera,
                ground=relative.values,
                first=1 + sum(clue.kind in PEOPLE for clue in clues),
            )
            clues += painted.clues
        if accepted < config.wanted:
            warnings.append(f"{accepted} of {config.wanted} paintings have people in them")
    if not clues:
        raise InputError(
            "nothing of known size was given or found, so there are no metres",
            remedy="give --length, --depth-at, --box, --camera-height, --measured or --iris"
            + (" (nobody was found)" if finder is not None else ", or let people be looked for"),
        )
    error = focal_sigma(camera) if focal_error is None else focal_error
    prior = Prior(*CONTRAST, error, shared_sigmas())
    result = fit(clues, span_of(relative.values[relative.valid]), prior, seed=seed)
    warnings += _remarks(result, camera, error)
    depth = to_metres(relative, result, camera)
    return Metres(depth, result, error, tuple(warnings), sources)


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


def _remarks(result: MetricFit, camera: Camera, focal_error: float) -> list[str]:
    """Say what a reader must know: contradictions, a guessed lens, a line that runs backwards."""
    remarks = []
    for clue in result.clues:
        if clue.contradicts:
            remarks.append(
                f"{clue.name} contradicts the others and counts little: alone it would make all "
                f"distances {clue.factor:.2f} times as long"
            )
    if focal_error > 0.1:
        remarks.append(
            f"the lens is a guess ({camera.fov:.0f}° wide, ± {focal_error:.0%}): sizes across the "
            "picture, and distances by people and boxes, are as uncertain as it is; --fov says better"
        )
    contrast = float(result.logs[1] - result.logs[0])
    if contrast < 2 * LEAST_CONTRAST:
        remarks.append(
            "what is known makes the picture almost flat: look for a mistake in it, or give "
            "something that is farther away"
        )
    return remarks
