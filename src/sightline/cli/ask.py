"""`sightline ask IMAGE "which is nearest?" --points A=120,80 B=300,200`."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

Flag = Annotated[bool, Parameter(negative="")]


def ask(
    image: Annotated[Path, Parameter(name="IMAGE")],
    question: Annotated[str, Parameter(name="QUESTION")],
    /,
    *,
    model: str = "speaker",
    points: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    codebook: str = "codebook",
    verify: Annotated[bool, Parameter(negative="--no-verify")] = True,
    picture: Path | None = None,
    map_: Annotated[Path | None, Parameter(name="--map")] = None,
    json: Flag = False,
    force: Flag = False,
) -> None:
    """Ask about a picture; the answer comes with the steps that led to it.

    Known questions: which point is nearest, how many there are of a kind, and the depth map. The model
    writes down what it perceives before it concludes; where its conclusion and its own perception
    disagree, perception counts, and that is said.

    Args:
        image: the picture.
        question: in words.
        model: registry name, file, folder or hub name of a model that was taught perception tokens.
        points: letter, column and row of each, such as A=120,80 B=300,200; two to five.
        codebook: registry name or file of the codebook that the model was trained with.
        verify: let perception decide where words and perception disagree.
        picture: PNG to write: the picture with what was perceived, the map beside it.
        map_: PNG to write: the decoded depth map alone, bright is near.
        json: print one JSON object instead of text.
        force: write over files that are there.
    """
    from sightline.cli.targets import check_target
    from sightline.errors import InputError
    from sightline.files import png
    from sightline.files.atomic import write_bytes
    from sightline.files.pictures import read_picture
    from sightline.perception.asking import ask as answer
    from sightline.perception.asking import parse_points, understand
    from sightline.perception.codebook.pictures import write_map
    from sightline.perception.model.answering import DepthAnswer
    from sightline.perception.showing import lines_of, picture_of

    check_target(picture, "--picture", force=force, suffix=".png")
    check_target(map_, "--map", force=force, suffix=".png")
    marked = parse_points(points or [])
    if map_ is not None and understand(question, len(marked)).asked == "count":
        raise InputError("how many is answered by boxes", path=map_, remedy="leave out --map")
    seen = read_picture(image)
    reply = answer(seen, question, marked, model=model, codebook=codebook, verify=verify)
    if reply.caution:
        print(f"caution: {reply.caution}", file=sys.stderr)
    if json:
        print(json_format.dumps(reply.to_dict(), ensure_ascii=False))
    else:
        print("\n".join(lines_of(reply)))
    decoded = reply.answer.decoded if isinstance(reply.answer, DepthAnswer) else None
    if map_ is not None and decoded is not None:
        write_map(map_, decoded, (seen.width, seen.height))
    elif map_ is not None:
        print(f"{map_}: not written, the answer has no depth map", file=sys.stderr)
    if picture is not None:
        write_bytes(picture, png.encode(picture_of(reply, seen.pixels), {}))
