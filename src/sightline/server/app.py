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

from sightline.server.config import ServeConfig
from sightline.server.errors import DISK_FULL, ServiceError, is_disk_full
from sightline.server.job_service import JobService
from sightline.server.jobs import make_job_root
from sightline.server.metrics import Metrics
from sightline.server.middleware import SecurityMiddleware
from sightline.server.models import ModelCatalog, worker_settings
from sightline.server.routes import ROUTERS
from sightline.version import __version__

_DESCRIPTION = """Depth, metric depth, answers and physics scores for pictures and videos.

Errors are JSON with one sentence: `{"error": "…"}`. Every POST waits for its result; with
`?wait=false` it returns a job instead, whose state and result are under `/v1/jobs`.
"""


def create_app(config: ServeConfig) -> SecurityMiddleware:
    """Create the service. Models are resolved now and loaded by the workers at its start.

    Args:
        config: settings of the server.

    Raises:
        InputError: a model does not exist.
    """
    root, metrics = make_job_root(), Metrics()
    try:
        catalog = ModelCatalog(worker_settings(config, root))
    except BaseException:
        shutil.rmtree(root, ignore_errors=True)
        raise
    return SecurityMiddleware(_make_api(config, catalog, root, metrics), config, metrics)


def _make_api(config: ServeConfig, catalog: ModelCatalog, root: Path, metrics: Metrics) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = JobService(config, catalog, root, metrics)
        app.state.service = service
        try:
            await service.start()
            yield
        finally:
            await service.close()
            shutil.rmtree(root, ignore_errors=True)

    app = FastAPI(
        title="Sightline",
        version=__version__,
        description=_DESCRIPTION,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        lifespan=lifespan,
        root_path=config.root_path,
        docs_url=None,  # these pages load scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    for router in ROUTERS:
        app.include_router(router)
    app.add_exception_handler(ServiceError, _on_service_error)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(ClientDisconnect, _on_disconnect)
    app.add_exception_handler(OSError, _on_os_error)
    app.add_exception_handler(Exception, _on_internal_error)
    generate = app.openapi
    app.openapi = lambda: _complete_openapi(generate(), config)  # type: ignore[method-assign]
    return app


def _complete_openapi(schema: dict[str, Any], config: ServeConfig) -> dict[str, Any]:
    """Restore null values in examples, which FastAPI removes, and describe the token."""
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute) and route.include_in_schema:
                _restore_examples(route, schema["paths"][route.path])
    if config.token is not None and "security" not in schema:
        bearer = {"bearer": {"type": "http", "scheme": "bearer"}}
        schema.setdefault("components", {})["securitySchemes"] = bearer
        schema["security"] = [{"bearer": []}]
        schema["paths"]["/healthz"]["get"]["security"] = []
    return schema


def _restore_examples(route: APIRoute, described: dict[str, Any]) -> None:
    for method in route.methods or ():
        answers = described[method.lower()]["responses"]
        for status, response in route.responses.items():
            for media_type, content in response.get("content", {}).items():
                if "example" in content:
                    answers[str(status)]["content"][media_type]["example"] = content["example"]


def _respond(error: ServiceError) -> Response:
    return JSONResponse(error.body, error.status, headers=error.headers)


async def _on_service_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    return _respond(error)


async def _on_validation_error(_: Request, error: Exception) -> Response:
    """Describe the first invalid field in one sentence."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    field = ".".join(str(part)[:40] for part in first["loc"][1:])
    message = str(first["msg"]).removeprefix("Input ").removeprefix("Value error, ")
    if first["type"] == "json_invalid":
        return _respond(ServiceError(400, f"the body is not valid JSON: {message}"))
    if first["type"] == "extra_forbidden":
        message = f"there is no field called {field!r}"
    elif first["type"] == "missing":
        message = f"{field or 'the body'} is missing"
    elif field:
        message = f"{field}: {message}"
    return _respond(ServiceError(422, message))


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path = request.url.path[:80]
    message = {
        404: f"there is nothing at {path}",
        405: f"{path} does not support {request.method[:20]}",
    }.get(error.status_code, str(error.detail))
    return _respond(ServiceError(error.status_code, message, headers=error.headers))


async def _on_disconnect(_: Request, __: Exception) -> Response:
    return Response(status_code=499)  # the client is gone; the status is for the metrics


async def _on_os_error(_: Request, error: Exception) -> Response:
    if not is_disk_full(error):
        raise error
    return _respond(ServiceError(507, DISK_FULL, retry_after=60))


async def _on_internal_error(_: Request, error: Exception) -> Response:
    """Answer 500. A full disk is expected and answered by `_on_os_error`."""
    return _respond(ServiceError(500, f"internal error ({type(error).__name__})"))
