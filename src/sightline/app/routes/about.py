"""Paths that say what this server is, has and allows."""

from __future__ import annotations

import asyncio
from pathlib import Path as File
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Path, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response

from sightline import __version__
from sightline.app import replies, schemas
from sightline.app.desk import Desk
from sightline.app.problems import Problem
from sightline.app.routes import examples as looks
from sightline.app.routes.describe import errors, shown
from sightline.examples import example_person, example_photograph
from sightline.files.formats import PICTURE_SUFFIXES

router = APIRouter()

#: What `tasks.films` takes.
VIDEO_TYPES = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".gif")


@router.get(
    "/v1/models",
    tags=["about"],
    summary="Models, their licences, and which of them this server runs",
    response_model=replies.ModelsAnswer,
    responses={**shown(looks.MODELS), **errors()},
)
async def models(request: Request) -> dict[str, Any]:
    """List them; one that is not `usable` cannot be named in a request."""
    return await asyncio.to_thread(_desk(request).shelf.describe)


@router.get(
    "/v1/limits",
    tags=["about"],
    summary="What a request may cost",
    response_model=replies.LimitsAnswer,
    responses={**shown(looks.LIMITS), **errors()},
)
async def limits(request: Request) -> dict[str, Any]:
    """Whatever goes beyond is refused with 413, 422, 429 or 503."""
    desk = _desk(request)
    most = desk.limits
    return {
        "body_bytes": most.body_bytes,
        "pixels": most.pixels,
        "video_pixels": most.video_pixels,
        "video_seconds": most.video_seconds,
        "video_frames": most.video_frames,
        "seconds": most.seconds,
        "queue": most.queue,
        "rate_per_minute": most.rate,
        "keep_seconds": most.keep,
        "palettes": list(get_args(schemas.Palette)),
        "picture_types": sorted(PICTURE_SUFFIXES),
        "video_types": list(VIDEO_TYPES),
        "version": __version__,
        "token": desk.options.token is not None,
    }


@router.get(
    "/v1/examples",
    tags=["about"],
    summary="Photographs that come with the package",
    response_model=replies.ExamplesAnswer,
    responses={**shown(looks.PHOTOGRAPHS), **errors()},
)
async def examples() -> dict[str, Any]:
    """To try things on."""
    return {"examples": [{"name": path.name, "text": says} for path, says in _photographs()]}


@router.get(
    "/v1/examples/{name}",
    tags=["about"],
    summary="One of them",
    response_class=FileResponse,
    responses={
        200: {
            "description": "the photograph",
            "content": {"image/jpeg": {"schema": {"type": "string", "format": "binary"}}},
        },
        **errors(404, 422),
    },
)
async def example(
    name: Annotated[str, Path(max_length=64, examples=["coffee.jpg"])],
) -> Response:
    """Send it back as the field `image`."""
    for path, _ in _photographs():
        if path.name == name:
            return FileResponse(path, media_type="image/jpeg")
    raise Problem(404, "there is no such photograph; /v1/examples lists them")


@router.get(
    "/healthz",
    tags=["about"],
    summary="A sign of life",
    response_model=replies.HealthAnswer,
    responses={
        **shown(looks.HEALTH),
        **{status: said for status, said in errors().items() if status not in (401, 429)},
        503: {
            "model": replies.HealthAnswer,
            "description": "workers keep dying at their start: nothing can be done",
            "content": {"application/json": {"example": looks.FAILING}},
        },
    },
)
async def healthz(request: Request) -> Response:
    """Say `starting` until the first worker has its model; requests wait for it meanwhile.

    Where workers keep dying at their start it is `failing`, with 503 and the reason, until one starts.
    """
    desk = _desk(request)
    ready, failing = desk.crew.ready, desk.crew.failing
    body = {
        "status": "failing" if failing is not None else "ok" if ready else "starting",
        "version": __version__,
        "workers": desk.options.workers,
        "ready": ready,
        "queue": len(desk.crew),
        "error": None if failing is None else failing.sentence,
    }
    if failing is None:
        return JSONResponse(body)
    return JSONResponse(body, failing.status, headers=failing.headers)


@router.get(
    "/metrics",
    tags=["about"],
    summary="Figures for Prometheus",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"example": looks.METRICS}}}, **errors()},
)
async def metrics(request: Request) -> Response:
    """In its text format."""
    text = _desk(request).metrics.text()
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def _photographs() -> list[tuple[File, str]]:
    return [
        (example_photograph(), "A cup of coffee"),
        (example_person(), "A portrait, for metres by a person"),
    ]
