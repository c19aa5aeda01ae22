"""Run a batch task from the command line: progress, JSON lines, summary, exit code."""

from __future__ import annotations

import json as json_format
import sys
import time
from collections.abc import Sequence
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sightline.errors import one_line

if TYPE_CHECKING:
    from sightline.config import ParallelConfig
    from sightline.jobs.task import BatchOutcome, BatchTask


def run_batch(
    task: BatchTask[Any, Any],
    inputs: Sequence[str],
    out: str,
    parallel: ParallelConfig,
    *,
    json: bool,
    resume: bool = True,
    keep_going: bool = True,
) -> int:
    """Run a task over all inputs and return the exit code.

    Args:
        task: the work.
        inputs: files, folders and globs.
        out: folder or URL of the results.
        parallel: where to run.
        json: print one line of JSON per input on the standard output, and nothing else.
        resume: skip finished inputs.
        keep_going: continue after a failed input.
    """
    from sightline.cli.progress import progress
    from sightline.io.paths import to_path
    from sightline.jobs.runner import run

    start = time.perf_counter()
    folder = to_path(out)
    jobs = task.prepare(inputs, folder)
    outcomes: list[BatchOutcome] = []
    stdout = sys.stdout
    try:
        with (
            redirect_stdout(sys.stderr),  # for messages of Ray
            progress(len(jobs), task.noun) as display,
            closing(
                run(
                    task,
                    jobs,
                    folder,
                    parallel,
                    resume=resume,
                    notify=lambda line: print(line, file=sys.stderr),
                    on_progress=display.step,
                )
            ) as results,
        ):
            for outcome in results:
                outcomes.append(outcome)
                display.advance()
                if json:
                    print(json_format.dumps(outcome.to_dict()), file=stdout, flush=True)
                else:
                    for line in outcome.lines:
                        print(line, file=stdout)
                for warning in outcome.warnings:
                    print(one_line(f"{outcome.job.source}: note: {warning}"), file=sys.stderr)
                if outcome.failure is not None and not keep_going:
                    raise outcome.failure
    except KeyboardInterrupt as stop:
        done = sum(outcome.failure is None for outcome in outcomes)
        how = "with --resume " if not resume else ""
        raise type(stop)(
            f"stopped with {done} of {len(jobs)} done; run the same command {how}to continue"
        ) from None
    return report(outcomes, out, time.perf_counter() - start, noun=task.noun, quiet=json)


def report(
    outcomes: Sequence[BatchOutcome],
    out: str | Path,
    seconds: float,
    *,
    noun: str = "results",
    quiet: bool = False,
) -> int:
    """Print a summary and return the exit code.

    The code is 2 if any input was invalid, 1 if there were only internal errors, 0 otherwise.

    Args:
        outcomes: one per input.
        out: folder of the results.
        seconds: total time in [s].
        noun: what the folder contains.
        quiet: print on the error stream, since the standard output carries JSON.
    """
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
    print(f"{', '.join(parts)} in {seconds:.1f} s, {noun} in {out}{end}", file=stream)
    for failure in failures:
        print(f"  {one_line(failure)}", file=stream)
    if len(outcomes) == 1 and not failures:
        for path in outcomes[0].job.paths:
            print(f"  {path}", file=stream)
    return max((failure.exit_code for failure in failures), default=0)
