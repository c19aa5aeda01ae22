"""The laws of physics as machine code: compiled once per machine, beside requests and not within one.

numba compiles them when they are first used, which takes about a minute, and keeps the result on disk.
A worker that finds none there compiles in the background from its start on. A physics request that
comes meanwhile waits for it; that time is not counted as the request's own.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
import threading
import traceback
from importlib.metadata import version
from pathlib import Path
from typing import TextIO

import sightline.physics
from sightline.app.worker import Reporter
from sightline.weights.cache import cache_folder

#: How often somebody who waits is told so, in [s].
_TELL = 0.5
#: What is played to have everything compiled: one or two balls each, radii and speeds.
_WORLDS = {
    "uniform": ([1.0], [2.5]),
    "parabola": ([1.0], [2.5]),
    "collision": ([1.0, 0.8], [2.5, 2.0]),
}


class Laws:
    """Whether the laws are compiled, and who waits for it.

    Args:
        folder: for a lock that the workers of one server share, where all on this machine cannot.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Compile in the background if it has not been done on this machine."""
        if is_compiled():
            return
        self._thread = threading.Thread(target=self._compile, name="laws", daemon=True)
        self._thread.start()

    def wait(self, report: Reporter) -> None:
        """Wait until they are compiled; the time is not counted.

        Raises:
            Cancelled: the job was.
        """
        while self._thread is not None and self._thread.is_alive():
            report(None, "compiling the laws, once on this machine", counted=False)
            self._thread.join(_TELL)
        self._thread = None

    def _compile(self) -> None:
        """Compile, one worker at a time; the next finds it done."""
        try:
            with self._open_lock() as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if not is_compiled():
                    compile_all()
                    note_compiled()
        except Exception:  # whoever asks a law next is told
            traceback.print_exc()

    def _open_lock(self) -> TextIO:
        shared = cache_folder() / "laws"
        try:
            shared.mkdir(parents=True, exist_ok=True)
            return (shared / "lock").open("w")
        except OSError:
            return (self._folder / "laws.lock").open("w")


def compile_all() -> None:
    """Play, measure and score a world of each kind: then every law has been used."""
    from sightline.app.tasks.physics import asked, world_of
    from sightline.app.tasks.scoring import lawful
    from sightline.physics.parse import parse
    from sightline.physics.render import render
    from sightline.physics.types import FRAME_TIME

    for scenario, (radii, speeds) in _WORLDS.items():
        fields = {"scenario": scenario, "radii": radii, "speeds": speeds}
        motion = world_of({**fields, "seed": 0, "direction": "right"})
        frames = render(motion, 128)
        for truth in (motion, lawful(parse(frames[:3], frame_time=FRAME_TIME), scenario), None):
            asked(frames, truth, scenario, FRAME_TIME, 3)


def is_compiled() -> bool:
    """Whether the laws as they are now were compiled on this machine before."""
    name = _stamp()
    return any((folder / name).is_file() for folder in _folders())


def note_compiled() -> None:
    """Remember that they were."""
    for folder in _folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / _stamp()).touch()
        except OSError:  # a package that cannot be written to: the next folder
            continue
        return


def _folders() -> tuple[Path, Path]:
    """Where it is noted: beside what numba keeps, so that both are cleared away together."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    beside = Path(chosen) if chosen else _home() / "__pycache__"
    return beside, cache_folder() / "laws"


def _stamp() -> str:
    """Return a name that changes when the sources, numba or Python do."""
    key = hashlib.sha256(f"{version('numba')} {sys.version}".encode())
    for path in sorted(_home().rglob("*.py")):
        state = path.stat()
        key.update(f"{path.name} {state.st_mtime_ns} {state.st_size}".encode())
    return f"laws-{key.hexdigest()[:16]}.compiled"


def _home() -> Path:
    (place,) = sightline.physics.__path__
    return Path(place)
