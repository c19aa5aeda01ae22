"""The page and its files."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse, Response

from sightline import report
from sightline.app.problems import Problem

router = APIRouter(include_in_schema=False)

FOLDER = Path(__file__).parents[1] / "page"
#: What the page has in common with reports, so that all look alike.
SHARED = Path(report.__file__).parent / "templates"
COMMON = frozenset({"look.css", "cloud.js"})

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
}


@router.get("/")
async def index() -> Response:
    """Send the page itself."""
    return _file("index.html")


@router.get("/favicon.ico")
async def icon() -> Response:
    """Send what browsers ask for on their own."""
    return _file("icon.svg")


@router.get("/page/{name:path}")
async def part(name: str) -> Response:
    """Send a file that the page needs."""
    return _file(name)


def _file(name: str) -> Response:
    """Send a file of the page's folder or one of the common ones, and nothing from outside."""
    folder = SHARED if name in COMMON else FOLDER
    try:
        path = (folder / name).resolve()
        found = path.is_relative_to(folder.resolve()) and path.is_file()
    except (OSError, ValueError):  # a name too long, or with a null character
        found = False
    if not found or path.suffix not in _TYPES or path.name.startswith("."):
        raise Problem(404, "there is no such page")
    return FileResponse(path, media_type=_TYPES[path.suffix], headers={"Cache-Control": "no-cache"})
