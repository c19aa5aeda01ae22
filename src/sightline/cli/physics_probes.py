"""`sightline physics probes`: which probes there are."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from sightline.physics.probes import Probe

_COLUMNS = (
    "name",
    "question",
    "trains on",
    "videos",
    "tests on",
    "videos",
    "read by",
    "in the paper",
)


def probes() -> int:
    """List the probes with their question, training set, test set and metric.

    A terminal shows a table; a pipe receives one line per probe, separated by tabs.
    """
    from sightline.physics.probes import PROBES

    listed = list(PROBES.values())
    if sys.stdout.isatty():
        from rich.console import Console

        show(listed, Console())
    else:
        rows = [_COLUMNS, *(_row(probe) for probe in listed)]
        sys.stdout.writelines("\t".join(row) + "\n" for row in rows)
    return 0


def show(listed: Sequence[Probe], console: Console) -> None:
    """Print the listing for people: probes that are read alike together."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from sightline.physics.probes import describe

    for reading, group in groupby(listed, key=lambda probe: probe.reading):
        console.print(Text(f"\nRead by {reading.figure}.", style="bold"))
        console.print(f"In the paper: {reading.found}.", highlight=False)
        for probe in group:
            console.print(Text.assemble("\n", (probe.name, "cyan"), f"  {probe.question}"))
            table = Table.grid(padding=(0, 2))
            table.add_row("trains on", f"{describe(probe.train)} ({probe.train_count:,} videos)")
            table.add_row("tests on", f"{describe(probe.test)} ({probe.test_count:,} videos)")
            console.print(Padding(table, (0, 0, 0, 2)), highlight=False)
    console.print(
        "\n[bold]sightline physics make probe:NAME --part train --out train.h5[/] makes what a probe "
        "trains on, [bold]--part test[/] what it tests on.",
        highlight=False,
    )


def _row(probe: Probe) -> tuple[str, ...]:
    from sightline.physics.probes import describe

    return (
        probe.name,
        probe.question,
        describe(probe.train),
        str(probe.train_count),
        describe(probe.test),
        str(probe.test_count),
        probe.reading.figure,
        probe.reading.found,
    )
