"""REST API and web page of `sightline serve`.

The server process only speaks HTTP: it never decodes a picture and holds no model. Uploads are stored
in a private folder per job. Worker processes hold the models, read the uploads and write the results,
so that a crash in a decoder ends one worker and costs one client an error, and memory does not grow
with the number of clients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import lazy_exports

__all__ = ["Limits", "ServeConfig", "create_app", "serve"]

if TYPE_CHECKING:
    from sightline.server.app import create_app
    from sightline.server.config import Limits, ServeConfig
    from sightline.server.run import serve

__getattr__, __dir__ = lazy_exports(
    __name__, {"Limits": "config", "ServeConfig": "config", "create_app": "app", "serve": "run"}
)
