"""`sightline depth INPUT... --out DIR`."""

from __future__ import annotations

import json as json_format
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sightline.batch.options import DepthOptions, Flag

if TYPE_CHECKING:
    from sightline.batch.outcome import Outcome


def depth(
    inputs: Annotated[list[str], Parameter(name="INPUT")],
    /,
    *,
    out: Path = Path("depth"),
    json: Flag = False,
    options: Annotated[DepthOptions, Parameter(name="*")] = DepthOptions(),  # noqa: B008 - frozen
) -> int:
    """Estimate the depth of pictures and videos.

    Without `keep_going` the first bad file ends the run; what was written before stays.

    Args:
        inputs: pictures, videos, folders, or quoted globs.
        out: folder for the results.
        json: print one line of JSON per input on the standard output, and nothing else.
        options: everything else; one flag per field.
    """
    from sightline.batch.run import prepare, run
    from sightline.cli.progress import progress

    start = time.perf_counter()
    jobs = prepare(inputs, out, options)
    outcomes: list[Outcome] = []
    try:
        with (
            progress(len(jobs)) as display,
            closing(run(jobs, out, options, notify=_tell, on_frame=display.frame)) as results,
        ):
            for outcome in results:
                outcomes.append(outcome)
                display.advance()
                if json:
                    print(json_format.dumps(outcome.to_dict()), flush=True)
                if outcome.failure is not None and not options.keep_going:
                    raise outcome.failure
    except KeyboardInterrupt as stop:
        done = sum(outcome.failure is None for outcome in outcomes)
        raise type(stop)(
            f"stopped with {done} of {len(jobs)} done; the same command with --resume goes on"
        ) from None
    return report(outcomes, out, time.perf_counter() - start, quiet=json)


def _tell(line: str) -> None:
    print(line, file=sys.stderr)


def report(outcomes: Sequence[Outcome], out: Path, seconds: float, *, quiet: bool = False) -> int:
    """Print what was done, and what was not, and return the exit code.

    The code is 2 when any input was at fault, 1 when only we were, 0 when all went well.

    Args:
        outcomes: of every input.
        out: folder of the results.
        seconds: the whole took.
        quiet: print on the error stream, since the standard output carries JSON.
    """
    from sightline.batch.outcome import one_line

    failures = [outcome.failure for outcome in outcomes if outcome.failure is not None]
    skipped = sum(outcome.skipped for outcome in outcomes)
    done = len(outcomes) - skipped - len(failures)
    parts = [f"{done} done"]
    if skipped:
        parts.append(f"{skipped} done before")
    if failures:
        parts.append(f"{len(failures)} failed")
    stream = sys.stderr if quiet or failures else sys.stdout
    end = ":" if failures else ""
    print(f"{', '.join(parts)} in {seconds:.1f} s, results in {out}{end}", file=stream)
    for failure in failures:
        print(f"  {one_line(failure)}", file=stream)
    for outcome in outcomes:
        if outcome.note:
            print(f"  {one_line(f'{outcome.job.source}: {outcome.note}')}", file=sys.stderr)
    if len(outcomes) == 1 and not failures:
        for path in outcomes[0].job.paths:
            print(f"  {path}", file=stream)
    return max((failure.exit_code for failure in failures), default=0)
