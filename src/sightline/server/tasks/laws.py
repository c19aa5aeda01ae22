"""Physics laws for the API: descriptions of their results, and compilation of their kernels.

numba compiles the kernels at their first use, which takes about a minute, and caches them on disk. A
worker that finds no cache compiles in the background from its start on. Physics requests during that
time wait; the time does not count against their limit.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from sightline.models.cache import cache_folder
from sightline.server.worker import ProgressReporter

if TYPE_CHECKING:
    from sightline.physics.laws import Law
    from sightline.physics.laws.evidence import Violation

#: What each law measures.
DESCRIPTIONS = {
    "velocity_steps": "mean error of speed and direction after the given frames",
    "velocity_code": "error of the mean velocity, as computed by the code of the paper",
    "velocity_before": "velocity error before the balls meet",
    "position": "mean distance from the true positions",
    "momentum": "change of the total mass times velocity",
    "kinetic_energy": "change of the kinetic energy",
    "total_energy": "change of kinetic and potential energy together",
    "gravity": "downward acceleration of the bodies",
    "restitution": "separation speed over approach speed; negative if the balls pass through",
    "inertia": "change of a body's velocity without a cause",
    "jump": "largest change of velocity between two frames without a cause",
    "radius": "change of a body's size",
    "presence": "frames in which a body is missing, in pieces, or appears from nowhere",
    "color": "frames in which a body has another color",
    "shape": "frames in which a body has another shape, or none",
    "penetration": "depth by which a body overlaps another",
}

#: Visible effect of a violation; the body is put before it.
EFFECTS = {
    "presence": "is missing or in pieces",
    "color": "has another color",
    "shape": "has another shape",
    "radius": "changes its size by {size}",
    "penetration": "overlaps another by {size}",
    "inertia": "changes its velocity by {size} without a cause",
    "jump": "jumps: its velocity changes by {size} from one frame to the next",
    "total_energy": "the energy changes by {size}",
    "momentum": "the momentum changes by {size}",
    "restitution": "the balls separate at a wrong speed (error {size} of the approach speed)",
}
#: Laws about all bodies together.
_SYSTEM_LAWS = ("total_energy", "momentum", "restitution")

#: Interval of progress messages while a request waits for the compilation in [s].
_REPORT_INTERVAL = 0.5
#: Radii and speeds of the worlds that are simulated to compile every kernel.
_WORLDS = {
    "uniform": ([1.0], [2.5]),
    "parabola": ([1.0], [2.5]),
    "collision": ([1.0, 0.8], [2.5, 2.0]),
}


def format_value(law: Law, value: float | None, violations: Sequence[Violation] = ()) -> str | None:
    """Return a law's value with its unit; None without a value.

    Shares are percentages, restitution is a plain number. The mean value of a law may be allowed
    while single frames violate it; then the largest violation is added.

    Args:
        law: the law.
        value: its value over the whole video.
        violations: its violations.
    """
    if value is None:
        return None
    text = _format_amount(value, law.unit, plain=law.name == "restitution")
    worst = max((abs(one.size) for one in violations), default=0.0)
    same_unit = law.limit_unit is None or law.limit_unit == law.unit
    if same_unit and abs(value) <= law.tolerance < worst:
        return f"{text}, at worst {_format_amount(worst, law.unit)}"
    return text


def format_allowed(law: Law, scenario: str) -> str:
    """Return the allowed values, such as `up to 0.2 units/s` or `2.5 ± 0.25 units/s²`."""
    from sightline.physics.scoring.labels import right_value

    expected = right_value(law.name, scenario)
    if expected is not None:
        unit = "" if law.unit == "1" else f" {law.unit}"
        return f"{expected:g} ± {law.tolerance:g}{unit}"
    if not law.tolerance:
        return "none"
    unit = law.limit_unit or law.unit
    if unit in ("1", "frames"):
        share = " of it" if law.unit != unit else ""
        return f"up to {_format_amount(law.tolerance, unit)}{share}"
    return f"up to {law.tolerance:g} {unit}"


def describe_violations(
    violations: Sequence[Violation], bodies: int, frame_time: float
) -> list[str]:
    """Return one line per law and body with the time of the largest violation.

    Args:
        violations: violations found by `is_abnormal`.
        bodies: number of bodies in the video.
        frame_time: time between frames in [s].
    """
    if not bodies:
        return ["there is nothing in the video"]
    worst: dict[tuple[str, int], Violation] = {}
    for one in violations:
        before = worst.get((one.law, one.body))
        if before is None or one.size > before.size:
            worst[one.law, one.body] = one
    return [_describe_violation(one, bodies, frame_time) for one in worst.values()]


def _describe_violation(one: Violation, bodies: int, frame_time: float) -> str:
    from sightline.physics.laws.evidence import ALL_BODIES

    effect = EFFECTS[one.law].format(size=_format_amount(one.size, one.unit))
    when = f"at {one.frame * frame_time:.1f} s"
    if one.law in _SYSTEM_LAWS or one.body == ALL_BODIES:
        subject = "" if one.law in _SYSTEM_LAWS else "a body "
    else:
        subject = "the body " if bodies == 1 else f"body {one.body + 1} "
    return f"{when} {subject}{effect}"


def _format_amount(value: float, unit: str, *, plain: bool = False) -> str:
    """Return a number with its unit.

    >>> _format_amount(1.0, "frames"), _format_amount(0.25, "units/s")
    ('1 frame', '0.250 units/s')
    """
    from sightline.physics.scoring.labels import number, percent

    if unit == "1":
        return number(value) if plain else percent(abs(value))
    if unit == "frames":
        return f"{value:.0f} frame" + ("" if round(value) == 1 else "s")
    return f"{number(value)} {unit}"


class LawCompiler:
    """Compiles the kernels in the background if that has not been done on this machine.

    Args:
        folder: folder for the lock of this server's workers, if the cache folder is read-only.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the compilation if it is needed."""
        if is_compiled():
            return
        self._thread = threading.Thread(target=self._compile, name="laws", daemon=True)
        self._thread.start()

    def wait(self, report: ProgressReporter) -> None:
        """Wait for the compilation; the time does not count against the limit of the job.

        Raises:
            JobCanceled: the job was canceled.
        """
        while self._thread is not None and self._thread.is_alive():
            report(None, "compiling the physics kernels, once per machine", counted=False)
            self._thread.join(_REPORT_INTERVAL)
        self._thread = None

    def _compile(self) -> None:
        """Compile in one worker at a time; the others then find the cache."""
        try:
            with self._open_lock() as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if not is_compiled():
                    compile_all()
                    mark_compiled()
        except Exception:  # the next physics request reports the error
            traceback.print_exc()

    def _open_lock(self) -> TextIO:
        shared = cache_folder() / "laws"
        try:
            shared.mkdir(parents=True, exist_ok=True)
            return (shared / "lock").open("w")
        except OSError:
            return (self._folder / "laws.lock").open("w")


