"""A question to the embedded VLM: what it perceived, what it concluded, whether both agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from sightline.demo.part import Order, Shown

if TYPE_CHECKING:
    from sightline.perception.question_answering import Reply
    from sightline.types import FloatArray

QUESTION = "which is nearest?"
#: The table behind the cup, the coffee in it, and the saucer before it: pixels (x, y).
POINTS = {"A": (450.0, 60.0), "B": (265.0, 170.0), "C": (300.0, 330.0)}


def make(order: Order) -> Shown:
    """Ask which of three points is nearest."""
    import sightline
    from sightline.examples import example_photograph
    from sightline.io import png
    from sightline.io.atomic import write_bytes
    from sightline.io.images import read_picture
    from sightline.perception.figures import draw_reply, format_reply

    order.tell("a question to the embedded VLM")
    picture = read_picture(example_photograph())
    reply = sightline.ask(picture, QUESTION, POINTS)
    path = order.out / "ask.png"
    write_bytes(path, png.encode(draw_reply(reply, picture.pixels), {}))
    steps, verdict = told(format_reply(reply))
    fields = {
        **_shown(reply, picture.pixels),
        "question": QUESTION,
        "steps": steps,
        "verdict": verdict,
        "said": reply.answer.text,
    }
    answer = f"Answer: {reply.final}." if reply.final else "No answer."
    return Shown(fields, (f"{QUESTION} {answer} {verdict}", f"its map and points  {path}"))


def told(lines: Sequence[str]) -> tuple[list[str], str]:
    """Return the steps of a chain, without what is shown otherwise, and what the check says of it.

    >>> told(["Its map, denser is nearer:", "  .:-", "Words and perception agree.", "Answer: A"])
    (['Its map: the picture above'], 'Words and perception agree.')
    """
    steps, verdict = [], ""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith(("Words and perception", "It could not")):
            verdict = line
        elif line.startswith(("Answer:", "No answer", "  ")):
            continue
        elif after.startswith("  "):  # a map drawn with characters follows
            steps.append(f"{line.partition(',')[0].rstrip(':')}: the picture above")
        else:
            steps.append(line)
    return steps, verdict


def _shown(reply: Reply, pixels: np.ndarray) -> dict[str, Any]:
    """Return the picture with its points, and the depth that the tokens stand for, likewise."""
    from sightline.reports import payload
    from sightline.reports.marks import Letter

    height, width = pixels.shape[:2]
    decoded = getattr(reply.answer, "decoded", None)
    return {
        "width": width,
        "height": height,
        "photo": payload.picture(pixels),
        **_decoded(decoded, width, height),
        "marks": [Letter(at, letter, letter == reply.final) for letter, at in POINTS.items()],
        "answer": reply.final,
        "agrees": reply.answer.agrees,
    }


def _decoded(decoded: FloatArray | None, width: int, height: int) -> dict[str, Any]:
    """Return a map of the model's square picture in colors, in the photograph's shape."""
    from sightline.reports import payload
    from sightline.types import DepthMap, Kind

    if decoded is None:
        return {"decoded": None, "legend": None}
    shaped = Image.fromarray(decoded).resize((width, height), Image.Resampling.BILINEAR)
    depth = DepthMap(np.asarray(shaped), Kind.RELATIVE_DISPARITY)
    return {
        "decoded": payload.color(depth, "spectral"),
        "legend": payload.legend(depth, "spectral")["image"],
    }
