"""Listen to what C libraries say on standard error while they decode, and keep it off the screen.

libjpeg, libpng, libtiff, OpenEXR and OpenCV write their complaints there, without the name of the
file. For libjpeg it is the only sign that a picture it returned is damaged.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryFile
from typing import IO

#: Standard error belongs to the whole process, so one decoder speaks at a time.
_ONE_AT_A_TIME = threading.RLock()

#: How their lines begin or what only they say. Other threads' lines are passed on.
_NATIVE = re.compile(
    rb"^(Corrupt JPEG data|Premature end of JPEG|Invalid SOS|Inconsistent progression"
    rb"|Warning: unknown JFIF|Unknown Adobe color|Invalid component ID|Application transferred"
    rb"|libpng (error|warning): |tempfile\.tif: |TIFF\w+: |\w+(Decode|Setup|Fetch)\w*: "
    rb"|<Python Stream>|\[ *\w+:\d+@[\d.]+\] )|\(EXR_ERR_\w+\)"
)


@contextmanager
def listening() -> Iterator[list[str]]:
    """Collect what is said within the block: the list is filled when the block ends.

    Python warnings of decoders written in Python are silenced too: what matters of them is raised.
    """
    said: list[str] = []
    with ExitStack() as stack:
        stack.enter_context(_ONE_AT_A_TIME)
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(_redirected(said))
        yield said


@contextmanager
def _redirected(said: list[str]) -> Iterator[None]:
    """Let descriptor 2 lead into a file of our own, and sort its lines afterwards."""
    try:
        screen = os.dup(2)
    except OSError:  # closed, as by some service managers: there is nothing to listen to
        yield
        return
    try:
        with _memory() as sink:
            os.dup2(sink.fileno(), 2)
            try:
                yield
            finally:
                os.dup2(screen, 2)
                sink.seek(0)
                _sort(sink.read(), said, screen)
    finally:
        os.close(screen)


def _memory() -> IO[bytes]:
    """Open a file in memory where there are such: a full disk must not make damage pass unheard."""
    if sys.platform == "linux":
        return os.fdopen(os.memfd_create("decoders"), "w+b")
    return TemporaryFile()


def _sort(text: bytes, said: list[str], screen: int) -> None:
    native = False
    for line in text.splitlines(keepends=True):
        # OpenCV ends what libtiff says by a blank line.
        native = bool(_NATIVE.search(line)) or (native and not line.strip())
        if not native:
            os.write(screen, line)
        elif line.strip():
            said.append(line.decode("utf-8", "replace").strip())
