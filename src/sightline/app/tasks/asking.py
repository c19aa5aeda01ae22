"""`POST /v1/ask`: a question about a picture, with the steps that lead to the answer."""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from pathlib import Path

from sightline.app.formats import ASKED
from sightline.app.tasks.maps import read_upload
from sightline.app.tasks.order import Order
from sightline.app.tasks.tools import Tools, loading
from sightline.app.worker import Reporter
from sightline.errors import InputError
from sightline.files.atomic import write_bytes


def run(order: Order, tools: Tools, report: Reporter) -> tuple[Sequence[str], dict[str, str]]:
    """Ask."""
    start, fields = time.perf_counter(), order.fields
    report(None, "loading the model", counted=False)
    with loading(tools.speaker_name):
        from sightline.files import png
        from sightline.perception.asking import parse_points, place, reply_to, understand
        from sightline.perception.codebook.pictures import write_map
        from sightline.perception.model.answering import DepthAnswer
        from sightline.perception.showing import lines_of, picture_of

    points = parse_points(fields["points"])
    understood = understand(fields["question"], len(points))
    report(None, "reading the picture")
    picture = read_upload(order, tools.limits.pixels)
    if understood.asked == "nearest":
        place(points, picture.width, picture.height)
    report(None, "loading the model", counted=False)
    _ = tools.speaker  # mistakes are told before it is loaded and thinks
    report(None, "thinking")
    reply = reply_to(
        picture,
        fields["question"],
        tools.speaker,
        tools.tokenizer,
        points,
        verify=fields["verify"],
    )
    lines = lines_of(reply)
    decoded = reply.answer.decoded if isinstance(reply.answer, DepthAnswer) else None
    shown = png.encode(picture_of(reply, picture.pixels), {})
    write_bytes(order.path("png"), shown)
    map_png = None
    if decoded is not None:
        path = order.folder / "map.png"
        write_map(path, decoded, _within(picture.width, picture.height))
        map_png = base64.b64encode(path.read_bytes()).decode()
    verdicts = [line for line in lines if line.startswith(("Words and perception", "It could not"))]
    if understood.asked == "map":
        verdicts = [
            "A map is no answer that could be checked." if decoded is not None else lines[-1]
        ]
    order.write(
        {
            **reply.to_dict(),
            "chain": lines,
            "verdict": verdicts[-1] if verdicts else lines[-1],
            "map_png": map_png,
            "picture_png": base64.b64encode(shown).decode(),
            "model": Path(tools.setup.ask_model or "").name,
            "seconds": round(time.perf_counter() - start, 3),
        }
    )
    return ASKED, {}


def make(order: Order) -> None:
    """Everything is made at once."""
    raise InputError(f"an answer cannot be had as {order.wanted}")


def _within(width: int, height: int, most: int = 1024) -> tuple[int, int]:
    """Return a size of the same shape whose longer side is at most so long."""
    share = min(1.0, most / max(width, height))
    return max(1, round(width * share)), max(1, round(height * share))
