"""`sightline ask IMAGE "which is nearest?" --points A=120,80 B=300,200`."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from sightline.io.images import Picture
    from sightline.perception.point_answers import Measure

Flag = Annotated[bool, Parameter(negative="")]


def ask(
    image: Annotated[Path, Parameter(name="IMAGE")],
    question: Annotated[str, Parameter(name="QUESTION")],
    /,
    *,
    model: str = "perception-vlm",
    points: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    codebook: str = "codebook",
    verify: Annotated[bool, Parameter(negative="--no-verify")] = True,
    meters: Path | None = None,
    picture: Path | None = None,
    map_: Annotated[Path | None, Parameter(name="--map")] = None,
    json: Flag = False,
    force: Flag = False,
) -> None:
    """Ask about an image; the answer is printed with its intermediate steps.

    Supported questions: about 2 to 26 points (which is nearest, farthest, second nearest, leftmost; the
    order; between; the same distance; "is A in front of B?"; "how far is A?"), how many objects of a
    kind there are, and the depth map. An answer about points lists the tokens and values it used, and
    says "cannot tell" where they differ by less than the uncertainty of the map.

    Asked for the nearest of two to five points or for a count, the model writes what it perceives
    before it concludes; where conclusion and perception disagree, the answer follows perception, and
    the disagreement is reported.

    Args:
        image: image file.
        question: question in English.
        model: registry name, file, folder or hub name of a model with perception tokens.
        points: letter, column and row of each point, such as A=120,80 B=300,200; 2 to 26.
        codebook: registry name or file of the codebook that the model was trained with.
        verify: let perception overrule the words where they disagree.
        meters: metric depth, an .npz of `sightline metric`, for "how far"; default: from people in the
            image.
        picture: PNG file to write: the image with the perceived points or boxes, beside the depth map.
        map_: PNG file to write: the decoded depth map, near is bright.
        json: print one JSON object instead of text.
        force: overwrite existing files.
    """
    from sightline.cli.targets import check_target
    from sightline.errors import InputError
    from sightline.io import png
    from sightline.io.atomic import write_bytes
    from sightline.io.images import read_picture
    from sightline.perception.codebook import write_map
    from sightline.perception.figures import draw_reply, format_reply
    from sightline.perception.question_answering import ask as answer
    from sightline.perception.question_answering import parse_points, parse_question
    from sightline.perception.vlm.generation import DepthAnswer

    check_target(picture, "--picture", force=force, suffix=".png")
    check_target(map_, "--map", force=force, suffix=".png")
    marked = parse_points(points or [])
    parsed = parse_question(question, len(marked))
    if map_ is not None and parsed.asked == "count":
        raise InputError(
            "counting questions have no depth map", path=map_, remedy="leave out --map"
        )
    seen = read_picture(image)
    needed = parsed.about is not None and parsed.about.in_meters
    if meters is not None and not needed:
        raise InputError('--meters is for "how far is A?"', remedy="leave it out")
    reply = answer(
        seen,
        question,
        marked,
        model=model,
        codebook=codebook,
        verify=verify,
        measure=_measure(seen, meters) if needed else None,
    )
    if reply.caution:
        print(f"caution: {reply.caution}", file=sys.stderr)
    if json:
        print(json_format.dumps(reply.to_dict(), ensure_ascii=False))
    else:
        print("\n".join(format_reply(reply)))
    decoded = reply.answer.decoded if isinstance(reply.answer, DepthAnswer) else None
    if map_ is not None and decoded is not None:
        write_map(map_, decoded, (seen.width, seen.height))
    elif map_ is not None:
        print(f"{map_}: not written, the answer has no depth map", file=sys.stderr)
    if picture is not None:
        write_bytes(picture, png.encode(draw_reply(reply, seen.pixels), {}))


def _measure(seen: Picture, meters: Path | None) -> Measure | None:
    """Return the measurement in metric depth; None, with a remark, if there is no evidence of scale."""
    from functools import partial

    from sightline.errors import InputError
    from sightline.metric.api import measure, metric

    if meters is not None:
        return partial(measure, meters)
    try:
        return partial(measure, metric(seen))
    except InputError as error:
        print(f"caution: no meters: {error}", file=sys.stderr)
        print("give these to sightline metric, and its .npz by --meters", file=sys.stderr)
        return None
