"""Commands of a recipe, run one after another: shared by `python recipes/cpu` and `refresh.py`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from sightline.examples import example_photograph
from sightline.scenes import make_scene

ROOT = Path(__file__).parents[2]

#: glibc keeps freed memory; idle threads sleep instead of spinning.
ENVIRONMENT = {
    "MALLOC_TRIM_THRESHOLD_": "100000000000",
    "MALLOC_MMAP_THRESHOLD_": "100000000000",
    "OMP_WAIT_POLICY": "PASSIVE",
}


@dataclass(frozen=True, slots=True)
class Stage:
    """One command of a recipe.

    Attributes:
        name: what `--only` takes.
        words: of the command.
        program: that they are given to: `sightline`, or a script of the repository.
    """

    name: str
    words: tuple[str, ...]
    program: str = "sightline"

    def __str__(self) -> str:
        start = self.program if self.program == "sightline" else f"python {self.program}"
        return f"{start} {shlex.join(self.words)}"


def make_stage(name: str, *parts: str | Path, program: str = "sightline") -> Stage:
    """Return a stage; strings are split into words, a path is one word."""
    words: list[str] = []
    for part in parts:
        words += [str(part)] if isinstance(part, Path) else part.split()
    return Stage(name, tuple(words), program)


def run_stages(stages: Sequence[Stage], only: Sequence[str] | None = None) -> int:
    """Print and run the commands in order, up to the first that fails.

    Args:
        stages: The commands.
        only: Names of the stages to run; None for all.

    Returns:
        The exit code of the last command.
    """
    for stage in stages:
        if only and stage.name not in only:
            continue
        print(f"\n$ {stage}", flush=True)
        script = [str(ROOT / stage.program)]
        start = ["-m", "sightline"] if stage.program == "sightline" else script
        command = [sys.executable, *start, *stage.words]
        code = subprocess.run(command, env={**os.environ, **ENVIRONMENT}, check=False).returncode
        if code:
            return code
    return 0


def unknown_stages(only: Sequence[str] | None, stages: Sequence[Stage]) -> str | None:
    """Return what is wrong with the names given to `--only`; None if nothing is."""
    known = [stage.name for stage in stages]
    unknown = sorted(set(only or ()) - set(known))
    if not unknown:
        return None
    return f"no stage is called {', '.join(unknown)}; there are {', '.join(known)}"


def write_small_data(work: Path, scenes: int = 2) -> None:
    """Write a few photographs to `photos`, and rendered scenes in the format of `rgbd` to `rgbd`."""
    photos, check = work / "photos", work / "rgbd"
    photos.mkdir(parents=True, exist_ok=True)
    whole = Image.open(example_photograph())
    for number, left in enumerate(range(0, 400, 100)):
        whole.crop((left, 50, left + 200, 250)).resize((112, 112)).save(photos / f"cup{number}.png")
    rows = []
    for index in range(scenes):
        frame = make_scene(2, index, width=96, height=80, kinds=["room"]).frame
        folder = check / f"scene{index}"
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(frame.pixels).save(folder / "image.jpg", quality=95)
        meters = np.where(frame.depth.valid, frame.depth.values, np.nan).astype(np.float32)
        np.savez_compressed(folder / "truth.npz", depth=meters)
        rows.append({"sample": folder.name, "set": "rendered", "kind": "dense"})
    (check / "index.json").write_text(json.dumps(rows))
