"""One picture, from file to meters to files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.depth.estimator import DepthEstimator, load
from sightline.errors import InputError
from sightline.io import depth_files
from sightline.io.images import Picture
from sightline.metric.diffusion import DiffusionPainter
from sightline.metric.estimation import MetricResult, check_not_blank, estimate
from sightline.metric.focal_length import lens_of
from sightline.metric.inpainting import OnPainting, PaintConfig
from sightline.metric.known_sizes import (
    CameraHeight,
    KnownBox,
    KnownDepth,
    KnownSizes,
    Length,
    read_points,
)
from sightline.metric.metric_fit import EvidenceReport, to_record
from sightline.metric.options import MetricConfig
from sightline.metric.people.iris import IrisFinder
from sightline.metric.people.mesh_files import FolderFinder
from sightline.metric.people.types import PeopleFinder
from sightline.types import DepthMap, Kind

#: Meters of a step of the 16-bit maps that sensors and data sets have.
UNITS = {"mm": 0.001, "kitti": 1 / 256}
#: A length without a unit, whatever is said of its uncertainty.
_NUMBER_ALONE = re.compile(r"[^a-z±]*($|±|\+-)")


@dataclass(frozen=True, slots=True)
class Tools:
    """What all pictures share.

    Attributes:
        estimator: of relative depth.
        finder: of people, if they are looked for.
        painter: of people, if they are painted.
        irises: finder of them, if they are looked for.
    """

    estimator: DepthEstimator
    finder: PeopleFinder | None = None
    painter: DiffusionPainter | None = None
    irises: IrisFinder | None = None


def load_tools(
    options: MetricConfig,
    notify: Callable[[str], None] | None = None,
    threads: int | None = None,
) -> Tools:
    """Load the models that `options` name.

    Args:
        options: settings.
        notify: called with a line of text before something takes long, such as a download.
        threads: number of CPU threads. Default: that of `options`.
    """
    threads = options.threads if threads is None else threads
    estimator = load(
        options.model,
        engine=options.engine,
        device=options.device,
        size=options.size,
        threads=threads,
        accept_license=options.accept_license,
    )
    if estimator.spec.kind is not Kind.RELATIVE_DISPARITY:
        raise InputError(
            f"{estimator.name} gives meters itself", remedy="use sightline depth, or another model"
        )
    finder = painter = irises = None
    if options.people and options.meshes is None:
        from sightline.metric.people.blazepose import BlazePoseFinder

        try:
            finder = BlazePoseFinder(
                min_confidence=options.min_confidence, threads=threads, notify=notify
            )
        except InputError as error:
            if options.painter is not None or not options.has_evidence:
                raise _or_without(error) from error
            if notify is not None:
                notify(f"people are not looked for: {error}")
    if options.painter is not None:
        from sightline.metric.diffusion import load_painter

        painter = load_painter(
            options.painter, steps=options.painter_steps, short_side=options.painter_side
        )
    if options.iris:
        try:
            irises = IrisFinder(threads=threads, notify=notify)
        except InputError as error:
            raise _or_without(error) from error
    return Tools(estimator, finder, painter, irises)


def _or_without(error: InputError) -> InputError:
    """Add to a network that cannot be had what can be measured by without one."""
    others = "or measure without it: --no-people with --length, --depth-at, --box, --camera-height "
    remedy = f"{error.remedy}; " if error.remedy else ""
    return InputError(error.problem, path=error.path, remedy=f"{remedy}{others}or --measured")


def known_of(options: MetricConfig) -> KnownSizes:
    """Read what the user knows."""
    measured = None
    if options.measured is not None:
        measured = _measured(options.measured, options.measured_unit)
        if not measured.is_metric:
            raise InputError("has no unit, so it measures nothing", path=options.measured)
    return KnownSizes(
        tuple(Length.parse(text) for text in options.length),
        tuple(point for text in options.depth_at for point in _points(text)),
        tuple(KnownBox.parse(text) for text in options.box),
        None if options.camera_height is None else CameraHeight.parse(options.camera_height),
        measured,
    )


def _measured(path: Path, unit: str | None) -> DepthMap:
    """Read a map that says itself what it means, or 16-bit numbers in a unit."""
    if unit is None:
        try:
            return depth_files.read_depth(path)
        except InputError as error:
            if path.suffix.lower() != ".png":
                raise
            remedy = "say what a step is: --measured-unit mm or kitti"
            raise InputError(error.problem, path=path, remedy=remedy) from error
    from sightline.training.data.labels import read_gray

    steps = read_gray(path)
    if steps.dtype != np.uint16:
        raise InputError(
            f"is a PNG of 8 bits, which cannot hold depth in steps of {unit}",
            path=path,
            remedy="save it with 16 bits, as the sensor gave it",
        )
    values = steps.astype(np.float32) * np.float32(UNITS[unit])
    return DepthMap(values, Kind.METRIC_DEPTH, steps > 0, source=f"{path.name} in {unit}")


def _points(text: str) -> list[KnownDepth]:
    """Read `x,y=3.2m`, or a table of such."""
    return read_points(text) if _is_table(text) else [KnownDepth.parse(text)]


def _is_table(text: str) -> bool:
    return text.lower().endswith(".csv")


def meters_of(
    picture: Picture,
    known: KnownSizes,
    tools: Tools,
    options: MetricConfig,
    on_painting: OnPainting | None = None,
) -> MetricResult:
    """Estimate meters of a picture that has been read.

    Args:
        picture: any.
        known: what is known of it.
        tools: models.
        options: everything else.
        on_painting: told after every painting how many were made and accepted.
    """
    known.check(picture.width, picture.height)  # mistakes are told before the work begins
    check_not_blank(picture.pixels, floor=known.camera_height is not None)
    lens = lens_of(picture.pixels, picture.camera, options.fov)
    camera = lens.camera

    def infer(pixels: NDArray[np.uint8]) -> DepthMap:
        return tools.estimator.infer(pixels, camera=camera)

    relative = tools.estimator.infer(picture, camera=camera, sigma=options.sigma)
    finder = tools.finder
    if options.meshes is not None:
        finder = FolderFinder(options.meshes, None if picture.path is None else picture.path.stem)
    meters = estimate(
        picture.pixels,
        camera,
        relative,
        known,
        finder=finder,
        irises=tools.irises,
        focal_error=lens.sigma,
        painter=tools.painter,
        infer=infer,
        paint=_paint_config(options, tools.painter),
        on_painting=on_painting,
        seed=options.seed,
    )
    reasons = [lens.reason] if lens.reason else []
    if meters.fit.changes_camera:
        reasons.append("the evidence")
    found = {"lens_found_by": " and ".join(reasons)} if reasons else {}
    told = [lens.warning] if lens.warning else []
    told += [f"{text} has no unit and is taken for meters" for text in _without_unit(options)]
    return replace(meters, sources={**meters.sources, **found}, warnings=(*meters.warnings, *told))


def _paint_config(options: MetricConfig, painter: DiffusionPainter | None) -> PaintConfig | None:
    """Say how many are to be painted, as many at once as suits the painter."""
    if painter is None:
        return None
    return PaintConfig(options.paintings, painter.batch, options.attempts, options.seed)


def _without_unit(options: MetricConfig) -> list[str]:
    """Return those of the given lengths that are numbers alone."""
    height = () if options.camera_height is None else (options.camera_height,)
    given = (*options.length, *options.depth_at, *options.box, *height)
    lengths = ((text, text.rpartition("=")[2]) for text in given if not _is_table(text))
    return [text for text, length in lengths if _NUMBER_ALONE.match(length)]


def to_json(meters: MetricResult) -> str:
    """Return a result as JSON text; the last line holds the fit, for measuring in the map."""
    record = json.dumps(meters.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    fit = json.dumps(to_record(meters.fit), allow_nan=False)
    return f'{record.removesuffix("}").rstrip()},\n "fit": {fit}\n}}\n'


def summarize(meters: MetricResult) -> tuple[str, ...]:
    """Return the lines that describe a result in a terminal: depth range, evidence, lens."""
    depth = meters.depth
    values = depth.values[depth.valid]
    near, far = np.quantile(values, [0.01, 0.99]) if len(values) else (math.nan, math.nan)
    evidence = meters.fit.evidence
    lines = [
        f"{near:.2f} to {far:.2f} m (98 % of pixels), ± {meters.usual_sigma:.0%} in total "
        "(evidence, lens, relative depth), from",
        *(f"  {describe_evidence(item, alone=len(evidence) == 1)}" for item in evidence),
    ]
    if depth.camera is not None:
        by = meters.sources.get("lens_found_by", "")
        lines.append(
            f"  lens: {depth.camera.fov:.0f}° wide, {depth.camera.source}{by and f' by {by}'}"
        )
    return tuple(lines)


def describe_evidence(item: EvidenceReport, *, alone: bool) -> str:
    """Describe one piece of evidence in a line: its uncertainty, and how far the result is from it.

    Args:
        item: the evidence.
        alone: True if there is no other evidence, so that the result cannot differ from it.
    """
    line = f"{item.name} (± {item.sigma:.0%} by itself)"
    if alone:
        return line
    share = math.expm1(item.off)
    agrees = "agrees" if abs(share) < 0.005 else f"the result is {share:+.0%} from it"
    return f"{line}: {agrees}" + (", contradicts the others" if item.contradicts else "")
