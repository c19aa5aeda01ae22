"""Import OpenVINO without its telemetry: the one way in for all of Sightline."""

from __future__ import annotations

import sys
from types import ModuleType


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
