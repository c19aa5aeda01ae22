"""The command line: `sightline COMMAND`.

One small file per command, imported only if that command is used, so that `--help` is fast. `main`
is the only place where errors are caught and turned into one line and an exit code:

* 0: success
* 1: internal error, or an error of the machine such as a full disk
* 2: invalid input: an unknown flag, a corrupt image, a missing file
* 130: interrupted by Ctrl-C
* 143: terminated by SIGTERM
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from sightline.errors import InputError, SightlineError, install

if TYPE_CHECKING:
    from cyclopts import App, ArgumentCollection, CycloptsError

#: Numbers with a comma between them, the first below zero.
_NEGATIVE = re.compile(r"-\.?\d[\d.]*,")

_URL = re.compile(r"[a-z][a-z0-9+.:-]+://", re.IGNORECASE)

USAGE = 2
STOPPED = 128 + signal.SIGINT

#: Name, module and help of each command. The help is here so that listing commands imports none.
COMMANDS = (
    ("depth", "sightline.cli.depth:depth", "Estimate depth of images and videos."),
    ("metric", "sightline.cli.metric:metric", "Estimate metric depth from people or known sizes."),
    (
        "measure",
        "sightline.cli.measure:measure",
        "Measure distances in an image, with uncertainty.",
    ),
    ("serve", "sightline.cli.serve:serve", "Start the web page and the REST service."),
    ("view", "sightline.cli.view:view", "Write results as an HTML page."),
    ("scenes", "sightline.cli.scenes:app", "Render synthetic images with exact depth."),
    ("physics", "sightline.cli.physics:app", "Simulate physics videos and score video models."),
    ("video", "sightline.cli.video:app", "Train, sample and study video models."),
    ("ask", "sightline.cli.ask:ask", "Ask about an image; steps are shown."),
    ("quiz", "sightline.cli.quiz:quiz", "Evaluate a model on questions about images."),
    ("questions", "sightline.cli.questions:app", "Make question sets about images."),
    ("tokens", "sightline.cli.tokens:app", "Convert depth maps to tokens and back."),
    ("label", "sightline.cli.label:label", "Label images with a teacher network."),
    (
        "train",
        "sightline.cli.train:app",
        "Train a teacher, a student, a metric model or a vision-language model.",
    ),
    ("bench", "sightline.cli.bench:bench", "Evaluate a depth model on a benchmark."),
    (
        "duel",
        "sightline.cli.duel:duel",
        "Compare depth models on the same images, with intervals.",
    ),
    ("models", "sightline.cli.models:app", "List and download models."),
    ("demo", "sightline.cli.demo:demo", "Run the end-to-end demo on bundled images."),
)


#: Extras of commands that need more than the core dependencies.
EXTRAS = {
    "physics": "physics",
    **dict.fromkeys(("scenes", "metric", "measure"), "metric"),
    **dict.fromkeys(("train", "label", "video"), "train,physics"),
    **dict.fromkeys(("ask", "quiz", "questions", "tokens"), "perception"),
    "serve": "app",
}


#: Extras of packages that only a part of a command needs.
PACKAGES = dict.fromkeys(("transformers", "peft"), "perception")


class Terminated(KeyboardInterrupt):
    """SIGTERM, which runs the same clean-up as Ctrl-C."""


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
    """Run the command line; turn every error into one line and an exit code."""
    from cyclopts import CycloptsError

    try:
        _refuse_empty_words(arguments)
        result = build()(_with_negative_places(arguments))
        sys.stdout.flush()
    except CycloptsError as error:
        return _complain(_usage(error), USAGE)
    except BrokenPipeError:
        # The reader of the output ended (`| head`); Python would print an error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except SightlineError as error:
        _trace_if_debugging()
        return _complain(str(error), error.exit_code)
    except ModuleNotFoundError as error:
        _trace_if_debugging()
        return _complain(_lacking(error, next(iter(arguments), "")), USAGE)
    except Exception as error:  # an unexpected error is one line, too, not a traceback
        hint = "" if _trace_if_debugging() else "; run with SIGHTLINE_DEBUG=1 for the traceback"
        return _complain(f"{type(error).__name__}: {error}{hint}", 1)
    return result if isinstance(result, int) else 0


def build() -> App:
    """Build the command line without importing any command."""
    from cyclopts import App, Parameter

    from sightline.cli.help import TidyHelp
    from sightline.version import __version__

    app = App(
        name="sightline",
        help="Estimate depth, metric scale and physical motion from images and video.",
        help_epilogue="Exit codes: 0: success; 1: internal error; 2: invalid input; "
        "130: interrupted by Ctrl-C.",
        version=__version__,
        help_format="plaintext",
        help_formatter=TidyHelp(),
        default_parameter=Parameter(negative=(), show_default=shown_default),
        # URLs on the command line are refused before --config is read, those in its file after.
        config=[_refuse_urls, _config_file, _refuse_halves, _refuse_urls],
        print_error=False,
        exit_on_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for name, place, summary in COMMANDS:
        app.command(place, name=name, help=summary)
    return app


def shown_default(value: object) -> str | None:
    """Return a default as the help shows it; None to show nothing.

    >>> shown_default(True), shown_default(("npz", "color")), shown_default(False), shown_default(None)
    ('on', 'npz,color', None, None)
    """
    if isinstance(value, bool):
        return "on" if value else None
    if isinstance(value, tuple | list):
        return ",".join(map(str, value)) or None
    if isinstance(value, float):
        return f"{value:g}"
    return None if value is None else str(value)


def _prepare_process() -> None:
    """Let any file name be printed, and let SIGTERM run the same clean-up as Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _terminate)
    # Messages of OpenCV's decoders name no file; the errors of Sightline do.
    os.environ.setdefault("OPENCV_LOG_LEVEL", "OFF")


