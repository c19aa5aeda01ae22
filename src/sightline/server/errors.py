"""Errors of the service: an HTTP status with one sentence."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping

from sightline.errors import InputError, install

#: Remedies and flags of the command line, which do not apply to REST clients.
_MAX_PIXELS = re.compile(r"; make it smaller, or raise --max-pixels.*", re.DOTALL)
_FLAG = re.compile(r"--([a-z][a-z-]*)")

NO_ASK_MODEL = (
    "this server has no model for questions; start it with --ask-model, or for the embedded one, "
    f"{install('perception')}"
)
NO_VIDEO_MODEL = (
    "this server has no video model; start it with --video-model, or for the embedded one, "
    f"{install('perception')}"
)
DISK_FULL = "the disk of the server is full; try again later"


class ServiceError(Exception):
    """An error response.

    Args:
        status: HTTP status.
        message: what is wrong and what to do; becomes one sentence.
        headers: additional response headers.
        retry_after: seconds after which a retry may succeed; None if a retry does not help.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = as_sentence(message)
        self.retry_after = None if retry_after is None else max(1, round(retry_after))
        self.headers = dict(headers or {})
        if self.retry_after is not None:
            self.headers["Retry-After"] = str(self.retry_after)

    @property
    def body(self) -> dict[str, str]:
        """JSON body of the response."""
        return {"error": self.message}


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether an exception or one of its causes is a full disk."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        if "the disk is full" in str(error):  # message of `io.atomic`
            return True
        error = error.__cause__ or error.__context__
    return False


def as_sentence(text: str) -> str:
    """Return one line that starts with a capital and ends with a full stop, at most 600 characters.

    >>> as_sentence("image: is damaged")
    'Image: is damaged.'
    """
    line = " ".join(text.split())
    line = line if len(line) <= 600 else line[:599] + "…"
    line = line[:1].upper() + line[1:]
    return line if line.endswith((".", "?", "!", "…")) else line + "."


def flags_to_fields(line: str) -> str:
    """Replace command-line flags by the names of form fields.

    >>> flags_to_fields("give --depth-at")
    'give depth_at'
    """
    return _FLAG.sub(lambda flag: flag[1].replace("-", "_"), line)


def describe_input_error(error: InputError, field: str) -> str:
    """Return the message of an `InputError`, naming a form field instead of a temporary file.

    Args:
        error: the error of a worker.
        field: name of the form field that was read.

    >>> describe_input_error(InputError("is damaged", path="tmp/x", remedy="get it again"), "image")
    'Image: is damaged; get it again.'
    """
    problem = error.problem
    if error.path is not None:
        problem = problem.replace(error.path, field)
    line = problem if error.remedy is None else f"{problem}; {error.remedy}"
    line = flags_to_fields(_MAX_PIXELS.sub("; make it smaller", line))
    verb = problem.partition(" ")[0]
    lacks_subject = verb in {"is", "has", "holds", "declares", "claims", "cannot"}
    named = error.path is not None or lacks_subject
    return as_sentence(f"{field}: {line}" if named else line)
