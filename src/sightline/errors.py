"""What can go wrong, in one line each.

Two families, so that the command line can answer with the right exit code: mistakes in what the user
gave us (exit code 2) and failures of our own or of the machine (exit code 1).
"""

from __future__ import annotations

import traceback
from pathlib import Path


class SightlineError(Exception):
    """A failure of ours or of the machine: a full disk, a broken install."""

    exit_code = 1


class InputError(SightlineError):
    """A mistake in what was given to us: a corrupt picture, an unknown model, a wrong shape.

    Args:
        problem: what is wrong, without a full stop.
        path: the file it is wrong with, when there is one.
        remedy: what to do about it.
    """

    exit_code = 2

    def __init__(
        self, problem: str, *, path: str | Path | None = None, remedy: str | None = None
    ) -> None:
        self.problem = problem
        self.path = None if path is None else str(path)
        self.remedy = remedy
        line = problem if path is None else f"{path}: {problem}"
        super().__init__(line if remedy is None else f"{line}; {remedy}")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by argument names, so that the error survives the way back from a worker process."""
        return _rebuild, (type(self), self.problem, self.path, self.remedy)


def _rebuild(
    kind: type[InputError], problem: str, path: str | None, remedy: str | None
) -> InputError:
    return kind(problem, path=path, remedy=remedy)


def install(extra: str) -> str:
    """Say how to install an extra: Sightline is installed from its clone, not from an index.

    >>> install("train")
    "in Sightline's clone run: pip install -c constraints.txt -e '.[train]'"
    """
    return f"in Sightline's clone run: pip install -c constraints.txt -e '.[{extra}]'"


def explained(error: Exception, what: str, memory: str = "use fewer --workers") -> SightlineError:
    """Return an error of our own kind, one that can be sent from process to process.

    Ours pass through; any other is wrapped, its traceback kept as a note for SIGHTLINE_DEBUG=1.

    Args:
        error: any.
        what: it happened to.
        memory: what to do where it is memory that ran out.
    """
    if isinstance(error, SightlineError):
        return error
    if isinstance(error, MemoryError):
        return SightlineError(f"{what}: not enough memory; {memory}")
    named = SightlineError(f"{what}: {type(error).__name__}: {error}")
    named.add_note("".join(traceback.format_exception(error)))
    return named
