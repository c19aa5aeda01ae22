"""The service as an ASGI application."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from sightline import __version__
from sightline.app.desk import Desk
from sightline.app.guards import Guard
from sightline.app.metrics import Metrics
from sightline.app.models import Shelf, setup_of
from sightline.app.options import ServeOptions
from sightline.app.problems import Problem
from sightline.app.routes import about, jobs, page, work
from sightline.app.spool import make_spool

#: Where the paths are.
_ROOMS = (work, jobs, about, page)

_ABOUT = """Depth, metres, answers and physics scores for pictures and videos.

Errors are JSON with one sentence: `{"error": "…"}`. Every POST waits for its result; with
`?wait=false` it answers with a job instead, whose progress, result and end are under `/v1/jobs`.
"""


def make_service(options: ServeOptions) -> Guard:
    """Put a service together; models are looked up now, and loaded by its workers when it starts.

    Args:
        options: how to serve.

    Raises:
        InputError: a model is not there.
    """
    spool = make_spool()
    metrics = Metrics()
    try:
        shelf = Shelf(setup_of(options, spool))
    except BaseException:
        shutil.rmtree(spool, ignore_errors=True)
        raise
    return Guard(make_app(options, shelf, spool, metrics), options, metrics)


def make_app(options: ServeOptions, shelf: Shelf, spool: Path, metrics: Metrics) -> FastAPI:
    """Make the application inside the guard."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        desk = Desk(options, shelf, spool, metrics)
        app.state.desk = desk
        try:
            await desk.open()
            yield
        finally:
            await desk.close()
            shutil.rmtree(spool, ignore_errors=True)

    app = FastAPI(
        title="Sightline",
        version=__version__,
        description=_ABOUT,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        lifespan=lifespan,
        docs_url=None,  # these would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    for one in _ROOMS:
        app.include_router(one.router)
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _failed)
    describe = app.openapi
    app.openapi = lambda: _described(describe(), options)  # type: ignore[method-assign]
    return app


def _described(schema: dict[str, Any], options: ServeOptions) -> dict[str, Any]:
    """Add to the description what FastAPI leaves out: null in examples, and the token if any."""
    routes = [route for room in _ROOMS for route in room.router.routes]
    for route in routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            _keep_examples(route, schema["paths"][route.path])
    if options.token is not None and "security" not in schema:
        bearer = {"bearer": {"type": "http", "scheme": "bearer"}}
        schema.setdefault("components", {})["securitySchemes"] = bearer
        schema["security"] = [{"bearer": []}]
        schema["paths"]["/healthz"]["get"]["security"] = []
    return schema


def _keep_examples(route: APIRoute, described: dict[str, Any]) -> None:
    for method in route.methods or ():
        answers = described[method.lower()]["responses"]
        for status, said in route.responses.items():
            for media, one in said.get("content", {}).items():
                if "example" in one:
                    answers[str(status)]["content"][media]["example"] = one["example"]


def _say(status: int, sentence: str, headers: Any = None) -> Response:
    problem = Problem(status, sentence)
    return JSONResponse({"error": problem.sentence}, status, headers=headers)


async def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return _say(error.status, error.sentence, error.headers)


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = str(first["loc"][-1])[:40]
    said = str(first["msg"]).removeprefix("Input ")
    return _say(422, f"{where}: {said}")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = {
        404: f"there is nothing at {request.url.path[:80]}",
        405: f"{request.method[:20]} is not for {request.url.path[:80]}",
    }.get(error.status_code, str(error.detail))
    return _say(error.status_code, sentence, error.headers)


async def _gone(_: Request, __: Exception) -> Response:
    return Response(status_code=499)  # nobody reads it; the counters do


async def _failed(_: Request, error: Exception) -> Response:
    return _say(500, f"the server failed over this request ({type(error).__name__})")
