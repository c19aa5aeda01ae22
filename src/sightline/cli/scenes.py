"""`sightline scenes`: generate synthetic pictures with exact depth, and view them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter, Token

from sightline.config import Flag
from sightline.errors import InputError

if TYPE_CHECKING:
    from sightline.scenes.contact_sheet import ScenePanel
    from sightline.scenes.dataset import SceneOutcome

app = App(name="scenes", help="Generate synthetic pictures with exact depth, and view them.")

#: Failures that are reported one by one.
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
    """Generate scenes: pictures with exact depth, camera, instance masks and boxes.

    Running the command again generates only missing scenes. A scene depends only on the seed and its
    index, so several runs can share the work by `start`.

    Args:
        count: number of scenes.
        out: output folder; a folder holds one seed and size.
        size: width x height in pixels.
        seed: random seed.
        start: index of the first scene.
        kinds: kinds of scenes to choose from, separated by commas; default: the standard mix.
        textures: folder of photographs for some of the surfaces; their license then applies to the
            scenes too.
        workers: number of processes; default: one per core.
        cluster: use Ray instead of local processes.
        address: address of the Ray cluster, such as auto or ray://host:10001; default: RAY_ADDRESS,
            else a local one.
    """
    from sightline.cli.progress import progress
    from sightline.scenes.config import MAX_SCENES, SceneSpec, parse_size
    from sightline.scenes.dataset import write_scenes

    if count < 1 or start < 0 or start + count > MAX_SCENES:
        raise InputError(
            f"scenes are numbered from 0 to {MAX_SCENES - 1:,}, got {count} from {start}"
        )
    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    if address is not None and not cluster:
        raise InputError("--address is that of a cluster", remedy="add --cluster")
    width, height = parse_size(size)
    folder = None if textures is None else str(textures.absolute())
    spec = SceneSpec(seed, width, height, kinds, folder)
    begin = time.perf_counter()
    outcomes: list[SceneOutcome] = []
    results = write_scenes(
        spec,
        out,
        range(start, start + count),
        workers=workers,
        cluster=cluster,
        address=address,
    )
    try:
        with (
            redirect_stdout(sys.stderr),  # Ray prints to stdout
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


def _report(outcomes: Sequence[SceneOutcome], out: Path, seconds: float) -> int:
    """Print the numbers of written, existing and failed scenes; return the exit code."""
    from sightline.errors import one_line

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
    """Draw a contact sheet of scenes: picture, depth, instances.

    Args:
        folder: folder of scenes; without it, new scenes are generated for the sheet.
        out: output PNG file.
        count: number of scenes.
        seed: random seed of new scenes, or of the selection from the folder.
        size: size of new scenes, width x height in pixels.
        kinds: kinds of new scenes to choose from, separated by commas.
        textures: folder of photographs for some of the surfaces of new scenes.
    """
    from sightline.cli.progress import progress
    from sightline.scenes.contact_sheet import write_contact_sheet

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
    write_contact_sheet(out, shown)
    print(out)
    return 0


def _from_folder(folder: Path, count: int, seed: int) -> Iterator[ScenePanel]:
    """Select scenes of a folder at random and read them, by index."""
    import numpy as np

    from sightline.scenes.contact_sheet import panel_from_stored
    from sightline.scenes.storage import list_scenes, read_scene

    there = list_scenes(folder)
    if not there:
        raise InputError("no scene in this folder", path=folder)
    rng = np.random.default_rng(seed)
    chosen = sorted(rng.choice(there, min(count, len(there)), replace=False).tolist())
    return (panel_from_stored(read_scene(folder, index)) for index in chosen)


def _fresh(
    count: int, seed: int, size: str, kinds: tuple[str, ...] | None, textures: Path | None
) -> Iterator[ScenePanel]:
    """Generate the first scenes of a seed."""
    from sightline.scenes.config import SceneSpec, parse_size
    from sightline.scenes.contact_sheet import panel_from_scene
    from sightline.scenes.generate import make_scene
    from sightline.scenes.rendering.photo_textures import PhotoTextures

    spec = SceneSpec(seed, *parse_size(size), kinds)
    photos = None if textures is None else PhotoTextures(textures)
    return (
        panel_from_scene(
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
