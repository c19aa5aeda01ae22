"""`sightline demo`: run the end-to-end demo on bundled images."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from sightline.errors import SightlineError

if TYPE_CHECKING:
    from sightline.demo.part import Part

PartName = Literal["depth", "meters", "ask", "films"]


def demo(
    *,
    out: Path = Path("demo"),
    model: str = "default",
    only: Annotated[list[PartName] | None, Parameter(consume_multiple=True, negative=())] = None,
) -> int:
    """Run the end-to-end demo and write one page: depth, metric depth, a question, physics videos.

    The page lists parts that need packages or models that are not available. A part that fails by an
    internal error does not affect the others; the exit code is then 1.

    Args:
        out: output folder for the page and the results.
        model: name of a depth model or path of a weight file.
        only: parts to run. Default: all.
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
    _tell_failures(parts)
    return 0


def _tell_failures(parts: Sequence[Part]) -> None:
    """Raise a failure of ours that names the parts that failed, if any did."""
    from sightline.demo.part import in_short

    failed = [(part.plan.name, part.error) for part in parts if part.error is not None]
    if failed:
        said = "; ".join(f"{name}: {in_short(error)}" for name, error in failed)
        count = "a part" if len(failed) == 1 else f"{len(failed)} parts"
        sys.stdout.flush()
        raise SightlineError(f"{count} of the demo failed ({said})") from failed[0][1]


def _program() -> str:
    """How the user called us, so that the next command can be copied."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "sightline" else "sightline"


def _tell(line: str) -> None:
    print(f"… {line}", file=sys.stderr, flush=True)
