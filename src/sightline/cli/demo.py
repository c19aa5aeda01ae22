"""`sightline demo`: the whole way once, on pictures that come with the package, as one page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

PartName = Literal["depth", "metres", "ask", "films"]


def demo(
    *,
    out: Path = Path("demo"),
    model: str = "default",
    only: Annotated[list[PartName] | None, Parameter(consume_multiple=True, negative=())] = None,
) -> int:
    """Make one page of the whole flow: depth and cloud, metres by a person, a question, films.

    Parts that need more than is installed, or networks that cannot be fetched, say so on the page.

    Args:
        out: folder for the page and the results.
        model: name of a depth model or a weight file.
        only: some of the parts.
    """
    from sightline.demo.run import NAMES, run_demo

    page, parts = run_demo(out, model, _tell, live=f"{_program()} serve --open", only=only or NAMES)
    for part in parts:
        print(f"{part.plan.title} ({part.seconds:.1f} s)" if part.fields else part.plan.title)
        for line in part.lines or (part.missing,):
            print(f"  {line}")
    print()
    print(f"page to look at  {page}")
    print(f"in a browser     {page.resolve().as_uri()}")
    print(f"the live page    {_program()} serve --open")
    return 0


def _program() -> str:
    """How the user called us, so that the next command can be copied."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "sightline" else "sightline"


def _tell(line: str) -> None:
    print(f"… {line}", file=sys.stderr, flush=True)
