"""`sightline duel A B … --sets DIR`: compare depth models on the same pictures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sightline.config import Flag


def duel(
    models: Annotated[list[str], Parameter(name="MODEL", show_default=False)],
    /,
    *,
    sets: Annotated[list[str], Parameter(consume_multiple=True, negative=())],
    protocols: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=())] = (),
    every: int = 1,
    keep_going: Flag = False,
    out: Path | None = None,
    threads: int | None = None,
) -> None:
    """Compare depth models on the same pictures, under every common protocol.

    Prints means and paired differences with 95 % bootstrap intervals over scenes and over pictures.

    Args:
        models: two or more: names (see `sightline models`), weight files, hf:REPO, or folders of depth
            maps; with @depth or @disparity behind a folder of plain .npy files.
        sets: folders of benchmark sets, as DIR or NAME=DIR.
        protocols: names of protocols. Default: all that can judge the models.
        every: use every n-th image only.
        keep_going: continue if images are missing or damaged.
        out: folder for duel.json, duel.md and duel.html of each set.
        threads: number of CPU threads. Default: all cores.
    """
    from sightline.benchmarks.comparison import duel as compare
    from sightline.benchmarks.comparison import load_contenders
    from sightline.benchmarks.comparison_report import (
        as_json,
        as_markdown,
        as_text,
        write_report_page,
    )
    from sightline.benchmarks.samples import IncompleteError
    from sightline.benchmarks.sets import locate
    from sightline.cli.progress import progress
    from sightline.io.atomic import write_text

    places = [locate(place) for place in sets]
    loaded = load_contenders(models, threads)
    for benchmark, folder in places:
        try:
            with progress(1, f"duel {benchmark.name}") as display:
                report = compare(
                    loaded,
                    folder,
                    name=benchmark.name,
                    protocols=protocols,
                    every=every,
                    keep_going=keep_going,
                    on_done=display.step,
                )
        except IncompleteError as error:
            for line in error.failures:
                print(f"  {' '.join(line.split())}", file=sys.stderr)
            raise
        sys.stdout.write(as_text(report))
        if out is not None:
            place = out if len(places) == 1 else out / f"{benchmark.name}-{folder.name}"
            write_text(place / "duel.json", as_json(report))
            write_text(place / "duel.md", as_markdown(report))
            write_report_page(place / "duel.html", report, loaded)
            print(place / "duel.html", file=sys.stderr)
