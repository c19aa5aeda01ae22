"""`POST /v1/ask`: answer a question about a picture, with reasoning steps."""

from __future__ import annotations

import base64
import time

from sightline.io.atomic import write_bytes
from sightline.server.formats import ANSWER_FORMATS
from sightline.server.models import LoadedModels, model_errors
from sightline.server.tasks.depth import read_upload
from sightline.server.worker import ProgressReporter, TaskResult, WorkerRequest

#: Longest side of the decoded depth map in the response in pixels.
_MAX_MAP_SIDE = 1024


def run_ask(request: WorkerRequest, models: LoadedModels, report: ProgressReporter) -> TaskResult:
    """Answer a question."""
    start, fields = time.perf_counter(), request.fields
    report(None, "loading the model", counted=False)
    with model_errors(models.vlm_name):
        from sightline.io import png
        from sightline.perception.codebook import write_map
        from sightline.perception.figures import draw_reply, format_reply
        from sightline.perception.question_answering import (
            ask,
            parse_points,
            parse_question,
            scale_points,
        )
        from sightline.perception.vlm.generation import DepthAnswer

    # Invalid questions and points are reported before the model is loaded.
    points = parse_points(fields["points"])
    question = parse_question(fields["question"], len(points))
    report(None, "reading the picture")
    picture = read_upload(request, models.limits.max_pixels)
    if question.asked in ("nearest", "points"):
        scale_points(points, picture.width, picture.height)
    report(None, "loading the model", counted=False)
    vlm = models.vlm
    report(None, "generating the answer")
    reply = ask(
        picture,
        fields["question"],
        points,
        model=vlm,
        codebook=models.tokenizer,
        verify=fields["verify"],
    )
    lines = format_reply(reply)
    decoded = reply.answer.decoded if isinstance(reply.answer, DepthAnswer) else None
    figure = png.encode(draw_reply(reply, picture.pixels), {})
    write_bytes(request.path("png"), figure)
    map_png = None
    if decoded is not None:
        path = request.folder / "map.png"
        write_map(path, decoded, _fit_size(picture.width, picture.height))
        map_png = base64.b64encode(path.read_bytes()).decode()
    checks = [line for line in lines if line.startswith(("Words and perception", "It could not"))]
    if question.asked == "map":
        checks = ["A depth map has no answer to check." if decoded is not None else lines[-1]]
    request.write_json(
        {
            **reply.to_dict(),
            "chain": lines,
            "verdict": checks[-1] if checks else lines[-1],
            "map_png": map_png,
            "picture_png": base64.b64encode(figure).decode(),
            "model": models.vlm_name,
            "seconds": round(time.perf_counter() - start, 3),
        }
    )
    return TaskResult(ANSWER_FORMATS, {})


def _fit_size(width: int, height: int) -> tuple[int, int]:
    """Return a size of the same shape whose longer side is at most `_MAX_MAP_SIDE`."""
    share = min(1.0, _MAX_MAP_SIDE / max(width, height))
    return max(1, round(width * share)), max(1, round(height * share))
