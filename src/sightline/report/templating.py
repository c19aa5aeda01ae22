"""Fill in templates: one environment for every page, with the shared layout and stylesheet in it."""

from __future__ import annotations

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    PackageLoader,
    StrictUndefined,
    select_autoescape,
)
from markupsafe import Markup


def environment(*packages: str) -> Environment:
    """Return an environment that finds the templates of some packages, then those of this one.

    A page extends `base.html`, which carries the stylesheet; `{{ asset("cloud.js") }}` puts a file of
    ours into the page as it stands.

    Args:
        packages: dotted names, each with a folder `templates`.
    """
    loaders: list[BaseLoader] = [PackageLoader(name) for name in (*packages, "sightline.report")]
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

    made.globals["asset"] = asset
    return made
