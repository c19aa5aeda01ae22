"""Load models through other libraries without their chatter.

transformers and diffusers write warnings and progress bars on the error stream, where our own line says
what is wrong and what to do.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module

_LIBRARIES = ("transformers", "diffusers")


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Silence what is imported when the block begins; everything is as before when it ends."""
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they will deprecate is no user's business
        for name in _LIBRARIES:
            if name in sys.modules:
                stack.enter_context(_quiet(name))
        yield


@contextmanager
def _quiet(library: str) -> Iterator[None]:
    logging = import_module(f"{library}.utils.logging")
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
