"""Routes of the API and of the page."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
import struct
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Annotated, Any, get_args, get_origin

from fastapi import APIRouter, Body, Depends, Form, Path, Query, Request, UploadFile, params
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import (
    FileResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
    StreamingResponse,
)

from sightline import reports
from sightline.config import Palette
from sightline.examples import example_person, example_photograph
from sightline.io.images import PICTURE_SUFFIXES
from sightline.server import response_models as responses
from sightline.server.errors import NO_ASK_MODEL, NO_VIDEO_MODEL, ServiceError
from sightline.server.formats import (
    ANSWER_FORMATS,
    FORMATS,
    FRAME_FORMATS,
    JSON_ONLY,
    MAP_FORMATS,
    MAX_POINTS,
    VIDEO_FORMATS,
    negotiate,
)
from sightline.server.job_service import JobService
from sightline.server.jobs import Job
from sightline.server.request_models import (
    AskForm,
    DepthForm,
    MeasureForm,
    MetricForm,
    ScoreForm,
    WorldRequest,
)
from sightline.types import Kind, Measurement
from sightline.version import __version__

EXAMPLES: dict[str, Any] = json.loads(
    (FilePath(__file__).parent / "openapi_examples.json").read_text(encoding="utf-8")
)
VIDEO_SUFFIXES = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".gif")

#: Formats that each kind of job offers before its input is known.
OFFERED = {
    "depth": (*MAP_FORMATS, *VIDEO_FORMATS[1:]),
    "metric": MAP_FORMATS,
    "measure": JSON_ONLY,
    "ask": ANSWER_FORMATS,
    "score": FRAME_FORMATS,
    "world": FRAME_FORMATS,
    "predict": FRAME_FORMATS,
}

#: Folder of the page, and files that it shares with reports.
PAGE_FOLDER = FilePath(__file__).parent / "page"
_SHARED_FOLDER = FilePath(reports.__file__).parent / "templates"
_SHARED_FILES = frozenset({"look.css", "cloud.js"})
_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

#: Values of a query parameter that pydantic reads as true.
_TRUE = frozenset({"true", "1", "on", "t", "y", "yes"})
#: Bounds of the form parser: number of fields, and bytes of a field that is not a file.
_MAX_FIELDS, _MAX_FIELD_BYTES = 128, 65_536

_ERROR_TEXTS = {
    400: "the body cannot be parsed",
    401: "the token is missing or wrong",
    403: "cross-site request",
    404: "not found",
    406: "the format is not available",
    408: "the body took too long to arrive",
    409: "the job is not in a state for this request",
    413: "the body, picture or video is too large",
    415: "wrong content type",
    421: "unknown host name",
    422: "the input cannot be used",
    429: "too many requests, or the queue is full",
    503: "a model is missing, the worker was lost, or a limit was exceeded",
    507: "the disk of the server is full",
}


def get_service(request: Request) -> JobService:
    """Return the job service of the application."""
    service: JobService = request.app.state.service
    return service


Service = Annotated[JobService, Depends(get_service)]
Wait = Annotated[
    bool, Query(description="wait for the result; with false the response is a job (202)")
]
FormatName = Annotated[
    str | None,
    Query(max_length=20, description="result format; overrides Accept", examples=["npz"]),
]


@dataclass(frozen=True, slots=True)
class ResponseOptions:
    """Query parameters of every job.

    Attributes:
        wait: wait for the result.
        format: requested format; None to use the `Accept` header.
    """

    wait: bool
    format: str | None


def get_options(wait: Wait = True, format: FormatName = None) -> ResponseOptions:
    """Return the query parameters of a job."""
    return ResponseOptions(wait, format)


Options = Annotated[ResponseOptions, Depends(get_options)]
JobId = Annotated[
    str, Path(max_length=64, pattern="^[A-Za-z0-9_-]+$", examples=["k3J8sJw2T0yq5b7h"])
]


class JobRoute(APIRoute):
    """Route of a job. Checks what can be checked before the body is read.

    Content type, available formats and the length of the queue are checked first, so that a large
    upload is not received in vain. FastAPI has no bounds for its form parser, hence the form is
    parsed here; FastAPI validates it.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of FastAPI, preceded by the checks."""
        handler = super().get_route_handler()
        assert self.body_field is not None
        is_form = isinstance(self.body_field.field_info, params.Form)
        media_type = "multipart/form-data" if is_form else "application/json"
        model: type[BaseModel] = self.body_field.field_info.annotation  # type: ignore[assignment]

        async def handle(request: Request) -> Response:
            service = get_service(request)
            query = request.query_params
            if query.get("wait", "true").lower() in _TRUE:
                negotiate(request.headers.get("accept"), query.get("format"), OFFERED[self.name])
            _require_model(service, self.name)
            service.pool.check_capacity()
            declared = request.headers.get("content-length", "")
            unknown = service.limits.max_body_bytes
            service.jobs.ensure_space(int(declared) if declared.isdecimal() else unknown)
            given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if given != media_type:
                raise ServiceError(415, f"send the body as Content-Type: {media_type}")
            if is_form:
                await _parse_form(request, model)
            else:
                await request.body()  # FastAPI would turn errors of the middleware into 400
            return await handler(request)

        return handle


async def _parse_form(request: Request, model: type[BaseModel]) -> None:
    """Parse a form within bounds; the request caches it for FastAPI."""
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    lists = {name for name, field in fields.items() if get_origin(field.annotation) is list}
    try:
        form = await request.form(
            max_files=2, max_fields=_MAX_FIELDS, max_part_size=_MAX_FIELD_BYTES
        )
    except HTTPException as error:
        raise ServiceError(400, f"the form cannot be parsed: {error.detail}") from None
    except KeyError:
        raise ServiceError(400, "the form cannot be parsed: its boundary is missing") from None
    names = [name for name, _ in form.multi_items()]
    for name in names:
        if name not in lists and names.count(name) > 1:
            raise ServiceError(422, f"{name[:40]} was sent twice")


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe error responses; those that every route can return are added."""
    every = sorted({*statuses, 401, 403, 421, 429, 503})
    return {
        status: {"model": responses.ErrorResponse, "description": _ERROR_TEXTS[status]}
        for status in every
    }