def compile_all() -> None:
    """Compile every kernel by simulating, tracking and scoring one world of each scenario."""
    from sightline.physics.rendering import render
    from sightline.physics.tracking import parse
    from sightline.physics.types import FRAME_TIME
    from sightline.server.tasks import physics

    for scenario, (radii, speeds) in _WORLDS.items():
        fields = {"scenario": scenario, "radii": radii, "speeds": speeds}
        motion = physics.simulate_world({**fields, "seed": 0, "direction": "right"})
        frames = render(motion, 128)
        predicted = physics.extrapolate(parse(frames[:3], frame_time=FRAME_TIME), scenario)
        for truth in (motion, predicted, None):
            physics.score_video(frames, truth, scenario, FRAME_TIME, 3)


def is_compiled() -> bool:
    """Return whether the current kernels were compiled on this machine."""
    name = _marker_name()
    return any((folder / name).is_file() for folder in _marker_folders())


def mark_compiled() -> None:
    """Record that the kernels are compiled."""
    for folder in _marker_folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / _marker_name()).touch()
        except OSError:  # the package is read-only: try the next folder
            continue
        return


def _marker_folders() -> tuple[Path, Path]:
    """Return the folders of the marker; the first is numba's, so that both are deleted together."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    beside = Path(chosen) if chosen else _source_folder() / "__pycache__"
    return beside, cache_folder() / "laws"


def _marker_name() -> str:
    """Return a name that changes with the sources, numba and Python."""
    key = hashlib.sha256(f"{version('numba')} {sys.version}".encode())
    for path in sorted(_source_folder().rglob("*.py")):
        state = path.stat()
        key.update(f"{path.name} {state.st_mtime_ns} {state.st_size}".encode())
    return f"laws-{key.hexdigest()[:16]}.compiled"


def _source_folder() -> Path:
    return Path(__file__).parents[2] / "physics"
