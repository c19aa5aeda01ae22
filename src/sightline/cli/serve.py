"""`sightline serve`: start the web page and the REST service."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from sightline.errors import InputError, install
from sightline.server.config import ServeConfig


def serve(
    *,
    config: Annotated[ServeConfig, Parameter(name="*")] = ServeConfig(),  # noqa: B008 - frozen
) -> int:
    """Serve the web page and the REST API until Ctrl-C.

    By default only this machine can reach it; --host changes that and needs a token.

    Args:
        config: settings of the server.
    """
    try:
        from sightline.server.run import serve as run
    except ImportError as error:
        raise InputError(f"the server needs {error.name}", remedy=install("app")) from error
    return run(config)
