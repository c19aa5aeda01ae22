"""Paths of jobs: how far they are, their results, and how to be rid of them."""

from __future__ import annotations

import asyncio
import json
import math
import struct
from collections.abc import Sequence
from pathlib import Path as File
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from sightline.app import replies
from sightline.app.desk import Desk
from sightline.app.formats import FORMATS, choose
from sightline.app.jobs import Job
from sightline.app.problems import Problem
from sightline.app.routes import examples
from sightline.app.routes.describe import Format, errors, shown
from sightline.app.tasks.order import POINTS

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

Id = Annotated[str, Path(max_length=64, pattern="^[A-Za-z0-9_-]+$", examples=["k3J8sJw2T0yq5b7h"])]

#: One of the server-sent events.
_EVENT = {
    "type": "object",
    "properties": {
        "event": {"const": "job"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
}

_EXAMPLE = {"event": "job", "data": json.dumps(examples.JOB)}

_DIRECTIONS = {"metric_depth": "larger is farther"}


@router.get(
    "/{job_id}",
    summary="How far a job is",
    response_model=replies.JobAnswer,
    responses={**shown(examples.JOB), **errors(404, 422)},
)
async def look(request: Request, job_id: Id) -> dict[str, Any]:
    """Queued, running, done, failed or cancelled."""
    desk = _desk(request)
    return desk.described(desk.jobs.get(job_id))


@router.get(
    "/{job_id}/events",
    summary="A job's progress as server-sent events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "events called job, whose data is the job; the stream ends with it",
            "content": {"text/event-stream": {"schema": _EVENT, "example": _EXAMPLE}},
        },
        **errors(404, 422),
    },
)
async def events(request: Request, job_id: Id) -> Response:
    """One event at once, and one for every change."""
    desk = _desk(request)
    job = desk.jobs.get(job_id)
    return StreamingResponse(desk.events(job), media_type="text/event-stream")


@router.get(
    "/{job_id}/result",
    summary="The result of a job",
    response_class=Response,
    responses={
        200: {
            "description": "the result, in a form out of the job's `formats`",
            "content": {
                form.media: {"schema": {"type": "string", "format": "binary"}}
                for form in FORMATS.values()
                if form.name != "json"
            }
            | {"application/json": {"schema": {"type": "object"}, "example": examples.DEPTH}},
        },
        **errors(404, 406, 409, 422),
    },
)
async def result(
    request: Request,
    job_id: Id,
    format: Format = None,
    points: Annotated[
        int, Query(ge=1000, le=1_500_000, description="of a cloud or mesh, at most")
    ] = POINTS,
) -> Response:
    """Other forms than the first are made when they are asked for, and kept with the job."""
    desk = _desk(request)
    job = desk.jobs.get(job_id)
    if job.state != "done":
        raise job.problem()
    wanted = choose(request.headers.get("accept"), format, job.formats)
    return await desk.result(request, job, wanted, points)


@router.get(
    "/{job_id}/at",
    summary="The value at one pixel of a map",
    response_model=replies.AtAnswer,
    responses={**shown(examples.AT), **errors(404, 409, 422)},
)
async def at(
    request: Request,
    job_id: Id,
    x: Annotated[int, Query(ge=0, le=1_000_000, description="column")],
    y: Annotated[int, Query(ge=0, le=1_000_000, description="row")],
) -> dict[str, Any]:
    """Read a map; its top left pixel is 0, 0."""
    desk = _desk(request)
    job = desk.jobs.get(job_id)
    if job.state != "done":
        raise job.problem()
    if "f32" not in job.formats:
        raise Problem(409, f"a job of {job.kind} has no map")
    with desk.holding(job):
        path = await desk.made(request, job, "f32", POINTS)
        return await asyncio.to_thread(_read_value, job, path, x, y)


@router.delete(
    "/{job_id}",
    summary="Cancel a job, or remove its result",
    response_model=replies.JobAnswer,
    responses={**shown({**examples.JOB, "state": "cancelled"}), **errors(404, 422)},
)
async def delete(request: Request, job_id: Id) -> Response:
    """One that waits or runs is cancelled; one that has ended is removed with its files."""
    desk = _desk(request)
    job = desk.jobs.get(job_id)
    desk.cancel(job)
    return JSONResponse(desk.described(job))


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def _read_value(job: Job, path: File, x: int, y: int) -> dict[str, Any]:
    """Read one number, and its error bar, out of the raw map."""
    width, height = (int(job.headers[f"X-Sightline-{name}"]) for name in ("Width", "Height"))
    if x >= width or y >= height:
        raise Problem(422, f"{x},{y} lies outside the map of {width} × {height} px")
    kind, unit = job.headers["X-Sightline-Kind"], job.headers["X-Sightline-Unit"]
    planes = int(job.headers["X-Sightline-Planes"])
    value, *spread = _floats(path, [(plane * height + y) * width + x for plane in range(planes)])
    valid = math.isfinite(value)
    sigma = spread[0] if valid and spread and math.isfinite(spread[0]) else None
    return {
        "x": x,
        "y": y,
        "valid": valid,
        "value": value if valid else None,
        "sigma": sigma,
        "unit": unit,
        "kind": kind,
        "direction": _DIRECTIONS.get(kind, "larger is nearer"),
        "text": _text(value, sigma, unit) if valid else "nothing is known here",
    }


def _floats(path: File, places: Sequence[int]) -> list[float]:
    with path.open("rb") as file:
        found = []
        for place in places:
            file.seek(4 * place)
            found.append(float(struct.unpack("<f", file.read(4))[0]))
    return found


def _text(value: float, sigma: float | None, unit: str) -> str:
    if sigma is not None:
        from sightline.metric.measure import Value

        return f"{Value(value, sigma)} {unit}".strip()
    return f"{value:.3g} {unit}".strip()
