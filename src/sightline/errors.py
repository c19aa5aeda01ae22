"""Exceptions with one-line messages.

Two families with their exit codes: `InputError` for invalid input (2) and `SightlineError` for all
other failures, such as a full disk (1).
"""

from __future__ import annotations

import traceback

__all__ = ["InputError", "SightlineError"]


class SightlineError(Exception):
    """A failure that the input is not to blame for: a full disk, a broken installation."""

    exit_code = 1


class InputError(SightlineError):
    """Invalid input: a corrupt image, an unknown model, a wrong shape.

    Args:
        problem: what is wrong, without a full stop.
        path: the file it is wrong with (a path or URL), when there is one.
        remedy: what to do about it.
    """

    exit_code = 2

    def __init__(self, problem: str, *, path: object = None, remedy: str | None = None) -> None:
        self.problem = problem
        self.path = None if path is None else str(path)
        self.remedy = remedy
        line = problem if path is None else f"{path}: {problem}"
        super().__init__(line if remedy is None else f"{line}; {remedy}")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by argument names, so that the error survives the way from a worker process."""
        return _rebuild, (type(self), self.problem, self.path, self.remedy)


def _rebuild(
    kind: type[InputError], problem: str, path: str | None, remedy: str | None
) -> InputError:
    return kind(problem, path=path, remedy=remedy)


def install(extra: str) -> str:
    """Return how to install an extra.

    >>> install("train")
    "run: pip install 'sightline[train]'"
    """
    return f"run: pip install 'sightline[{extra}]'"


def explained(error: Exception, what: str, memory: str = "use fewer --workers") -> SightlineError:
    """Return a `SightlineError` that can be sent from process to process.

    A `SightlineError` passes through; any other exception is wrapped, with its traceback as a note.

    Args:
        error: any exception.
        what: the input it happened to.
        memory: remedy for a lack of memory.
    """
    if isinstance(error, SightlineError):
        return error
    if isinstance(error, MemoryError):
        return SightlineError(f"{what}: not enough memory; {memory}")
    named = SightlineError(f"{what}: {type(error).__name__}: {error}")
    named.add_note("".join(traceback.format_exception(error)))
    return named


def one_line(message: object) -> str:
    """Return a message or error text on one line, whatever file names it contains."""
    return " ".join(str(message).split())
