"""`sightline metric INPUT... --out DIR`: depth in metres, by things of known size."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, Token

from sightline.errors import InputError
from sightline.metric.options import MetricOptions

if TYPE_CHECKING:
    from sightline.batch.naming import Job
    from sightline.batch.outcome import Outcome
    from sightline.metric.estimate import Known, Metres
    from sightline.metric.head.fit import ClueReport
    from sightline.metric.painters.yardsticks import OnPainting
    from sightline.metric.work import Tools

_FORMATS = ("npz", "color", "ply", "glb")


def _formats(_type: Any, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Read `npz,ply` as a tuple without repeats."""
    words = [word.strip() for token in tokens for word in token.value.split(",")]
    for word in words:
        if word not in _FORMATS:
            raise ValueError(f'"{word}" is none of {", ".join(_FORMATS)}')
    return tuple(name for name in _FORMATS if name in words)


def metric(
    inputs: Annotated[list[str], Parameter(name="INPUT")],
    /,
    *,
    out: Path = Path("metric"),
    save: Annotated[
        tuple[str, ...], Parameter(converter=_formats, n_tokens=1, show_choices=False)
    ] = ("npz", "color"),
    options: Annotated[MetricOptions, Parameter(name="*")] = MetricOptions(),  # noqa: B008 - frozen
) -> int:
    """Turn pictures into metres, with an error bar, by people in them or by what you know.

    Beside the files asked for, a .json says which yardsticks were used and how far each one agrees.

    Args:
        inputs: pictures, folders, or quoted globs.
        out: folder for the results.
        save: files to write, separated by commas: npz (metres, sigma, camera), color (picture with
            legend), ply (points in metres), glb (mesh in metres).
        options: everything else; one flag per field.
    """
    from sightline.batch.manifest import Manifest
    from sightline.cli.depth import report
    from sightline.cli.progress import progress
    from sightline.metric.work import known_of, load_tools

    start = time.perf_counter()
    manifest = Manifest(out)
    jobs = _jobs(inputs, out, save, options, manifest.outputs())
    known = known_of(options)
    tools = load_tools(options, _tell)
    outcomes: list[Outcome] = []
    with progress(len(jobs), "metres") as display, manifest.working(jobs, "metric"):

        def on_painting(made: int, accepted: int) -> None:
            display.note(f"{made} painted, {accepted} of {options.paintings} with people")

        for job in jobs:
            outcome, metres = _one(job, known, tools, options, on_painting)
            outcomes.append(outcome)
            display.advance()
            if outcome.failure is not None and not options.keep_going:
                raise outcome.failure
            if metres is not None:
                manifest.finish(job)
                _say(job, metres)
    return report(outcomes, out, time.perf_counter() - start)


def _jobs(
    inputs: Sequence[str],
    out: Path,
    save: tuple[str, ...],
    options: MetricOptions,
    own: AbstractSet[Path],
) -> list[Job]:
    """Find the pictures and decide where each result goes, the record of yardsticks included.

    Args:
        inputs: pictures, folders, globs.
        out: folder for the results.
        save: formats.
        options: what they are asked for.
        own: places of results of earlier runs, which are no inputs and may be replaced.
    """
    from sightline.batch.inputs import expand
    from sightline.batch.naming import plan, spare_the_users_files

    sources = expand(inputs, recursive=options.recursive, out=out, own=own)
    videos = [source.path for source in sources if source.is_video]
    if videos:
        raise InputError("metres are for pictures, not for videos", path=videos[0])
    if options.about_one_picture and len(sources) > 1:
        raise InputError(
            f"lengths, depths, boxes and measured maps belong to one picture, got {len(sources)}",
            remedy="give one picture",
        )
    jobs = []
    for job in plan(sources, out, save, own):  # type: ignore[arg-type]
        record = out / f"{job.key}.json"
        spare_the_users_files(job.source, [record], own)
        jobs.append(replace(job, outputs=(*job.outputs, ("json", record))))  # type: ignore[arg-type]
    return jobs


def _one(
    job: Job, known: Known, tools: Tools, options: MetricOptions, on_painting: OnPainting
) -> tuple[Outcome, Metres | None]:
    """Do one picture; a failure is an outcome."""
    from sightline.batch.outcome import Outcome, failed
    from sightline.files.pictures import read_picture
    from sightline.files.reading import naming
    from sightline.metric.work import metres_of, write

    begin = time.perf_counter()
    try:
        picture = read_picture(job.source, max_pixels=options.max_pixels)
        with naming(job.source):
            metres = metres_of(picture, known, tools, options, on_painting)
        write(picture, metres, dict(job.outputs), options.palette)
    except Exception as error:
        return failed(job, error, time.perf_counter() - begin), None
    depth = metres.depth
    camera = "" if depth.camera is None else str(depth.camera.source)
    return (
        Outcome(
            job,
            kind=depth.kind.value,
            unit=depth.unit,
            width=depth.width,
            height=depth.height,
            camera=camera,
            seconds=time.perf_counter() - begin,
        ),
        metres,
    )


def _say(job: Job, metres: Metres) -> None:
    """Print what was found, by what, and what to beware of."""
    depth = metres.depth
    near, far = (float(value) for value in _ends(metres))
    bar = f"± {metres.usual_sigma:.0%} in all (yardsticks, lens, relative depth)"
    print(f"{job.source}: {near:.2f} to {far:.2f} m (98 % of it), {bar}, by")
    for clue in metres.fit.clues:
        print(f"  {told(clue, alone=len(metres.fit.clues) == 1)}")
    for warning in metres.warnings:
        _tell(f"  note: {warning}")
    if depth.camera is not None:
        by = metres.sources.get("lens_found_by", "")
        print(f"  lens: {depth.camera.fov:.0f}° wide, {depth.camera.source}{by and f' by {by}'}")


def told(clue: ClueReport, *, alone: bool) -> str:
    """Say in a line what became of a yardstick: how sure it is, and how far the result is from it."""
    import math

    line = f"{clue.name} (± {clue.sigma:.0%} by itself)"
    if alone:
        return line
    share = math.expm1(clue.off)
    agrees = "agrees" if abs(share) < 0.005 else f"the result is {share:+.0%} from it"
    return f"{line}: {agrees}" + (", contradicts the others" if clue.contradicts else "")


def _ends(metres: Metres) -> Any:
    import numpy as np

    values = metres.depth.values[metres.depth.valid]
    return np.quantile(values, [0.01, 0.99]) if len(values) else (float("nan"),) * 2


def _tell(line: str) -> None:
    print(line, file=sys.stderr)
