"""`sightline scenes`: make synthetic pictures with exact depth, and look at them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter, Token

from sightline.batch.options import Flag
from sightline.errors import InputError

if TYPE_CHECKING:
    from sightline.scenes.run import Outcome
    from sightline.scenes.show import Panel

app = App(name="scenes", help="Make synthetic pictures with exact depth, and look at them.")

#: Failures that are told one by one; a bug makes many of the same.
TOLD = 10


def _comma_list(_type: Any, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Read `room,street` as a tuple."""
    words = (word.strip() for token in tokens for word in token.value.split(","))
    return tuple(word for word in words if word)


Kinds = Annotated[tuple[str, ...] | None, Parameter(converter=_comma_list, n_tokens=1)]


@app.command
def make(
    *,
    count: int,
    out: Path,
    size: str = "320x256",
    seed: int = 0,
    start: int = 0,
    kinds: Kinds = None,
    textures: Path | None = None,
    workers: int | None = None,
    cluster: Flag = False,
    address: str | None = None,
) -> int:
    """Make scenes: pictures with exact depth, camera, and a mask and box for every thing.

    The same command again makes only what is missing. Every scene follows from the seed and its
    number, so several runs can share the work by `start`.

    Args:
        count: how many.
        out: folder for them; one folder has one seed and size.
        size: width x height in pixels.
        seed: of all random choices.
        start: number of the first one.
        kinds: kinds of scenes to choose from, separated by commas; default: all.
        textures: folder of photographs to put on some of the surfaces. The scenes are then not free
            of other people's pictures.
        workers: processes that share the work; default: one per core.
        cluster: work on Ray instead of processes of this machine.
        address: of the Ray cluster, such as auto or ray://host:10001; default: RAY_ADDRESS, else one
            of this machine alone.
    """
    from sightline.cli.progress import progress
    from sightline.scenes.run import make_scenes
    from sightline.scenes.spec import MOST, SceneSpec, parse_size

    if count < 1 or start < 0 or start + count > MOST:
        raise InputError(f"scenes are numbered from 0 to {MOST - 1:,}, got {count} from {start}")
    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    if address is not None and not cluster:
        raise InputError("--address is that of a cluster", remedy="add --cluster")
    width, height = parse_size(size)
    folder = None if textures is None else str(textures.absolute())
    spec = SceneSpec(seed, width, height, kinds, folder)
    begin = time.perf_counter()
    outcomes: list[Outcome] = []
    results = make_scenes(
        spec,
        out,
        range(start, start + count),
        workers=workers,
        cluster=cluster,
        address=address,
    )
    try:
        with (
            redirect_stdout(sys.stderr),  # where Ray's own remarks belong
            progress(count, "scenes") as display,
            closing(results),
        ):
            for outcome in results:
                outcomes.append(outcome)
                display.advance()
    except KeyboardInterrupt as stop:
        done = sum(outcome.failure is None for outcome in outcomes)
        raise type(stop)(
            f"stopped with {done} of {count} scenes; the same command goes on"
        ) from None
    return _report(outcomes, out, time.perf_counter() - begin)


def _report(outcomes: Sequence[Outcome], out: Path, seconds: float) -> int:
    """Print what was made, and what was not, and return the exit code."""
    from sightline.batch.outcome import one_line

    failures = [outcome for outcome in outcomes if outcome.failure is not None]
    skipped = sum(outcome.skipped for outcome in outcomes)
    made = len(outcomes) - skipped - len(failures)
    parts = [f"{made} made"]
    if skipped:
        parts.append(f"{skipped} made before")
    if failures:
        parts.append(f"{len(failures)} failed")
    stream = sys.stderr if failures else sys.stdout
    print(f"{', '.join(parts)} in {seconds:.1f} s, scenes in {out}", file=stream)
    for outcome in failures[:TOLD]:
        print(f"  scene {outcome.index}: {one_line(outcome.failure)}", file=stream)
    if len(failures) > TOLD:
        print(f"  and {len(failures) - TOLD} more", file=stream)
    return max((o.failure.exit_code for o in failures if o.failure is not None), default=0)


@app.command
def show(
    folder: Annotated[Path | None, Parameter(name="DIR")] = None,
    /,
    *,
    out: Path = Path("scenes.png"),
    count: int = 24,
    seed: int = 0,
    size: str = "320x256",
    kinds: Kinds = None,
    textures: Path | None = None,
) -> int:
    """Draw a contact sheet of scenes: picture, depth, things.

    Args:
        folder: a folder of scenes; without it, fresh ones are made for the sheet.
        out: the sheet, a PNG file.
        count: how many scenes.
        seed: of the fresh scenes, or of the choice from the folder.
        size: of fresh scenes: width x height in pixels.
        kinds: of fresh scenes: kinds to choose from, separated by commas.
        textures: of fresh scenes: folder of photographs to put on some of the surfaces.
    """
    from sightline.cli.progress import progress
    from sightline.scenes.show import write_sheet

    if count < 1:
        raise InputError(f"count must be at least 1, got {count}")
    if out.suffix.lower() != ".png":
        raise InputError("a contact sheet is written as .png", path=out)
    if folder is not None:
        panels = _from_folder(folder, count, seed)
    else:
        panels = _fresh(count, seed, size, kinds, textures)
    shown = []
    with progress(count, "scenes") as display:
        for panel in panels:
            shown.append(panel)
            display.advance()
    write_sheet(out, shown)
    print(out)
    return 0


def _from_folder(folder: Path, count: int, seed: int) -> Iterator[Panel]:
    """Choose scenes of a folder at random and read them, by number."""
    import numpy as np

    from sightline.scenes.read import list_scenes, read_scene
    from sightline.scenes.show import stored_panel

    there = list_scenes(folder)
    if not there:
        raise InputError("no scene in this folder", path=folder)
    rng = np.random.default_rng(seed)
    chosen = sorted(rng.choice(there, min(count, len(there)), replace=False).tolist())
    return (stored_panel(read_scene(folder, index)) for index in chosen)


def _fresh(
    count: int, seed: int, size: str, kinds: tuple[str, ...] | None, textures: Path | None
) -> Iterator[Panel]:
    """Make the first scenes of a seed."""
    from sightline.scenes.make import make_scene
    from sightline.scenes.photos import PhotoTextures
    from sightline.scenes.show import fresh_panel
    from sightline.scenes.spec import SceneSpec, parse_size

    spec = SceneSpec(seed, *parse_size(size), kinds)
    photos = None if textures is None else PhotoTextures(textures)
    return (
        fresh_panel(
            make_scene(
                spec.seed,
                index,
                width=spec.width,
                height=spec.height,
                kinds=spec.kinds,
                textures=photos,
            )
        )
        for index in range(count)
    )
