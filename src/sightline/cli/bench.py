"""`sightline bench NAME DIR`: evaluate a depth model on a benchmark."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from sightline.config import Flag, ParallelConfig
from sightline.errors import InputError

if TYPE_CHECKING:
    from sightline.benchmarks.run import BenchmarkReport


# The choices of `benchmarks.protocol`, repeated because that needs numpy; a test holds them together.
Align = Literal["disparity", "depth", "scale", "median", "log", "moge-scale", "moge-affine", "none"]
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
    accept_license: Flag = False,
    parallel: Annotated[ParallelConfig, Parameter(name="*")] = ParallelConfig(),  # noqa: B008
) -> None:
    """Evaluate a depth model on a benchmark; without arguments, list the benchmarks.

    Args:
        name: name of the benchmark.
        folder: its folder, in the layout of its release.
        model: name of a model (see `sightline models`), path of a weight file, or hf:REPO for a
            transformers model.
        predictions: folder of depth maps, one per image, to evaluate instead of a model.
        predictions_kind: kind of the values in plain .npy files or of a transformers model.
        protocol: evaluation protocol. set: the usual one of the benchmark; mfh: metric evaluation with
            the crops and ranges of Metric from Human.
        align: alignment of each image: scale and shift in disparity or depth, scale only, median
            scale, log-depth scale, the robust fits of MoGe, or none (metric). Default: disparity; with
            mfh, none.
        space: space in which errors are measured.
        cap: maximum depth in meters. Default: that of the protocol.
        crop: evaluated part of the image; set: that of the protocol.
        every: use every n-th image only.
        keep_going: continue if images are missing or damaged.
        json: file for all results as JSON, including every image.
        markdown: file for the table as Markdown.
        size: shorter side of the network's input in pixels. Default: the model's own.
        threads: number of CPU threads. Default: all cores.
        sharpen: sharpen depth edges. Default: on for the models that come with Sightline.
        accept_license: accept the model's non-commercial license.
        parallel: where to run.
    """
    from sightline.benchmarks.predictors import load_predictor
    from sightline.benchmarks.protocol import choose_protocol
    from sightline.benchmarks.run import run
    from sightline.benchmarks.samples import IncompleteError, few
    from sightline.benchmarks.sets import describe_sets, find
    from sightline.cli.progress import progress

    if name is None:
        print(describe_sets())
        print("\nsightline bench NAME DIR [--model NAME|FILE|hf:REPO] [--predictions FOLDER]")
        return
    benchmark = find(name)
    if folder is None:
        layout = "; ".join(benchmark.layout)
        raise InputError(f"where is {name}?", remedy=f"give a folder with {layout}")
    asked = choose_protocol(
        benchmark, protocol, align=align, space=space, cap=cap, crop=None if crop == "set" else crop
    )
    load = partial(
        load_predictor,
        model,
        predictions,
        predictions_kind,
        size=size,
        sharpen=sharpen,
        accept_license=accept_license,
    )
    try:
        with redirect_stdout(sys.stderr), progress(1, "bench") as display:  # Ray prints to stdout
            report = run(
                benchmark,
                folder,
                load(threads=threads),
                asked,
                every=every,
                keep_going=keep_going,
                on_done=display.step,
                parallel=parallel,
                load=load,
                threads=threads,
            )
    except IncompleteError as error:
        _complain(error.failures)
        raise
    _complain(few(report.failures))
    _save(report, json, markdown)
    _show(report)


def _complain(failures: tuple[str, ...]) -> None:
    for line in failures:
        print(f"  {' '.join(line.split())}", file=sys.stderr)


def _save(report: BenchmarkReport, json: Path | None, markdown: Path | None) -> None:
    from sightline.benchmarks.report import as_json, as_markdown
    from sightline.io.atomic import write_text

    if json is not None:
        write_text(json, as_json(report))
    if markdown is not None:
        write_text(markdown, as_markdown(report))


def _show(report: BenchmarkReport) -> None:
    """Print the table: with colors in a terminal, as plain columns into a pipe."""
    from sightline.benchmarks.report import OVERALL, as_text, table

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
        shown.add_row(*row, style="bold" if row[0] == OVERALL else "")
    console = Console()
    console.print(shown)
    console.print(report.line, style="dim", highlight=False)
