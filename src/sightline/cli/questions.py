"""`sightline questions`: samples for training and testing models that answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from sightline.errors import InputError

if TYPE_CHECKING:
    from sightline.perception.questions.count_sets import Counted
    from sightline.perception.questions.sets import Seen

app = App(name="questions", help="Make questions about pictures, with their answers.")

Pictures = Annotated[list[str], Parameter(name="PICTURES")]


@app.command
def depth(
    pictures: Pictures,
    /,
    *,
    out: Path,
    model: str = "default",
    codebook: str = "codebook",
    asked_share: float = 0.1,
    points: Annotated[list[int], Parameter(consume_multiple=True)] = [2, 3, 4, 5],  # noqa: B006
    map_first: bool = False,
    seed: int = 0,
) -> int:
    """Ask for depth maps, and which of some marked points is nearest, directly and in steps.

    Writes `images/`, `generation.json` (maps), `pointing.json` (where points are and how near, which
    `train speaker` leaves out) and `reasoning.json`, lists that LLaVA's trainers read.

    Args:
        pictures: photographs, folders, or quoted globs.
        out: folder for the set.
        model: depth model whose maps are the truth.
        codebook: that writes the tokens.
        asked_share: of the pictures that are asked about points, at least one; of all the map is asked
            for.
        points: how many there may be, 2 to 5.
        map_first: ask each question about points a third time, without the step of coordinates.
        seed: of everything drawn.
    """
    from sightline.perception.codebook.tokenizer import DepthTokenizer
    from sightline.perception.questions.sets import write_depth_sets

    _check_points(points)
    _check_out(out)
    problems: list[str] = []
    with _reported(problems):
        made = write_depth_sets(
            _seen(pictures, model, problems),
            out,
            DepthTokenizer(codebook).to_text,
            asked_share=asked_share,
            counts=points,
            map_first=map_first,
            seed=seed,
        )
    print(f"{len(made.generation)} maps and {len(made.reasoning)} questions in {out}")
    return _report(problems)


@app.command
def hardblink(
    pictures: Pictures,
    /,
    *,
    out: Path,
    model: str = "default",
    points: Annotated[list[int], Parameter(consume_multiple=True)] = [3, 4, 5],  # noqa: B006
    rule: Literal["hard", "harder"] = "hard",
    seed: int = 0,
) -> int:
    """Make a HardBLINK of any pictures; score models on it with `sightline quiz hardblink`.

    Args:
        pictures: photographs, folders, or quoted globs.
        out: folder for the set.
        model: depth model whose maps are the truth.
        points: how many there are, 2 to 5, by the rule harder to 8; every picture is asked about with
            each number.
        rule: where points may be; harder: nearer to each other, in the picture and in depth.
        seed: of their places.
    """
    from sightline.perception.questions.markers import HARD, HARDER, MANY_LETTERS
    from sightline.perception.questions.sets import write_hard_blink

    _check_points(points, 5 if rule == "hard" else len(MANY_LETTERS))
    _check_out(out)
    problems: list[str] = []
    chosen = HARD if rule == "hard" else HARDER
    with _reported(problems):
        seen = list(_seen(pictures, model, problems))
        made = write_hard_blink(seen, out, counts=points, rule=chosen, seed=seed)
    print(f"{len(made)} questions in {out}")
    return _report(problems)


@app.command
def count(
    source: Annotated[Path, Parameter(name="SOURCE")],
    /,
    *,
    out: Path,
    images: Path | None = None,
    asked_share: float = 0.1,
    most_of_a_count: int = 1000,
    seed: int = 0,
) -> int:
    """Ask for boxes, and how many there are of a kind, directly and by way of boxes.

    Writes `images/`, `boxes.json` and `counting.json`, lists that LLaVA's trainers read.

    Args:
        source: annotations in LVIS's or COCO's layout; or a folder of `sightline scenes make`.
        out: folder for the set.
        images: folder of the pictures that annotations name.
        asked_share: of the pictures that the number is asked of, at least one; of all the boxes are
            asked for.
        most_of_a_count: questions with the same answer, at most.
        seed: of everything drawn.
    """
    from sightline.perception.questions.count_sets import write_count_sets

    _check_out(out)
    problems: list[str] = []
    kinds, counted = _counted(source, images, problems)
    with _reported(problems):
        made = write_count_sets(
            counted,
            kinds,
            out,
            asked_share=asked_share,
            most_of_a_count=most_of_a_count,
            seed=seed,
        )
    print(f"{len(made.boxes)} lists of boxes and {len(made.reasoning)} questions in {out}")
    return _report(problems)


@app.command
def curriculum(
    folder: Annotated[Path, Parameter(name="DIR")],
    /,
    *,
    out: Path,
    epochs: int = 10,
    size: int | None = None,
    seed: int = 0,
    force: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Write all epochs of AURORA's curriculum as one list, for trainers that read it from end to end.

    Perceiving alone comes first, and gives way to reasoning; `sightline train speaker` needs no such
    file.

    Args:
        folder: that `questions depth` or `questions count` wrote; the list names pictures from there.
        out: JSON file to write.
        epochs: over which the share of perception alone falls from all to a tenth.
        size: samples of an epoch; by default as many as teach perception alone.
        seed: of the order.
        force: write over a file that is there.
    """
    from sightline.cli.targets import check_target
    from sightline.perception.questions.single import write_curriculum

    check_target(out, "--out", force=force)
    if not folder.is_dir():
        raise InputError("no such folder", path=folder, remedy="check the name")
    made = write_curriculum(folder, out, size=size, epochs=epochs, seed=seed)
    print(f"{made} samples in {out}")