def _json_example(example: Mapping[str, Any]) -> dict[int | str, dict[str, Any]]:
    """Describe a successful JSON response by an example."""
    return {200: {"content": {"application/json": {"example": dict(example)}}}}


def _job_responses(model: Any, kind: str) -> dict[int | str, dict[str, Any]]:
    """Describe a result in all formats, the job with wait=false, and errors."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    content: dict[str, Any] = {"application/json": {"example": EXAMPLES[kind]}}
    content |= {FORMATS[name].media_type: binary for name in OFFERED[kind] if name != "json"}
    formats = ", ".join(f"{name} ({FORMATS[name].text})" for name in OFFERED[kind])
    links = {
        name: {"operationId": name, "parameters": {"job_id": "$response.body#/id"}}
        for name in ("job", "events", "result", "at", "delete")
    }
    return {
        200: {"model": model, "description": f"the result as {formats}", "content": content},
        202: {
            "model": responses.JobResponse,
            "description": "a job, with wait=false",
            "content": {"application/json": {"example": EXAMPLES["queued_job"]}},
            "links": links,
        },
        **_errors(400, 406, 408, 413, 415, 422, 507),
    }


def _form(kind: str) -> Any:
    example: Any = {"form": {"value": EXAMPLES[f"{kind}_form"]}}
    return Form(media_type="multipart/form-data", openapi_examples=example)


_WORLD_BODY = Body(
    openapi_examples={
        "uniform": {"value": EXAMPLES["world_1"]},
        "collision": {"value": EXAMPLES["world_2"]},
    }
)

inference = APIRouter(prefix="/v1", route_class=JobRoute)


@inference.post(
    "/depth",
    tags=["pictures"],
    summary="Depth of a picture or video",
    responses=_job_responses(responses.DepthResponse | responses.VideoDepthResponse, "depth"),
)
async def depth(
    request: Request,
    form: Annotated[DepthForm, _form("depth")],
    options: Options,
) -> Response:
    """Send either `image` or `video`. Relative depth has no unit; larger is nearer."""
    if (form.image is None) == (form.video is None):
        raise ServiceError(422, "send either a picture as image or a video as video")
    if form.video is not None and form.sigma:
        raise ServiceError(422, "error bars are available for pictures only; leave out sigma")
    formats = MAP_FORMATS if form.video is None else VIDEO_FORMATS
    return await _run(request, "depth", form, formats, options)


@inference.post(
    "/metric",
    tags=["pictures"],
    summary="Metric depth of a picture, with error bars",
    responses=_job_responses(responses.MetricResponse, "metric"),
)
async def metric(
    request: Request,
    form: Annotated[MetricForm, _form("metric")],
    options: Options,
) -> Response:
    """Estimate the scale from people in the picture, or from a known length, depth or height."""
    return await _run(request, "metric", form, MAP_FORMATS, options)


@inference.post(
    "/measure",
    tags=["pictures"],
    summary="Distance between two pixels, with its error bar",
    responses=_job_responses(responses.MeasureResponse, "measure"),
)
async def measure(
    request: Request,
    form: Annotated[MeasureForm, _form("measure")],
    options: Options,
) -> Response:
    """Measure in a picture with evidence of its scale, or in the result of a metric job."""
    source = None
    if form.job is None and form.image is None:
        raise ServiceError(422, "send a picture as image, or the id of a metric job as job")
    if form.job is not None:
        if form.image is not None:
            raise ServiceError(422, "send either a picture or the id of a metric job, not both")
        source = get_service(request).jobs.get(form.job)
        if source.kind != "metric":
            raise ServiceError(422, f"job is a {source.kind} job; send the id of a metric job")
        source.require_result()
    return await _run(request, "measure", form, JSON_ONLY, options, source)


@inference.post(
    "/ask",
    tags=["pictures"],
    summary="Answer a question about a picture, with reasoning steps",
    responses=_job_responses(responses.AskResponse, "ask"),
)
async def ask(
    request: Request,
    form: Annotated[AskForm, _form("ask")],
    options: Options,
) -> Response:
    """Ask which point is nearest, how many objects of a kind there are, or for the depth map."""
    return await _run(request, "ask", form, ANSWER_FORMATS, options)


@inference.post(
    "/physics/score",
    tags=["physics"],
    summary="Law errors of a video",
    responses=_job_responses(responses.ScoreResponse, "score"),
)
async def score(
    request: Request,
    form: Annotated[ScoreForm, _form("score")],
    options: Options,
) -> Response:
    """Track the bodies frame by frame and check every law."""
    return await _run(request, "score", form, FRAME_FORMATS, options)


@inference.post(
    "/physics/world",
    tags=["physics"],
    summary="Simulate a world",
    responses=_job_responses(responses.WorldResponse, "world"),
)
async def world(
    request: Request,
    body: Annotated[WorldRequest, _WORLD_BODY],
    options: Options,
) -> Response:
    """Simulate a world, render it, and track it like any other video."""
    return await _run(request, "world", body, FRAME_FORMATS, options)


@inference.post(
    "/physics/predict",
    tags=["physics"],
    summary="Continue the first frames of a world with the video model",
    responses=_job_responses(responses.PredictResponse, "predict"),
)
async def predict(
    request: Request,
    body: Annotated[WorldRequest, _WORLD_BODY],
    options: Options,
) -> Response:
    """Compare the prediction with the simulated world and check every law."""
    return await _run(request, "predict", body, FRAME_FORMATS, options)


async def _run(
    request: Request,
    kind: str,
    body: BaseModel,
    formats: Sequence[str],
    options: ResponseOptions,
    source: Job | None = None,
) -> Response:
    """Run a request as a job; return its result, or the job itself."""
    service = get_service(request)
    accept = request.headers.get("accept") if options.wait else None
    format = negotiate(accept, options.format, formats)
    _require_known_model(service, getattr(body, "model", None))
    job = service.jobs.new_job(kind, formats, keep=not options.wait)
    try:
        for name in ("image", "video"):
            upload = getattr(body, name, None)
            if upload is not None:
                await asyncio.to_thread(_save_upload, upload, job.folder / f"upload-{name}")
        job.fields = body.model_dump(by_alias=True, exclude={"image", "video"})
        task = await service.submit(job, format, source)
    except BaseException:
        service.jobs.drop(job)
        raise
    if options.wait:
        return await service.respond(request, job, task, format)
    location = f"{request.scope.get('root_path', '')}/v1/jobs/{job.id}"
    return JSONResponse(service.describe(job), 202, headers={"Location": location})


def _save_upload(upload: UploadFile, path: FilePath) -> None:
    with path.open("wb") as file:
        shutil.copyfileobj(upload.file, file, 1 << 20)


def _require_model(service: JobService, kind: str) -> None:
    settings = service.catalog.settings
    if kind == "ask" and settings.ask_model is None:
        raise ServiceError(503, NO_ASK_MODEL)
    if kind == "predict" and settings.video_model is None:
        raise ServiceError(503, NO_VIDEO_MODEL)


def _require_known_model(service: JobService, name: str | None) -> None:
    models = service.catalog.settings.models
    if name is not None and name not in models:
        known = ", ".join(models)
        raise ServiceError(422, f"this server has no depth model {name!r}; it has {known}")


jobs = APIRouter(prefix="/v1/jobs", tags=["jobs"])

_EVENT_SCHEMA = {
    "type": "object",
    "properties": {
        "event": {"const": "job"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
}
_EVENT_EXAMPLE = {"event": "job", "data": json.dumps(EXAMPLES["job"])}


@jobs.get(
    "/{job_id}",
    summary="State of a job",
    response_model=responses.JobResponse,
    responses={**_json_example(EXAMPLES["job"]), **_errors(404, 422)},
)
async def job(service: Service, job_id: JobId) -> dict[str, Any]:
    """Return whether a job is queued, running, done, failed or canceled."""
    return service.describe(service.jobs.get(job_id))


@jobs.get(
    "/{job_id}/events",
    summary="Progress of a job as server-sent events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "events named job whose data is the job; the stream ends with the job",
            "content": {"text/event-stream": {"schema": _EVENT_SCHEMA, "example": _EVENT_EXAMPLE}},
        },
        **_errors(404, 422),
    },
)
async def events(service: Service, job_id: JobId) -> Response:
    """Send the current state, then every change."""
    job = service.jobs.get(job_id)
    return StreamingResponse(service.events(job), media_type="text/event-stream")


@jobs.get(
    "/{job_id}/result",
    summary="Result of a job",
    response_class=Response,
    responses={
        200: {
            "description": "the result in one of the job's `formats`",
            "content": {
                form.media_type: {"schema": {"type": "string", "format": "binary"}}
                for form in FORMATS.values()
                if form.name != "json"
            }
            | {"application/json": {"schema": {"type": "object"}, "example": EXAMPLES["depth"]}},
        },
        **_errors(404, 406, 409, 422, 507),
    },
)
async def result(
    request: Request,
    service: Service,
    job_id: JobId,
    format: FormatName = None,
    points: Annotated[
        int, Query(ge=1000, le=1_500_000, description="maximum points of a point cloud or mesh")
    ] = MAX_POINTS,
) -> Response:
    """Return a result; formats other than the first are created on request and kept."""
    job = service.jobs.get(job_id)
    job.require_result()
    chosen = negotiate(request.headers.get("accept"), format, job.formats)
    return await service.result(request, job, chosen, points)


@jobs.get(
    "/{job_id}/at",
    summary="Value of a depth map at one pixel",
    response_model=responses.PixelResponse,
    responses={**_json_example(EXAMPLES["at"]), **_errors(404, 409, 422, 507)},
)
async def at(
    request: Request,
    service: Service,
    job_id: JobId,
    x: Annotated[int, Query(ge=0, le=1_000_000, description="column")],
    y: Annotated[int, Query(ge=0, le=1_000_000, description="row")],
) -> dict[str, Any]:
    """Read a depth map; its top left pixel is 0, 0."""
    job = service.jobs.get(job_id)
    job.require_result()
    if "f32" not in job.formats:
        raise ServiceError(409, f"a {job.kind} job has no depth map")
    with service.lease(job):
        path = await service.result_file(request, job, "f32")
        return await asyncio.to_thread(_read_pixel, job, path, x, y)


@jobs.delete(
    "/{job_id}",
    summary="Cancel a job, or remove its result",
    response_model=responses.JobResponse,
    responses={**_json_example({**EXAMPLES["job"], "state": "canceled"}), **_errors(404, 422)},
)
async def delete(service: Service, job_id: JobId) -> Response:
    """Cancel a queued or running job; remove a finished one with its files."""
    job = service.jobs.get(job_id)
    service.cancel(job)
    return JSONResponse(service.describe(job))


def _read_pixel(job: Job, path: FilePath, x: int, y: int) -> dict[str, Any]:
    """Read a value and its error bar from the raw float32 file."""
    width, height = (int(job.headers[f"X-Sightline-{name}"]) for name in ("Width", "Height"))
    if x >= width or y >= height:
        raise ServiceError(422, f"pixel {x},{y} is outside the map of {width} × {height} px")
    kind, unit = Kind(job.headers["X-Sightline-Kind"]), job.headers["X-Sightline-Unit"]
    values = []
    with path.open("rb") as file:
        for plane in range(int(job.headers["X-Sightline-Planes"])):
            file.seek(4 * ((plane * height + y) * width + x))
            values.append(float(struct.unpack("<f", file.read(4))[0]))
    value, sigma = values[0], values[1] if len(values) > 1 else math.nan
    valid, has_sigma = math.isfinite(value), math.isfinite(value) and math.isfinite(sigma)
    text = str(Measurement(value, sigma, unit)) if has_sigma else f"{value:.3g} {unit}".strip()
    return {
        "x": x,
        "y": y,
        "valid": valid,
        "value": value if valid else None,
        "sigma": sigma if has_sigma else None,
        "unit": unit,
        "kind": str(kind),
        "direction": kind.direction,
        "text": text if valid else "no value here",
    }


info = APIRouter(tags=["info"])


@info.get(
    "/v1/models",
    summary="Models, their licenses, and which of them this server runs",
    response_model=responses.ModelsResponse,
    responses={**_json_example(EXAMPLES["models"]), **_errors()},
)
async def models(service: Service) -> dict[str, Any]:
    """List all models; a request can name only depth models that are `usable`."""
    return await asyncio.to_thread(service.catalog.describe)


@info.get(
    "/v1/limits",
    summary="Limits of requests",
    response_model=responses.LimitsResponse,
    responses={**_json_example(EXAMPLES["limits"]), **_errors()},
)
async def limits(service: Service) -> dict[str, Any]:
    """Return the limits; requests beyond them get 413, 422, 429 or 503."""
    names = set(responses.LimitsResponse.model_fields)
    shown = {name: getattr(service.limits, name) for name in names if hasattr(service.limits, name)}
    return {
        **shown,
        "palettes": list(get_args(Palette)),
        "picture_types": sorted(PICTURE_SUFFIXES),
        "video_types": list(VIDEO_SUFFIXES),
        "version": __version__,
        "token": service.config.token is not None,
    }


@info.get(
    "/v1/examples",
    summary="Bundled photographs",
    response_model=responses.ExamplesResponse,
    responses={**_json_example(EXAMPLES["examples"]), **_errors()},
)
async def examples() -> dict[str, Any]:
    """List photographs to try the API with."""
    return {"examples": [{"name": path.name, "text": text} for path, text in _photographs()]}


@info.get(
    "/v1/examples/{name}",
    summary="One bundled photograph",
    response_class=FileResponse,
    responses={
        200: {
            "description": "the photograph",
            "content": {"image/jpeg": {"schema": {"type": "string", "format": "binary"}}},
        },
        **_errors(404, 422),
    },
)
async def example(
    name: Annotated[str, Path(max_length=64, examples=["coffee.jpg"])],
) -> Response:
    """Send it back as the field `image`."""
    for path, _ in _photographs():
        if path.name == name:
            return FileResponse(path, media_type="image/jpeg")
    raise ServiceError(404, "there is no such photograph; /v1/examples lists them")


def _photographs() -> list[tuple[FilePath, str]]:
    return [
        (example_photograph(), "A cup of coffee"),
        (example_person(), "A portrait, for meters by a person"),
    ]


@info.get(
    "/healthz",
    summary="Health of the server",
    response_model=responses.HealthResponse,
    responses={
        **_json_example(EXAMPLES["health"]),
        **{status: text for status, text in _errors().items() if status not in (401, 429)},
        503: {
            "model": responses.HealthResponse,
            "description": "workers repeatedly failed to start",
            "content": {"application/json": {"example": EXAMPLES["health_failing"]}},
        },
    },
)
async def healthz(service: Service) -> Response:
    """Return `starting` until the first worker has loaded its model; requests wait meanwhile.

    If workers repeatedly fail to start, return `failing` with 503 and the reason.
    """
    ready, error = service.pool.ready, service.pool.start_error
    body = {
        "status": "failing" if error is not None else "ok" if ready else "starting",
        "version": __version__,
        "workers": service.config.workers,
        "ready": ready,
        "queue": len(service.pool),
        "error": None if error is None else error.message,
    }
    if error is None:
        return JSONResponse(body)
    return JSONResponse(body, error.status, headers=error.headers)


@info.get(
    "/metrics",
    summary="Prometheus metrics",
    response_class=PlainTextResponse,
    responses={
        200: {"content": {"text/plain": {"example": "sightline_queue_length 0.0\n"}}},
        **_errors(),
    },
)
async def metrics(service: Service) -> Response:
    """Return all metrics in the Prometheus text format."""
    text = service.metrics.text()
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")


page = APIRouter(include_in_schema=False)


@page.get("/")
async def index() -> Response:
    """Send the page."""
    return _page_file("index.html")


@page.get("/favicon.ico")
async def icon() -> Response:
    """Send the icon."""
    return _page_file("icon.svg")


@page.get("/page/{name:path}")
async def page_file(name: str) -> Response:
    """Send a file of the page."""
    return _page_file(name)


def _page_file(name: str) -> Response:
    """Send a file of the page's folder or a shared one; paths outside are refused."""
    folder = _SHARED_FOLDER if name in _SHARED_FILES else PAGE_FOLDER
    try:
        path = (folder / name).resolve()
        found = path.is_relative_to(folder.resolve()) and path.is_file()
    except (OSError, ValueError):  # the name is too long or has a null character
        found = False
    if not found or path.suffix not in _MEDIA_TYPES or path.name.startswith("."):
        raise ServiceError(404, "there is no such page")
    headers = {"Cache-Control": "no-cache"}
    return FileResponse(path, media_type=_MEDIA_TYPES[path.suffix], headers=headers)


ROUTERS = (inference, jobs, info, page)
