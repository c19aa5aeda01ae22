"""One picture, from file to metres to files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.depth.estimator import DepthEstimator, load
from sightline.errors import InputError
from sightline.files import clouds, color, depth_files
from sightline.files.atomic import write_text
from sightline.files.palettes import Palette
from sightline.files.pictures import Picture
from sightline.geometry import to_points
from sightline.metric.blank import refuse_blank
from sightline.metric.estimate import Known, Metres, estimate
from sightline.metric.head.apply import is_moved
from sightline.metric.head.record import to_record
from sightline.metric.lens import lens_of
from sightline.metric.options import Yardsticks
from sightline.metric.painters.diffusion import DiffusionPainter
from sightline.metric.painters.paint import PaintConfig
from sightline.metric.painters.yardsticks import OnPainting
from sightline.metric.people.folder import FolderFinder
from sightline.metric.people.iris import IrisFinder
from sightline.metric.people.types import PeopleFinder
from sightline.metric.yardsticks.table import Point, read_points
from sightline.metric.yardsticks.words import parse_known, parse_length
from sightline.types import DepthMap, Kind

#: A cloud or mesh is thinned evenly to at most this many points.
MAX_POINTS = 1_500_000
#: Metres of a step of the 16-bit maps that sensors and data sets have.
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


def load_tools(options: Yardsticks, notify: Callable[[str], None] | None = None) -> Tools:
    """Load the models that `options` name."""
    estimator = load(
        options.model,
        size=options.size,
        threads=options.threads,
        accept_licence=options.accept_licence,
    )
    if estimator.spec.kind is not Kind.RELATIVE_DISPARITY:
        raise InputError(
            f"{estimator.name} gives metres itself", remedy="use sightline depth, or another model"
        )
    finder = painter = irises = None
    if options.people and options.meshes is None:
        from sightline.metric.people.blazepose import BlazePoseFinder

        try:
            finder = BlazePoseFinder(least=options.sure, threads=options.threads, notify=notify)
        except InputError as error:
            if options.painter is not None or not options.gives_yardsticks:
                raise _or_without(error) from error
            if notify is not None:
                notify(f"people are not looked for: {error}")
    if options.painter is not None:
        from sightline.metric.painters.diffusion import load_painter

        painter = load_painter(
            options.painter, steps=options.painter_steps, short_side=options.painter_side
        )
    if options.iris:
        try:
            irises = IrisFinder(threads=options.threads, notify=notify)
        except InputError as error:
            raise _or_without(error) from error
    return Tools(estimator, finder, painter, irises)


def _or_without(error: InputError) -> InputError:
    """Add to a network that cannot be had what can be measured by without one."""
    others = "or measure without it: --no-people with --length, --depth-at, --box, --camera-height "
    remedy = f"{error.remedy}; " if error.remedy else ""
    return InputError(error.problem, path=error.path, remedy=f"{remedy}{others}or --measured")


def known_of(options: Yardsticks) -> Known:
    """Read what the user knows."""
    measured = None
    if options.measured is not None:
        measured = _measured(options.measured, options.measured_unit)
        if not measured.is_metric:
            raise InputError("has no unit, so it measures nothing", path=options.measured)
    return Known(
        tuple(parse_known(text, 4) for text in options.length),
        tuple(point for text in options.depth_at for point in _points(text)),
        tuple(parse_known(text, 4) for text in options.box),
        None if options.camera_height is None else parse_length(options.camera_height),
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
    from sightline.depth.training.labels import read_grey

    steps = read_grey(path)
    if steps.dtype != np.uint16:
        raise InputError(
            f"is a PNG of 8 bits, which cannot hold depth in steps of {unit}",
            path=path,
            remedy="save it with 16 bits, as the sensor gave it",
        )
    values = steps.astype(np.float32) * np.float32(UNITS[unit])
    return DepthMap(values, Kind.METRIC_DEPTH, steps > 0, source=f"{path.name} in {unit}")


def _points(text: str) -> list[Point]:
    """Read `x,y=3.2m`, or a table of such."""
    return read_points(text) if _is_table(text) else [parse_known(text, 2)]


def _is_table(text: str) -> bool:
    return text.lower().endswith(".csv")


def metres_of(
    picture: Picture,
    known: Known,
    tools: Tools,
    options: Yardsticks,
    on_painting: OnPainting | None = None,
) -> Metres:
    """Estimate metres of a picture that has been read.

    Args:
        picture: any.
        known: what is known of it.
        tools: models.
        options: everything else.
        on_painting: told after every painting how many were made and accepted.
    """
    known.check(picture.width, picture.height)  # mistakes are told before the work begins
    refuse_blank(picture.pixels, floor=known.camera_height is not None)
    lens = lens_of(picture.pixels, picture.camera, options.fov)
    camera = lens.camera

    def infer(pixels: NDArray[np.uint8]) -> DepthMap:
        return tools.estimator.infer(pixels, camera=camera)

    relative = tools.estimator.infer(picture, camera=camera, sigma=options.sigma)
    finder = tools.finder
    if options.meshes is not None:
        finder = FolderFinder(options.meshes, None if picture.path is None else picture.path.stem)
    metres = estimate(
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
    if is_moved(metres.fit):
        reasons.append("the yardsticks")
    found = {"lens_found_by": " and ".join(reasons)} if reasons else {}
    told = [lens.warning] if lens.warning else []
    told += [f"{text} has no unit and is taken for metres" for text in _without_unit(options)]
    return replace(metres, sources={**metres.sources, **found}, warnings=(*metres.warnings, *told))


def _paint_config(options: Yardsticks, painter: DiffusionPainter | None) -> PaintConfig | None:
    """Say how many are to be painted, as many at once as suits the painter."""
    if painter is None:
        return None
    return PaintConfig(options.paintings, painter.batch, options.attempts, options.seed)


def _without_unit(options: Yardsticks) -> list[str]:
    """Return those of the given lengths that are numbers alone."""
    height = () if options.camera_height is None else (options.camera_height,)
    given = (*options.length, *options.depth_at, *options.box, *height)
    lengths = ((text, text.rpartition("=")[2]) for text in given if not _is_table(text))
    return [text for text, length in lengths if _NUMBER_ALONE.match(length)]


def write(picture: Picture, metres: Metres, outputs: dict[str, Path], palette: Palette) -> None:
    """Write the files of one picture, by format."""
    for kind, path in outputs.items():
        match kind:
            case "npz":
                depth_files.write_depth(path, metres.depth)
            case "json":
                write_text(path, _record(metres))
            case "color":
                color.write_color(path, metres.depth, palette=palette)
            case "ply" | "glb":
                points = to_points(
                    metres.depth, picture.pixels, mesh=kind == "glb", max_points=MAX_POINTS
                )
                clouds.write_points(path, points)


def _record(metres: Metres) -> str:
    """Return what is known of metres as JSON; what only measuring in the map needs is its last line."""
    said = json.dumps(metres.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    fit = json.dumps(to_record(metres.fit), allow_nan=False)
    return f'{said.removesuffix("}").rstrip()},\n "fit": {fit}\n}}\n'
