"""How paths are described in OpenAPI: formats, errors, forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel

from sightline.app.formats import FORMATS
from sightline.app.replies import Error, JobAnswer
from sightline.app.routes.examples import WAITING

Wait = Annotated[
    bool, Query(description="wait for the result; false answers 202 with a job at once")
]
Format = Annotated[
    str | None,
    Query(
        max_length=20,
        description="form of the result; wins over Accept",
        examples=["npz"],
    ),
]

_WORDS = {
    400: "the body cannot be read",
    401: "the token is missing or wrong",
    403: "the request comes from a page of another site",
    404: "there is no such thing",
    406: "there is no such form of the result",
    408: "the body took too long",
    409: "the job is not in a state for that",
    413: "the body, the picture or the video is too large",
    415: "the body is of the wrong type",
    421: "this server is not called that",
    422: "the input cannot be used",
    429: "too many requests, or too many that wait",
    503: "a model is missing, the worker was lost, or it took too long",
}

#: Where a job leads, for programs that read the description.
_LINKS = {
    name: {"operationId": name, "parameters": {"job_id": "$response.body#/id"}}
    for name in ("look", "events", "result", "at", "delete")
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe answers in words; those that every path can give are added."""
    every = sorted({*statuses, 401, 403, 421, 429, 503})
    return {status: {"model": Error, "description": _WORDS[status]} for status in every}


def shown(example: Mapping[str, Any]) -> dict[int | str, dict[str, Any]]:
    """Show what a good answer looks like."""
    return {200: {"content": {"application/json": {"example": dict(example)}}}}


def answers(
    model: Any, formats: Sequence[str], example: Mapping[str, Any]
) -> dict[int | str, dict[str, Any]]:
    """Describe a result in all its forms, the job that stands for it, and errors."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    content: dict[str, Any] = {"application/json": {"example": dict(example)}}
    for name in formats:
        if name != "json":
            content[FORMATS[name].media] = binary
    said = ", ".join(f"{name} ({FORMATS[name].says})" for name in formats)
    return {
        200: {"model": model, "description": f"the result as {said}", "content": content},
        202: {
            "model": JobAnswer,
            "description": "a job, with wait=false",
            "content": {"application/json": {"example": WAITING}},
            "links": _LINKS,
        },
        **errors(400, 406, 408, 413, 415, 422),
    }


def form_body(
    schema: type[BaseModel], files: Mapping[str, str], example: Mapping[str, Any]
) -> dict[str, Any]:
    """Describe a form: the fields of a schema, and files.

    Args:
        schema: of the fields that are no files.
        files: names of those that are, and what they are.
        example: of a whole form.
    """
    described = schema.model_json_schema(by_alias=True)
    described.pop("$defs", None)
    properties = {
        name: {"type": "string", "format": "binary", "description": says}
        for name, says in files.items()
    }
    described["properties"] = properties | described["properties"]
    if len(files) == 1 and schema.__name__ != "MeasureFields":
        described["required"] = [*files, *described.get("required", ())]
    content = {"multipart/form-data": {"schema": described, "example": dict(example)}}
    return {"requestBody": {"required": True, "content": content}}


def json_body(schema: type[BaseModel]) -> dict[str, Any]:
    """Describe a body of JSON."""
    described = schema.model_json_schema()
    examples = described.pop("examples")
    content: dict[str, Any] = {
        "schema": described,
        "examples": {f"example {n}": {"value": one} for n, one in enumerate(examples, 1)},
    }
    return {"requestBody": {"required": True, "content": {"application/json": content}}}