def _terminate(*_: object) -> None:
    raise Terminated


def _refuse_empty_words(arguments: Sequence[str]) -> None:
    """Refuse an empty argument: as a path it would mean the current folder."""
    for before, word in zip(("", *arguments), arguments, strict=False):
        if not word or (word.startswith("--") and word.endswith("=")):
            where = f"after {before}" if before and not word else word
            raise InputError(
                f"an empty argument ({where or 'the first'})", remedy="is a shell variable unset?"
            )


def _with_negative_places(arguments: Sequence[str]) -> list[str]:
    """Join a flag and a pixel such as -1,2 behind it, which is not a flag."""
    words: list[str] = []
    for word in arguments:
        before = words[-1] if words else ""
        if _NEGATIVE.match(word) and before.startswith("--") and "=" not in before:
            words[-1] = f"{before}={word}"
        else:
            words.append(word)
    return words


def _config_file(app: App, command: tuple[str, ...], given: ArgumentCollection) -> None:
    """Read options from a file if the command line names one by `--config`."""
    if any(argument.names == ("--config",) and argument.tokens for argument in given):
        from sightline.cli.config_file import apply_config_file

        apply_config_file(app, command, given)


def _refuse_halves(_app: App, _command: tuple[str, ...], given: ArgumentCollection) -> None:
    """Refuse 1.5 for an integer: cyclopts would round it."""
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


def _refuse_urls(_app: App, _command: tuple[str, ...], given: ArgumentCollection) -> None:
    """Refuse a URL where only a local path works: `Path` would make a local folder `s3:` of it."""
    for argument in given:
        hint = argument.hint
        if Path not in (hint, *get_args(hint), *(k for h in get_args(hint) for k in get_args(h))):
            continue
        for token in argument.tokens:
            if _URL.match(token.value):
                raise InputError(
                    f"{argument.name} must be on a local disk, got {token.value}",
                    remedy="give a local path and copy the files",
                )


def _lacking(error: ModuleNotFoundError, command: str) -> str:
    """Return what to install if a package is missing."""
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
