"""MkDocs hook that writes the Python reference: every public name, from `__all__` of each package.

`docs/python.md` has one line `<!-- api: sightline.depth -->` per package. The hook replaces it with one
mkdocstrings directive per name of that package's `__all__`, so the page cannot differ from the API.
Print the page with `python docs/api_reference.py`.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

import griffe

PAGE = Path(__file__).with_name("python.md")
SOURCE = Path(__file__).parents[1] / "src"
_MARKER = re.compile(r"^<!-- api: ([\w.]+) -->$", re.MULTILINE)


@cache
def source() -> Any:
    """Return the parsed package. Nothing is imported, so no extra has to be installed."""
    package = griffe.load("sightline", search_paths=[str(SOURCE)], docstring_parser="google")
    assert isinstance(package, griffe.Module)
    return package


def package_of(path: str) -> Any:
    """Return the parsed package `sightline` or one below it, such as `sightline.depth`."""
    return source()[path.removeprefix("sightline").lstrip(".")] if "." in path else source()


def packages(text: str) -> list[str]:
    """Return the packages that a page describes, in the order of the page."""
    return _MARKER.findall(text)


def public_names(package: str) -> list[str]:
    """Return `__all__` of a package."""
    return [str(name) for name in package_of(package).exports or []]


def expand(text: str) -> str:
    """Replace every marker with the reference of its package."""
    return _MARKER.sub(lambda found: _reference(found[1]), text)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Expand the markers of `python.md`; called by MkDocs for every page."""
    return expand(markdown) if page.file.src_uri == PAGE.name else markdown


def _reference(package: str) -> str:
    return "\n\n".join(_entry(package, name) for name in public_names(package))


def _entry(package: str, name: str) -> str:
    """Return the Markdown of one name: a directive, or a heading and a text for constants."""
    if name == "__version__":
        return "* `sightline.__version__`: version of the package."
    found = _target(package, name)
    if package == "sightline":  # defined in a package below, which has the full entry
        home = ".".join(found.path.split(".")[:2])
        return f"* [`sightline.{name}`][{home}.{name}]: {_first_line(found)}"
    if found.is_class or found.is_function:
        return f"::: {package}.{name}"
    text = _first_line(found) if found.docstring else _comment(found)
    return f"### `{package}.{name}`\n\n{text}"


def _target(package: str, name: str) -> Any:
    """Return the object behind a public name; follow imports to where it is defined."""
    path = "sightline.metric.metric" if (package, name) == ("sightline", "metric") else ""
    found = source()[path.removeprefix("sightline.")] if path else package_of(package)[name]
    return found.final_target if found.is_alias else found


def _first_line(found: Any) -> str:
    return " ".join(found.docstring.value.split("\n\n")[0].split())


def _comment(constant: Any) -> str:
    """Return the `#:` comment above a constant."""
    lines = constant.filepath.read_text().splitlines()[: constant.lineno - 1]
    texts: list[str] = []
    while lines and lines[-1].startswith("#: "):
        texts.insert(0, lines.pop().removeprefix("#: "))
    return " ".join(texts)


class ExampleSections(griffe.Extension):
    """Griffe extension that shows doctests as code wherever they stand in a docstring."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Put an "Examples:" heading above doctests that have none."""
        if obj.docstring and ">>> " in obj.docstring.value:
            parts = re.split(r"\n\s*\n", inspect.cleandoc(obj.docstring.value))
            obj.docstring.value = "\n\n".join(
                "Examples:\n" + textwrap.indent(part, "    ") if part.startswith(">>> ") else part
                for part in parts
            )


if __name__ == "__main__":
    print(expand(PAGE.read_text()))
