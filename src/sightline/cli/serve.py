"""`sightline serve`: the page and the REST service."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from sightline.app.options import ServeOptions
from sightline.errors import InputError, install


def serve(
    *,
    options: Annotated[ServeOptions, Parameter(name="*")] = ServeOptions(),  # noqa: B008 - frozen
) -> int:
    """Serve a page to look at and a REST service to build on, until Ctrl-C.

    Only this machine can reach it unless --host says otherwise, which needs a token.

    Args:
        options: everything; one flag per field.
    """
    try:
        from sightline.app.run import serve as run
    except ImportError as error:
        raise InputError(f"the service needs {error.name}", remedy=install("app")) from error
    return run(options)
