"""Bodies of requests: read within bounds, checked against their schema, files put aside."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, get_origin

from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from sightline.app.problems import Problem

M = TypeVar("M", bound=BaseModel)

#: Fields of a form, at most, and bytes of one that is no file.
_FIELDS, _FIELD_BYTES = 128, 65_536


async def read_json(request: Request, schema: type[M]) -> M:
    """Read a body of JSON.

    Raises:
        Problem: 415, 400 or 422.
    """
    if _media(request) != "application/json":
        raise Problem(415, "send the body as Content-Type: application/json")
    body = await request.body()
    try:
        return schema.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            raise Problem(400, f"the body is no JSON: {first['msg']}") from None
        raise Problem(422, _complaint(error)) from None


async def read_form(
    request: Request, schema: type[M], files: Sequence[str], folder: Path
) -> tuple[M, list[str]]:
    """Read a form; files of it become `upload-NAME` in a folder.

    Args:
        request: whose body it is.
        schema: of the fields that are no files.
        files: names of those that are.
        folder: for them.

    Returns:
        The fields, and the names of files that were sent.

    Raises:
        Problem: 415, 400 or 422.
    """
    if _media(request) != "multipart/form-data":
        raise Problem(415, "send the body as Content-Type: multipart/form-data")
    try:
        form = request.form(max_files=len(files), max_fields=_FIELDS, max_part_size=_FIELD_BYTES)
        async with form as found:
            words, uploads = _sort(found, schema, files)
            for name, upload in uploads.items():
                await asyncio.to_thread(_save, upload, folder / f"upload-{name}")
    except HTTPException as error:
        raise Problem(400, f"the form cannot be read: {error.detail}") from None
    except KeyError:  # no boundary
        raise Problem(400, "the form cannot be read: it names no boundary") from None
    try:
        return schema.model_validate(words), list(uploads)
    except ValidationError as error:
        raise Problem(422, _complaint(error)) from None


def _sort(
    form: FormData, schema: type[BaseModel], files: Sequence[str]
) -> tuple[dict[str, Any], dict[str, UploadFile]]:
    """Tell files from words; a field of many may come several times, any other once."""
    many = {
        field.alias or name
        for name, field in schema.model_fields.items()
        if get_origin(field.annotation) is list
    }
    words: dict[str, Any] = {}
    uploads: dict[str, UploadFile] = {}
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            if name not in files:
                raise Problem(422, f"there is no file called {name[:40]!r} in this form")
            if name in uploads:
                raise Problem(422, f"{name} was sent twice")
            uploads[name] = value
        elif name in files:
            raise Problem(422, f"{name} must be a file, not words")
        elif value == "":
            continue  # what a form on a page sends for a field that was left empty
        elif name in many:
            words.setdefault(name, []).append(value)
        elif name in words:
            raise Problem(422, f"{name[:40]} was sent twice")
        else:
            words[name] = value
    return words, uploads


def _save(upload: UploadFile, path: Path) -> None:
    with path.open("wb") as file:
        shutil.copyfileobj(upload.file, file, 1 << 20)


def _media(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _complaint(error: ValidationError) -> str:
    """Say what is wrong with the first field that is."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part)[:40] for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"there is no field called {where!r}"
    if first["type"] == "missing":
        return f"{where} is missing"
    said = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{where}: {said}" if where else said
