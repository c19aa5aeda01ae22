"""`sightline models`: list and download models."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from sightline.errors import InputError, SightlineError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from sightline.models.download import Notify
    from sightline.models.entry import ModelEntry

app = App(name="models", help="List and download models.")

app.command("sightline.cli.int8:int8", name="int8", help="Quantize a model to int8.")
app.command(
    "sightline.cli.cards:cards", name="cards", help="Write the model cards as an HTML page."
)

#: Of models by purpose.
HEADINGS = {
    "depth": "Depth",
    "encoder": "Encoders to start a depth network from",
    "tokens": "Depth as tokens",
    "people": "People",
    "faces": "Faces",
    "inpainting": "Inpainting",
    "similarity": "Similarity of pictures",
    "video": "Video",
    "language": "Language",
}

_COLUMNS = ("name", "purpose", "size", "license", "commercial", "trained on", "source", "here")


@app.default
def list_models(*, json: bool = False) -> None:
    """List every model with size, license, training data, source, and whether it is downloaded.

    In a pipe, print one line per model with fields separated by tabs.

    Parameters
    ----------
    json
        Print JSON.
    """
    from sightline.models.download import locate
    from sightline.models.registry import ENTRIES

    listed = [(entry, locate(entry)) for entry in ENTRIES]
    if json:
        rows = [_as_json(entry, path) for entry, path in listed]
        sys.stdout.write(json_format.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    elif sys.stdout.isatty():
        from rich.console import Console

        show(listed, Console())
    else:
        rows_of_text = [_COLUMNS, *(_as_row(entry, path) for entry, path in listed)]
        sys.stdout.writelines("\t".join(row) + "\n" for row in rows_of_text)


@app.command
def get(
    *names: str,
    all_open: Annotated[bool, Parameter(negative="")] = False,
    accept_license: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Download models and print their paths.

    Parameters
    ----------
    names
        Names listed by `sightline models`.
    all_open
        Download all models whose license allows commercial use.
    accept_license
        Accept the non-commercial licenses of these models; the choice is stored.
    """
    from sightline.models.download import resolve
    from sightline.models.registry import ENTRIES
    from sightline.models.registry import get as lookup

    wanted = [lookup(name) for name in names]
    if all_open:
        wanted += [entry for entry in ENTRIES if entry.commercial and entry not in wanted]
    if not wanted:
        raise InputError(
            "no model named", remedy="give a name or --all-open; see `sightline models`"
        )
    failures: list[SightlineError] = []
    for entry in wanted:
        try:
            with _progress() as notify:
                found = resolve(entry.name, accept=accept_license, notify=notify)
        except SightlineError as error:
            if len(wanted) == 1:
                raise
            failures.append(error)
            sys.stderr.write(f"sightline: {error}\n")
        else:
            sys.stdout.write(f"{entry.name}\t{found.path}\n")
    if failures:
        line = f"{len(failures)} of {len(wanted)} models could not be fetched"
        ours = any(error.exit_code == SightlineError.exit_code for error in failures)
        raise SightlineError(line) if ours else InputError(line)


@app.command
def path(name: str) -> None:
    """Print the path of a downloaded model.

    Parameters
    ----------
    name
        Name listed by `sightline models`.
    """
    from sightline.models.download import locate
    from sightline.models.registry import get as lookup

    entry = lookup(name)
    found = locate(entry)
    if found is None:
        raise InputError(
            f"{entry.name} is not on this machine",
            remedy=f"run `sightline models get {entry.name}`",
        )
    sys.stdout.write(f"{found}\n")


def show(listed: Sequence[tuple[ModelEntry, Path | None]], console: Console) -> None:
    """Print the listing for people: two lines a model, legible from 80 columns up."""
    from rich.padding import Padding
    from rich.text import Text

    width = max(len(entry.name) for entry, _ in listed)
    for purpose, group in groupby(listed, key=lambda pair: pair[0].purpose):
        console.print(Text(f"\n{HEADINGS[purpose]}", style="bold"))
        for entry, here in group:
            console.print(_first_line(entry, here, width))
            detail = Text(f"{entry.source.label} · {entry.trained_on}", style="dim")
            console.print(Padding(detail, (0, 0, 0, 2), expand=False))
    console.print(
        "\n[green]●[/] here   ○ fetched at first use, or by [bold]sightline models get NAME[/]\n"
        "[yellow]nc[/] not free for commercial use; accept it once with [bold]--accept-license[/]\n"
        "Second lines: where it comes from · what it was trained on. "
        "Checksums are pinned; that of a hub file is kept from its first download.",
        highlight=False,
    )


def _first_line(entry: ModelEntry, here: Path | None, width: int) -> Text:
    from rich.text import Text

    nicknames = [alias for alias in entry.aliases if "/" not in alias]
    mark = ("● ", "green") if here else ("○ ", "")
    license = (entry.license, "") if entry.commercial else (f"{entry.license} nc", "yellow")
    line = Text.assemble(
        mark, (f"{entry.name:{width}}", "cyan"), f" {entry.size_text:>7}  ", license
    )
    return line.append(f"  = {', '.join(nicknames)}", style="bold") if nicknames else line


def _as_row(entry: ModelEntry, here: Path | None) -> tuple[str, ...]:
    return (
        entry.name,
        entry.purpose,
        entry.size_text,
        entry.license,
        "yes" if entry.commercial else "no",
        entry.trained_on,
        entry.source.label,
        "yes" if here else "no",
    )


def _as_json(entry: ModelEntry, here: Path | None) -> dict[str, Any]:
    from dataclasses import asdict

    source = {"kind": type(entry.source).__name__, **asdict(entry.source)}
    rest = {"checksum": entry.checksum_rule, "path": None if here is None else str(here)}
    return {**asdict(entry), "source": source, **rest}


@contextmanager
def _progress() -> Iterator[Notify]:
    """Say on the error stream what is being fetched; with a spinner when that is a terminal.

    huggingface-hub draws a bar of its own, so nothing turns beside it.
    """
    from rich.console import Console

    console = Console(stderr=True)
    status = console.status("")

    def notify(line: str) -> None:
        console.print(line, highlight=False, soft_wrap=True)
        if console.is_terminal and " from hub " not in line:
            status.update("pip or npm is at work")
            status.start()

    try:
        yield notify
    finally:
        status.stop()
