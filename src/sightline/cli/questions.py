"""`sightline questions`: question sets for training and evaluating vision-language models."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from sightline.config import ParallelConfig
from sightline.errors import InputError

if TYPE_CHECKING:
    from sightline.perception.questions.count_sets import AnnotatedImage
    from sightline.perception.questions.sets import DepthImage

app = App(name="questions", help="Make question sets about images.")

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
    parallel: Annotated[ParallelConfig, Parameter(name="*")] = ParallelConfig(),  # noqa: B008
) -> int:
    """Make questions for depth maps and for the nearest of some marked points.

    Writes `images/`, `generation.json` (depth maps), `pointing.json` (positions of points and how
    near they are; not used by `train vlm`) and `reasoning.json`, in LLaVA's format.

    Args:
        pictures: photos, folders, or quoted globs.
        out: output folder.
        model: depth model that provides the ground truth.
        codebook: codebook of the depth tokens.
        asked_share: share of images with questions about points, at least one; the depth map is
            asked for in all.
        points: numbers of points, 2 to 5.
        map_first: add each question about points a third time, without the step of coordinates.
        seed: random seed.
        parallel: where to run.
    """
    from sightline.perception.codebook import DepthTokenizer
    from sightline.perception.questions.sets import write_depth_sets

    _check_points(points)
    _check_out(out)
    problems: list[str] = []
    with _reported(problems):
        made = write_depth_sets(
            _seen(pictures, model, parallel, problems),
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
    parallel: Annotated[ParallelConfig, Parameter(name="*")] = ParallelConfig(),  # noqa: B008
) -> int:
    """Make a HardBLINK set from any images; evaluate on it with `sightline quiz hardblink`.

    Args:
        pictures: photos, folders, or quoted globs.
        out: output folder.
        model: depth model that provides the ground truth.
        points: numbers of points, 2 to 5, or to 8 with the rule harder; every image is used with each.
        rule: placement rule; harder: points nearer to each other, in the image and in depth.
        seed: random seed of the points.
        parallel: where to run.
    """
    from sightline.perception.questions.hardblink import HARD, HARDER, MANY_LETTERS
    from sightline.perception.questions.sets import write_hard_blink

    _check_points(points, 5 if rule == "hard" else len(MANY_LETTERS))
    _check_out(out)
    problems: list[str] = []
    chosen = HARD if rule == "hard" else HARDER
    with _reported(problems):
        seen = list(_seen(pictures, model, parallel, problems))
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
    """Make questions for boxes and for the number of objects of a kind.

    Writes `images/`, `boxes.json` and `counting.json`, in LLaVA's format.

    Args:
        source: annotations in LVIS or COCO format, or a folder of `sightline scenes make`.
        out: output folder.
        images: folder of the annotated images.
        asked_share: share of images with counting questions, at least one; boxes are asked for in all.
        most_of_a_count: maximum number of questions with the same answer.
        seed: random seed.
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
    """Write all epochs of AURORA's curriculum as one list, for other trainers.

    Samples of perception alone come first and are gradually replaced by reasoning; `sightline train
    vlm` does not need this file.

    Args:
        folder: folder of `questions depth` or `questions count`; images are relative to it.
        out: JSON file to write.
        epochs: number of epochs, over which the share of perception samples falls from 1 to 0.1.
        size: samples per epoch; default: the number of perception samples.
        seed: random seed of the order.
        force: overwrite an existing file.
    """
    from sightline.cli.targets import check_target
    from sightline.perception.questions.records import write_curriculum

    check_target(out, "--out", force=force)
    if not folder.is_dir():
        raise InputError("no such folder", path=folder, remedy="check the name")
    made = write_curriculum(folder, out, size=size, epochs=epochs, seed=seed)
    print(f"{made} samples in {out}")


def _seen(
    pictures: list[str], model: str, parallel: ParallelConfig, problems: list[str]
) -> Iterator[DepthImage]:
    """Yield images with estimated depth; errors are collected in `problems`."""
    from sightline.cli.progress import progress
    from sightline.io.inputs import expand
    from sightline.perception.questions.sets import estimated_depth_images

    paths = [one.path for one in expand(pictures, recursive=True) if not one.is_video]
    with (
        redirect_stdout(sys.stderr),  # Ray prints to stdout
        progress(len(paths), "pictures") as display,
        closing(estimated_depth_images(paths, model, parallel)) as images,
    ):
        for image in images:
            if isinstance(image, InputError):
                problems.append(str(image))
            else:
                yield image
            display.advance()


def _counted(
    source: Path, images: Path | None, problems: list[str]
) -> tuple[list[str], Iterator[AnnotatedImage]]:
    from sightline.perception.questions.count_sets import counted_scenes, read_annotations

    def skip(error: InputError) -> None:
        problems.append(str(error))

    if source.is_dir():
        if images is not None:
            raise InputError("scenes bring their own pictures", remedy="leave out --images")
        return counted_scenes(source, skip=skip)
    if images is None:
        raise InputError(
            "annotations need the folder of their images",
            path=source,
            remedy="give --images FOLDER",
        )
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