def _seen(pictures: list[str], model: str, problems: list[str]) -> Iterator[Seen]:
    """Look at pictures one by one; what cannot be read is kept for the end."""
    from sightline.batch.inputs import expand
    from sightline.cli.progress import progress
    from sightline.depth.estimator import load
    from sightline.files.pictures import read_picture
    from sightline.perception.questions.sets import see

    paths = [one.path for one in expand(pictures, recursive=True) if not one.is_video]
    estimator = load(model)
    with progress(len(paths), "pictures") as display:
        for number, path in enumerate(paths):
            try:
                picture = read_picture(path)
                yield see(f"{number:06d}", picture.pixels, estimator.infer(picture))
            except InputError as error:
                problems.append(str(error))
            display.advance()


def _counted(
    source: Path, images: Path | None, problems: list[str]
) -> tuple[list[str], Iterator[Counted]]:
    from sightline.perception.questions.count_sets import counted_scenes
    from sightline.perception.questions.lvis import read_annotations

    def skip(error: InputError) -> None:
        problems.append(str(error))

    if source.is_dir():
        if images is not None:
            raise InputError("scenes bring their own pictures", remedy="leave out --images")
        return counted_scenes(source, skip=skip)
    if images is None:
        raise InputError("where are the pictures?", path=source, remedy="give --images FOLDER")
    found = read_annotations(source)
    return list(found.kinds), found.counted(images, skip)


def _check_points(points: list[int], most: int = 5) -> None:
    if not points or not all(2 <= count <= most for count in points):
        raise InputError(f"questions are about 2 to {most} points, got {points}")


def _check_out(out: Path) -> None:
    if out.is_dir() and any(out.iterdir()):
        raise InputError("is not empty", path=out, remedy="choose another folder")


@contextmanager
def _reported(problems: list[str]) -> Iterator[None]:
    """Print what could not be read also where nothing came of the rest."""
    try:
        yield
    except InputError:
        _report(problems)
        raise


def _report(problems: list[str]) -> int:
    """Print what could not be read; return the exit code."""
    for line in problems:
        print(f"left out: {line}", file=sys.stderr)
    return 2 if problems else 0
