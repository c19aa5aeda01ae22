"""OpenVINO without its telemetry, and one core for the whole process: the way in for Sightline."""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import Any


def import_openvino() -> ModuleType:
    """Return the `openvino` module, imported so that it tells nobody.

    Importing OpenVINO sends an event to an analytics service: it forks a process for that, waits for
    it at exit (once, without end) and makes a folder `~/intel`. Its opt-out is a file
    in that same folder, so here the package that does the sending is made unimportable instead;
    OpenVINO and NNCF both take that for "not installed" and fall back on stubs of their own. A
    program that has imported it before has made its own choice, which stays.
    """
    # None there makes an import fail (Python reference §5.3.1); typeshed knows of modules only.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    import openvino

    module: ModuleType = openvino
    return module


@functools.cache
def openvino_core() -> Any:
    """Return the core that everything here shares, and that is never given up.

    Every core gives its thread another stack for signal handlers (its CPU plugin does, as larger
    registers need more room) and puts back the one before when it goes. When two go in the order in
    which they came, the thread is left with the stack of the first, which is no more, and the next
    signal ends the process: a Ctrl-C, or the end of a child. One core that stays does no harm.
    """
    return import_openvino().Core()
