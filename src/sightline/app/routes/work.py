"""Paths that make models work."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from sightline.app import replies, schemas
from sightline.app.desk import Desk
from sightline.app.formats import ASKED, FILM, FRAMES, MAP, PLAIN, choose
from sightline.app.forms import read_form, read_json
from sightline.app.jobs import Job
from sightline.app.problems import NO_SPEAKER, NO_VIDEO_MODEL, Problem
from sightline.app.routes import examples
from sightline.app.routes.describe import Format, Wait, answers, form_body, json_body

router = APIRouter(prefix="/v1")

_IMAGE = {"image": "a picture: jpg, png, webp, gif, tiff, bmp, avif, jp2, hdr, exr …"}
_VIDEO = {"video": "a video: mp4, mov, mkv, webm, avi or gif"}


@router.post(
    "/depth",
    tags=["pictures"],
    summary="Depth of a picture or a video",
    responses=answers(replies.MapAnswer | replies.FilmAnswer, (*MAP, "mp4", "mkv"), examples.DEPTH),
    openapi_extra=form_body(schemas.DepthFields, {**_IMAGE, **_VIDEO}, examples.DEPTH_FORM),
)
async def depth(request: Request, wait: Wait = True, format: Format = None) -> Response:
    """Send either `image` or `video`. Relative depth has no unit; larger is nearer."""
    return await _handle(
        request,
        "depth",
        schemas.DepthFields,
        (*MAP, *FILM[1:]),
        files=("image", "video"),
        wait=wait,
        form=format,
    )


@router.post(
    "/metric",
    tags=["pictures"],
    summary="Metres of a picture, with error bars",
    responses=answers(replies.MetricAnswer, MAP, examples.METRIC),
    openapi_extra=form_body(schemas.MetricFields, _IMAGE, examples.METRIC_FORM),
)
async def metric(request: Request, wait: Wait = True, format: Format = None) -> Response:
    """By people in the picture, or by what is known of it: a length, a depth, a height."""
    return await _handle(
        request, "metric", schemas.MetricFields, MAP, files=("image",), wait=wait, form=format
    )


@router.post(
    "/measure",
    tags=["pictures"],
    summary="Distance between two pixels, with its error bar",
    responses=answers(replies.MeasureAnswer, PLAIN, examples.MEASURE),
    openapi_extra=form_body(schemas.MeasureFields, _IMAGE, examples.MEASURE_FORM),
)
async def measure(request: Request, wait: Wait = True, format: Format = None) -> Response:
    """In a picture with its yardsticks, or in the result of a metric job."""
    return await _handle(
        request, "measure", schemas.MeasureFields, PLAIN, files=("image",), wait=wait, form=format
    )


@router.post(
    "/ask",
    tags=["pictures"],
    summary="A question about a picture, with the steps that lead to the answer",
    responses=answers(replies.AskAnswer, ASKED, examples.ASK),
    openapi_extra=form_body(schemas.AskFields, _IMAGE, examples.ASK_FORM),
)
async def ask(request: Request, wait: Wait = True, format: Format = None) -> Response:
    """Which point is nearest, how many there are of a kind, or the depth map as the model sees it."""
    return await _handle(
        request, "ask", schemas.AskFields, ASKED, files=("image",), wait=wait, form=format
    )


@router.post(
    "/physics/score",
    tags=["physics"],
    summary="How well a video obeys the laws",
    responses=answers(replies.ScoreAnswer, FRAMES, examples.SCORE),
    openapi_extra=form_body(schemas.ScoreFields, _VIDEO, examples.SCORE_FORM),
)
async def score(request: Request, wait: Wait = True, format: Format = None) -> Response:
    """Bodies are measured frame by frame, and every law is asked about them."""
    return await _handle(
        request, "score", schemas.ScoreFields, FRAMES, files=("video",), wait=wait, form=format
    )


@router.post(
    "/physics/world",
    tags=["physics"],
    summary="Play a world with known laws",
    responses=answers(replies.WorldAnswer, FRAMES, examples.WORLD),
    openapi_extra=json_body(schemas.World),
)
async def world(request: Request, wait: Wait = True, format: Format = None) -> Response:
    """Simulate it exactly, render it, and measure it as any other video."""
    return await _handle(request, "world", schemas.World, FRAMES, wait=wait, form=format)


@router.post(
    "/physics/predict",
    tags=["physics"],
    summary="Let the video model go on from the first frames of a world",
    responses=answers(replies.PredictAnswer, FRAMES, examples.PREDICT),
    openapi_extra=json_body(schemas.World),
)
async def predict(request: Request, wait: Wait = True, format: Format = None) -> Response:
    """Say what should have happened, and what the laws say about what did."""
    return await _handle(request, "predict", schemas.World, FRAMES, wait=wait, form=format)


async def _handle(
    request: Request,
    kind: str,
    schema: type[BaseModel],
    offered: tuple[str, ...],
    *,
    files: tuple[str, ...] = (),
    wait: bool,
    form: str | None,
) -> Response:
    """Turn a request into a job, and answer with its result or with the job itself."""
    desk: Desk = request.app.state.desk
    accept = request.headers.get("accept") if wait else None
    wanted = choose(accept, form, offered)
    _refuse_without_model(desk, kind)
    desk.crew.check_room()
    name, folder = desk.jobs.new_folder()
    job = Job(name, kind, {}, folder, offered, keep=not wait)
    try:
        uploads: list[str] = []
        found: BaseModel
        if files:
            found, uploads = await read_form(request, schema, files, folder)
        else:
            found = await read_json(request, schema)
        job.fields = found.model_dump(by_alias=True)
        other = _check(desk, job, uploads)
        if kind == "depth":
            job.formats = FILM if uploads == ["video"] else MAP
            wanted = choose(accept, form, job.formats)
        task = await desk.start(job, uploads=uploads, wanted=wanted, other=other)
    except BaseException:
        desk.jobs.drop(job)
        raise
    if wait:
        return await desk.answer(request, job, task, wanted)
    where = {"Location": f"/v1/jobs/{job.id}"}
    return JSONResponse(desk.described(job), 202, headers=where)


def _refuse_without_model(desk: Desk, kind: str) -> None:
    """Say at once what this server cannot do."""
    setup = desk.shelf.setup
    if kind == "ask" and setup.ask_model is None:
        raise Problem(503, NO_SPEAKER)
    if kind == "predict" and setup.video_model is None:
        raise Problem(503, NO_VIDEO_MODEL)


def _check(desk: Desk, job: Job, uploads: list[str]) -> Job | None:
    """Check what no schema can; return the job that this one refers to, if any."""
    fields: dict[str, Any] = job.fields
    model, models = fields.get("model"), desk.shelf.setup.models
    if model is not None and model not in models:
        known = ", ".join(models)
        raise Problem(422, f"this server has no depth model called {model!r}; it has {known}")
    if job.kind == "depth" and len(uploads) != 1:
        raise Problem(422, "send either a picture as image or a video as video")
    if uploads == ["video"] and fields.get("sigma"):
        raise Problem(422, "error bars are for pictures, not for videos; leave out sigma")
    if job.kind in ("metric", "ask") and not uploads:
        raise Problem(422, "send a picture as the field image")
    if job.kind == "score" and not uploads:
        raise Problem(422, "send a video as the field video")
    if job.kind == "measure":
        return _measured_job(desk, fields["job"], uploads)
    return None


def _measured_job(desk: Desk, name: str | None, uploads: list[str]) -> Job | None:
    if name is None:
        if not uploads:
            raise Problem(422, "send a picture as image, or the id of a metric job as job")
        return None
    if uploads:
        raise Problem(422, "send either a picture or the id of a metric job, not both")
    other = desk.jobs.get(name)
    if other.kind != "metric":
        raise Problem(422, f"job is one of {other.kind}, and only metric ones can be measured in")
    if other.state != "done":
        raise other.problem()
    return other
