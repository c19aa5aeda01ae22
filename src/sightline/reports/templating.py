"""Fill in templates: one environment for every page, with the shared layout and stylesheet in it."""

from __future__ import annotations

from pathlib import Path

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    PackageLoader,
    StrictUndefined,
    select_autoescape,
)
from markupsafe import Markup

from sightline.errors import InputError

#: What every page of ours carries in its head, so that no page of somebody else's is overwritten.
MARK = '<meta name="generator" content="Sightline">'
#: It stands within so many bytes.
_HEAD = 1024


def environment(*packages: str) -> Environment:
    """Return an environment that finds the templates of some packages, then those of this one.

    A page extends `base.html`, which carries the stylesheet; `{{ asset("cloud.js") }}` puts a file of
    ours into the page as it stands.

    Args:
        packages: dotted names, each with a folder `templates`.
    """
    loaders: list[BaseLoader] = [PackageLoader(name) for name in (*packages, "sightline.reports")]
    made = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def asset(name: str) -> Markup:
        assert made.loader is not None
        return Markup(made.loader.get_source(made, name)[0])

    made.globals |= {"asset": asset, "mark": Markup(MARK)}
    return made


def check_ours(path: Path) -> None:
    """Refuse to overwrite a page that is not one of ours.

    Args:
        path: default path of the page inside the folder that the user named.

    Raises:
        InputError: there is something there, and it does not carry our mark.
    """
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            ours = MARK.encode() in file.read(_HEAD)
    except OSError:
        ours = False
    if not ours:
        raise InputError(
            "is there already and no page of Sightline's",
            path=path,
            remedy="give another --out, or move it away",
        )
