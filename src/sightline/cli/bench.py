"""`sightline bench NAME DIR`: score a model on a benchmark set, protocol line included."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from sightline.errors import InputError

if TYPE_CHECKING:
    from sightline.benchmarks.predictors import Predictor
    from sightline.benchmarks.protocol import Protocol
    from sightline.benchmarks.run import Report

#: A switch that is off unless given; the help need not say so.
Flag = Annotated[bool, Parameter(show_default=False)]

# The choices of `benchmarks.protocol`, repeated because that needs numpy; a test holds them together.
Align = Literal["disparity", "depth", "scale", "median", "none"]
Space = Literal["depth", "disparity"]
Crop = Literal["set", "none", "eigen", "garg", "eigen-box", "kb-garg"]


def bench(
    name: Annotated[str | None, Parameter(show_default=False)] = None,
    folder: Annotated[Path | None, Parameter(name="DIR", show_default=False)] = None,
    /,
    *,
    model: str = "default",
    predictions: Path | None = None,
    predictions_kind: Literal["disparity", "depth"] | None = None,
    protocol: Literal["set", "mfh"] = "set",
    align: Align | None = None,
    space: Space = "depth",
    cap: float | None = None,
    crop: Crop = "set",
    every: int = 1,
    keep_going: Flag = False,
    json: Path | None = None,
    markdown: Path | None = None,
    size: int | None = None,
    threads: int | None = None,
    sharpen: Annotated[bool | None, Parameter(negative="--no-sharpen")] = None,
    accept_licence: Flag = False,
) -> None:
    """Score a depth model on a benchmark set; without arguments, list the sets.

    Args:
        name: of the set.
        folder: where it lies, in its own layout.
        model: a name of `sightline models`, a weight file, or `hf:` and a transformers model.
        predictions: score these files instead: a folder with a map for every picture.
        predictions_kind: what plain .npy files, or a transformers model, hold.
        protocol: of the set's usual papers, or of Metric from Human: metres, its crops and ranges.
        align: what is fitted to each picture: scale and shift in disparity or depth, a scale alone, or
            nothing (metric); default: disparity, with mfh none.
        space: where errors are measured.
        cap: farthest distance in metres; default: the set's own.
        crop: part of the picture that counts; default: the set's own.
        every: take every n-th picture, for a quick look.
        keep_going: score what can be scored when pictures are missing or damaged.
        json: write everything to this file, every picture included.
        markdown: write the table to this file.
        size: shorter side of the network's input in pixels.
        threads: on the CPU.
        sharpen: draw outlines as steps instead of slopes; default: for our own models.
        accept_licence: accept a licence that forbids commercial use.
    """
    from sightline.benchmarks.incomplete import few
    from sightline.benchmarks.run import IncompleteError, run
    from sightline.benchmarks.sets import find
    from sightline.cli.progress import progress

    if name is None:
        _list()
        return
    benchmark = find(name)
    if folder is None:
        layout = "; ".join(benchmark.layout)
        raise InputError(f"where is {name}?", remedy=f"give a folder with {layout}")
    own = benchmark.protocol
    if protocol == "mfh":
        from sightline.benchmarks.mfh import protocol_of

        own = protocol_of(name)
    asked = _protocol(own, align, space, cap, crop)
    predictor = _predictor(
        model,
        predictions,
        predictions_kind,
        size=size,
        threads=threads,
        sharpen=sharpen,
        accept_licence=accept_licence,
    )
    try:
        with progress(1, "bench") as display:
            report = run(
                benchmark,
                folder,
                predictor,
                asked,
                every=every,
                keep_going=keep_going,
                on_done=display.frame,
            )
    except IncompleteError as error:
        _complain(error.failures)
        raise
    _complain(few(report.failures))
    _save(report, json, markdown)
    _show(report)


def _protocol(
    own: Protocol, align: Align | None, space: Space, cap: float | None, crop: Crop
) -> Protocol:
    """Return the set's own protocol with what was asked for in its place."""
    from dataclasses import replace

    if cap is not None and not cap > own.near:
        raise InputError(f"a cap of {cap:g} m leaves nothing", remedy="give metres, such as 10")
    crop_asked = own.crop if crop == "set" else crop
    protocol = replace(own, align=align or own.align, space=space, crop=crop_asked)
    if cap is None:
        return protocol
    return replace(protocol, cap=cap, far=None if own.far is None else cap)


def _predictor(
    model: str,
    predictions: Path | None,
    numbers: Literal["disparity", "depth"] | None,
    **options: Any,
) -> Predictor:
    from sightline.benchmarks.hub_models import PREFIX, HubModel
    from sightline.benchmarks.predictors import Folder, Model

    if predictions is not None:
        return Folder(predictions, numbers)
    if model.startswith(PREFIX):
        return HubModel(model.removeprefix(PREFIX), numbers)
    import sightline

    return Model(sightline.load(model, **options))


def _list() -> None:
    """Print the sets: what each is, how its folder looks, where to get it."""
    from sightline.benchmarks.sets import SETS

    for one in SETS:
        count = "" if one.expected is None else f", {one.expected:,} pictures"
        print(f"{one.name}: {one.title}{count}")
        for line in one.layout:
            print(f"    DIR/{line.removeprefix('DIR/')}")
        print(f"  from {one.source}")
        if one.average != "pairs":
            print(f"  {one.protocol}")
    print("\nsightline bench NAME DIR [--model NAME|FILE|hf:REPO] [--predictions FOLDER]")


def _complain(failures: tuple[str, ...]) -> None:
    for line in failures:
        print(f"  {' '.join(line.split())}", file=sys.stderr)


def _save(report: Report, json: Path | None, markdown: Path | None) -> None:
    from sightline.benchmarks.report import as_json, as_markdown
    from sightline.files.atomic import write_text

    if json is not None:
        write_text(json, as_json(report))
    if markdown is not None:
        write_text(markdown, as_markdown(report))


def _show(report: Report) -> None:
    """Print the table: with colours in a terminal, as plain columns into a pipe."""
    from sightline.benchmarks.report import as_text, table

    if not sys.stdout.isatty():
        sys.stdout.write(as_text(report))
        return
    from rich.console import Console
    from rich.table import Table

    heading, *rows = table(report)
    shown = Table(box=None, header_style="bold", pad_edge=False)
    for column, text in enumerate(heading):
        shown.add_column(text, justify="left" if column == 0 else "right", no_wrap=True)
    for row in rows:
        shown.add_row(*row, style="bold" if row is rows[-1] else "")
    console = Console()
    console.print(shown)
    console.print(report.line, style="dim", highlight=False)
