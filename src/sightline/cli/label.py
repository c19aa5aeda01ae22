"""`sightline label PICTURES... --model TEACHER --out LABELS`."""

from __future__ import annotations

import json as json_format
import sys
import time
from collections.abc import Sequence
from contextlib import closing, redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from sightline.batch.options import Flag
from sightline.depth.labelling.options import LabelOptions

if TYPE_CHECKING:
    from sightline.depth.labelling.run import Outcome
    from sightline.errors import SightlineError


def label(
    pictures: Annotated[list[str], Parameter(name="PICTURES")],
    /,
    *,
    out: str = "labels",
    json: Flag = False,
    options: Annotated[LabelOptions, Parameter(name="*")] = LabelOptions(),  # noqa: B008 - frozen
) -> int:
    """Label pictures with a teacher network, for a student to learn from.

    Each picture gets a 16-bit PNG of the same path and name below `out`: relative inverse depth, 0 the
    farthest, 65535 the nearest. What is labelled already is passed over, so the same command goes on
    where it was stopped. A bad picture is reported at the end and keeps no other from being labelled.

    Args:
        pictures: pictures, folders, quoted globs, or URLs of them (s3://, gs://, hf://, ...).
        out: folder or URL for the labels.
        json: print one line of JSON per picture on the standard output, and nothing else.
        options: everything else; one flag per field.
    """
    from sightline.cli.progress import progress
    from sightline.depth.labelling.plan import make_plan
    from sightline.depth.labelling.run import run

    start = time.perf_counter()
    plan = make_plan(pictures, out, recursive=options.recursive)
    outcomes: list[Outcome] = []
    standard_output = sys.stdout
    try:
        with (
            redirect_stdout(sys.stderr),  # where Ray's own remarks belong
            progress(len(plan.tasks), "labels") as display,
            closing(run(plan.tasks, out, options, notify=_tell)) as results,
        ):
            for outcome in results:
                outcomes.append(outcome)
                display.advance()
                if json:
                    print(json_format.dumps(_to_dict(outcome)), file=standard_output, flush=True)
    except KeyboardInterrupt as stop:
        done = sum(outcome.failure is None for outcome in outcomes)
        raise type(stop)(
            f"stopped with {done} of {len(plan.tasks)} labelled; the same command goes on"
        ) from None
    seconds = time.perf_counter() - start
    return _report(outcomes, plan.refused, out, seconds, quiet=json)


def _tell(line: str) -> None:
    print(line, file=sys.stderr)


def _to_dict(outcome: Outcome) -> dict[str, Any]:
    from sightline.batch.outcome import one_line

    row: dict[str, Any] = {"file": outcome.task.picture}
    if outcome.failure is not None:
        return {
            **row,
            "error": one_line(outcome.failure),
            "exit_code": outcome.failure.exit_code,
        }
    return {**row, "label": outcome.task.label, "skipped": outcome.skipped}


def _report(
    outcomes: Sequence[Outcome],
    refused: Sequence[SightlineError],
    out: str,
    seconds: float,
    *,
    quiet: bool,
) -> int:
    """Print what was done, and what was not; 2 when any picture was at fault, 1 when only we were."""
    from sightline.batch.outcome import one_line

    failures = [*refused, *(o.failure for o in outcomes if o.failure is not None)]
    skipped = sum(outcome.skipped for outcome in outcomes)
    done = sum(o.failure is None and not o.skipped for o in outcomes)
    parts = [f"{done} labelled"]
    if skipped:
        parts.append(f"{skipped} labelled before")
    if failures:
        parts.append(f"{len(failures)} failed")
    line = f"{', '.join(parts)} in {seconds:.1f} s, labels in {out}"
    if skipped and not done and not failures:
        line = f"nothing to do: all {skipped} labelled before, labels in {out}"
    stream = sys.stderr if quiet or failures else sys.stdout
    print(f"{line}{':' if failures else ''}", file=stream)
    for failure in failures:
        print(f"  {one_line(failure)}", file=stream)
    return max((failure.exit_code for failure in failures), default=0)
