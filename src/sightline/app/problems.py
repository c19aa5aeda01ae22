"""What goes wrong, as answers: a status and one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sightline.errors import InputError, install

#: Remedies of the command line that a client of the service has no use for.
_PIXELS = re.compile(r"; make it smaller, or raise --max-pixels.*", re.DOTALL)
_FLAG = re.compile(r"--([a-z][a-z-]*)")

#: The embedded models want packages that the service alone does not.
NO_SPEAKER = (
    "this server has no model that answers questions; start it with --ask-model, or for the embedded "
    f"one, {install('perception')}"
)
NO_VIDEO_MODEL = (
    "this server has no video model; start it with --video-model, or for the embedded one, "
    f"{install('perception')}"
)


class Problem(Exception):
    """An answer instead of a result.

    Args:
        status: HTTP status.
        sentence: what is wrong and what to do about it.
        headers: to send along.
        retry: seconds after which trying again makes sense; None where it makes none.
    """

    def __init__(
        self,
        status: int,
        sentence: str,
        *,
        headers: Mapping[str, str] | None = None,
        retry: float | None = None,
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = as_sentence(sentence)
        self.headers = dict(headers or {})
        if retry is not None:
            self.headers["Retry-After"] = str(max(1, round(retry)))


def as_sentence(text: str) -> str:
    """One line that begins with a capital and ends with a full stop; at most 600 characters.

    >>> as_sentence("image: is damaged")
    'Image: is damaged.'
    """
    line = " ".join(text.split())
    line = line if len(line) <= 600 else line[:599] + "…"
    line = line[:1].upper() + line[1:]
    return line if line.endswith((".", "?", "!", "…")) else line + "."


def without_flags(line: str) -> str:
    """Name fields of a form instead of flags of the command line.

    >>> without_flags("give --depth-at")
    'give depth_at'
    """
    return _FLAG.sub(lambda flag: flag[1].replace("-", "_"), line)


def in_words(error: InputError, what: str) -> str:
    """Say what is wrong with an input, naming the field of the form instead of a file of ours.

    Args:
        error: whose file, if it names one, is not shown.
        what: name of the field that was read.

    >>> in_words(InputError("is damaged", path="spool/input", remedy="get it again"), "image")
    'Image: is damaged; get it again.'
    """
    problem = error.problem
    if error.path is not None:
        problem = problem.replace(error.path, what)
    line = problem if error.remedy is None else f"{problem}; {error.remedy}"
    line = _PIXELS.sub("; make it smaller", line)
    line = without_flags(line)
    verb = problem.partition(" ")[0]
    bare = verb in {"is", "has", "holds", "declares", "claims", "cannot"}
    named = error.path is not None or bare
    return as_sentence(f"{what}: {line}" if named else line)
