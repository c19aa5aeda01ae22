"""Count the source files that a common command runs: `python benchmarks/flow_files.py`.

Each flow runs in a process of its own with a profile hook. The first column counts the files of the
package in which at least one function is called, the second those that are imported at all.
"""

from __future__ import annotations

import argparse
import inspect
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import sightline
from sightline.cli import main as command_line
from sightline.examples import example_person, example_photograph

ROOT = Path(sightline.__file__).parent

#: Flows in the order of the table.
FLOWS = ("depth", "metric", "ask", "physics score", "train student")


def prepare(flow: str, folder: Path) -> Callable[[], object]:
    """Make the inputs of a flow in `folder`; return the function to trace.

    Args:
        flow: one of `FLOWS`.
        folder: for inputs and results.
    """
    person, photo = str(example_person()), str(example_photograph())
    out = str(folder / "out")
    if flow == "physics score":
        truth = str(folder / "truth.h5")
        _run_apart(["physics", "make", "uniform", "--count", "4", "--out", truth])
        words = ["physics", "score", truth, "--truth", truth, "--out", out, "--workers", "1"]
    elif flow == "train student":
        scenes = str(folder / "scenes")
        _run_apart(["scenes", "make", "--count", "2", "--size", "64x64", "--out", scenes])
        words = ["train", "student", "--data", f"pairs:{scenes}@1", "--out", out]
        words += ["--network", "compact", "--start", "nothing", "--steps", "1"]
        words += ["--short-side", "64", "--threads", "1"]
    elif flow == "ask":
        words = ["ask", photo, "Which point is nearest?", "--points", "A=100,100", "B=300,200"]
    else:
        words = [flow, person, "--out", out]
    return lambda: command_line(words)


def _run_apart(words: list[str]) -> None:
    """Run a command in another process, so that its modules are not loaded in this one."""
    subprocess.run([sys.executable, "-m", "sightline", *words], check=True, capture_output=True)


def executed_files(function: Callable[[], object]) -> tuple[list[str], list[str]]:
    """Call a function; return the files with a called function, and all that are imported.

    Args:
        function: returns 0 or None for success.
    """
    seen: set[str] = set()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        # Functions have fast locals; the bodies of modules and classes, run on import, do not.
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            seen.add(frame.f_code.co_filename)

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        code = function()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    if code:
        raise RuntimeError(f"the flow failed with {code}")
    loaded = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
    return _ours(seen), _ours(loaded)


def _ours(files: Iterable[str]) -> list[str]:
    """Return the files of the package, relative to its folder."""
    paths = (Path(name) for name in files if name.startswith(str(ROOT)))
    return sorted(path.relative_to(ROOT).as_posix() for path in paths)


def trace(flow: str) -> tuple[list[str], list[str]]:
    """Trace a flow in a new process, where nothing is loaded yet; return as `executed_files` does."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "files.json"
        command = [sys.executable, __file__, "--flow", flow, "--write", str(found)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        called, loaded = json.loads(found.read_text())
    return called, loaded


def main() -> None:
    """Trace the flows and print the table, or trace one flow in this process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--flow", choices=FLOWS, action="append", help="default: all")
    parser.add_argument("--list", action="store_true", help="print the files, too")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--smoke", action="store_true", help="the flow of depth alone")
    given = parser.parse_args()
    if given.write is not None:
        with tempfile.TemporaryDirectory() as folder:
            function = prepare(given.flow[0], Path(folder))
            given.write.write_text(json.dumps(executed_files(function)))
        return
    print(f"{'flow':<16}{'called':>8}{'loaded':>8}")
    for flow in ("depth",) if given.smoke else given.flow or FLOWS:
        called, loaded = trace(flow)
        print(f"{flow:<16}{len(called):>8}{len(loaded):>8}", flush=True)
        if given.list:
            print("\n".join(f"  {file}" for file in called))


if __name__ == "__main__":
    main()
