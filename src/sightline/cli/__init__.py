"""The command line: `sightline COMMAND`.

One small file per command, imported only when that command is used, so that `--help` answers at once.
`main` is the one place where errors are caught and become a line and an exit code:

* 0: done
* 1: a failure of ours or of the machine
* 2: a mistake in what was given: an unknown flag, a corrupt picture, a missing file
* 130: stopped by Ctrl-C
* 143: stopped by a polite kill (SIGTERM)
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, get_args

from sightline.errors import InputError, SightlineError, install

if TYPE_CHECKING:
    from cyclopts import App, ArgumentCollection, CycloptsError

#: Numbers with a comma between them, the first below zero.
_NEGATIVE = re.compile(r"-\.?\d[\d.]*,")

USAGE = 2
STOPPED = 128 + signal.SIGINT

#: name, where it is, what it does. The help is here, so that listing commands imports none of them.
COMMANDS = (
    ("depth", "sightline.cli.depth:depth", "Depth of pictures, folders and videos."),
    ("metric", "sightline.cli.metric:metric", "Metres, by people or by what you know."),
    ("measure", "sightline.cli.measure:measure", "Distances in a picture, with error bars."),
    ("serve", "sightline.cli.serve:serve", "A page to look at and a REST service to build on."),
    ("view", "sightline.cli.view:view", "Make a page of results to look at in a browser."),
    ("scenes", "sightline.cli.scenes:app", "Make synthetic pictures with exact depth."),
    ("physics", "sightline.cli.physics:app", "Videos of worlds with known laws, and their score."),
    ("video", "sightline.cli.video:app", "Train, run and study models that continue videos."),
    ("ask", "sightline.cli.ask:ask", "Ask a model about a picture, its steps shown."),
    ("quiz", "sightline.cli.quiz:quiz", "Score a model that answers questions about pictures."),
    ("questions", "sightline.cli.questions:app", "Make questions about pictures, and answers."),
    ("tokens", "sightline.cli.tokens:app", "Depth maps as tokens of a language model."),
    ("label", "sightline.cli.label:label", "Label pictures with a teacher, for a student."),
    (
        "train",
        "sightline.cli.train:app",
        "Train a teacher, a student, a metric model or a speaker.",
    ),
    ("bench", "sightline.cli.bench:bench", "Score a model on a benchmark, protocol included."),
    ("models", "sightline.cli.models:app", "List models, fetch them, show their licences."),
    ("demo", "sightline.cli.demo:demo", "The whole way once, on pictures that come with it."),
)


#: What to install for commands that need more than the core.
EXTRAS = {
    "physics": "physics",
    **dict.fromkeys(("scenes", "metric", "measure"), "metric"),
    **dict.fromkeys(("train", "label", "video"), "train,physics"),
    **dict.fromkeys(("ask", "quiz", "questions", "tokens"), "perception"),
    "serve": "app",
}


#: What brings packages that only a part of a command needs.
PACKAGES = dict.fromkeys(("transformers", "peft"), "perception")


class Terminated(KeyboardInterrupt):
    """A polite kill, which runs the same clean-up as Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Args:
        arguments: words after the program's name; those of this process when None.
    """
    try:
        _prepare_process()
        return _run(sys.argv[1:] if arguments is None else arguments)
    except Terminated as stop:
        return _complain(str(stop) or "stopped", 128 + signal.SIGTERM)
    except KeyboardInterrupt as stop:
        return _complain(str(stop) or "stopped", STOPPED)


def _run(arguments: Sequence[str]) -> int:
    """Run the command line; every error becomes a line and an exit code."""
    from cyclopts import CycloptsError

    try:
        _refuse_empty_words(arguments)
        result = build()(_with_negative_places(arguments))
        sys.stdout.flush()
    except CycloptsError as error:
        return _complain(_usage(error), USAGE)
    except BrokenPipeError:
        # The reader of our output went away (`| head`); Python would complain at exit otherwise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except SightlineError as error:
        _trace_if_debugging()
        return _complain(str(error), error.exit_code)
    except ModuleNotFoundError as error:
        _trace_if_debugging()
        return _complain(_lacking(error, next(iter(arguments), "")), USAGE)
    except Exception as error:  # the last line of defence: a line, not a traceback
        hint = "" if _trace_if_debugging() else "; run with SIGHTLINE_DEBUG=1 for the traceback"
        return _complain(f"{type(error).__name__}: {error}{hint}", 1)
    return result if isinstance(result, int) else 0


def build() -> App:
    """Put the command line together; no command is imported."""
    from cyclopts import App, Parameter

    from sightline import __version__

    app = App(
        name="sightline",
        help="Pixels to measurements of the physical world.",
        help_epilogue="Exit codes: 0 done, 1 a failure of ours, 2 a mistake in what was given, "
        "130 stopped by Ctrl-C.",
        version=__version__,
        help_format="plaintext",
        default_parameter=Parameter(negative=()),
        config=_refuse_halves,
        print_error=False,
        exit_on_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for name, place, summary in COMMANDS:
        app.command(place, name=name, help=summary)
    return app


def _prepare_process() -> None:
    """Let any file name be printed, and let a polite kill run the same clean-up as Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _terminate)


def _terminate(*_: object) -> None:
    raise Terminated


def _refuse_empty_words(arguments: Sequence[str]) -> None:
    """No command has a use for an empty word, and as a path it would mean the present folder."""
    for before, word in zip(("", *arguments), arguments, strict=False):
        if not word or (word.startswith("--") and word.endswith("=")):
            where = f"after {before}" if before and not word else word
            raise InputError(
                f"an empty argument ({where or 'the first'})", remedy="is a shell variable unset?"
            )


def _with_negative_places(arguments: Sequence[str]) -> list[str]:
    """Join a flag and the pixel -1,2 behind it: no flag, but outside the picture, as is then said."""
    words: list[str] = []
    for word in arguments:
        before = words[-1] if words else ""
        if _NEGATIVE.match(word) and before.startswith("--") and "=" not in before:
            words[-1] = f"{before}={word}"
        else:
            words.append(word)
    return words


def _refuse_halves(_app: App, _command: tuple[str, ...], given: ArgumentCollection) -> None:
    """Refuse 1.5 where a whole number is wanted: it would be rounded without a word."""
    for argument in given:
        kinds = get_args(argument.hint) or (argument.hint,)
        if int not in kinds or float in kinds:
            continue
        for token in argument.tokens:
            try:
                whole = float(token.value).is_integer()
            except ValueError:  # not a number at all: said when it is converted
                continue
            if not whole:
                raise InputError(f"{argument.name} takes a whole number, got {token.value}")


def _lacking(error: ModuleNotFoundError, command: str) -> str:
    """Say what to install when a package is not there."""
    extra = PACKAGES.get(error.name or "") or EXTRAS.get(command, "")
    remedy = install(extra) if extra else f"run: pip install {error.name}"
    return f"this needs {error.name}, which is not installed; {remedy}"


def _usage(error: CycloptsError) -> str:
    command = " ".join(["sightline", *(error.command_chain or ())])
    return f"{error} (see {command} --help)"


def _complain(message: str, code: int) -> int:
    """Print one line on the error stream; return `code`."""
    print("sightline:", " ".join(message.split()), file=sys.stderr)
    return code


def _trace_if_debugging() -> bool:
    if not os.environ.get("SIGHTLINE_DEBUG"):
        return False
    import traceback

    traceback.print_exc()
    return True
