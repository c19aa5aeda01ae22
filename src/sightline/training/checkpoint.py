"""The folder of a run: `config.toml`, which identifies it, and `checkpoint.pt`, its newest state."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from sightline.errors import InputError
from sightline.io.atomic import atomic_path, write_text
from sightline.training.config import plain, read_toml, to_toml

#: File names in the folder of a run.
CONFIG, CHECKPOINT, LOG = "config.toml", "checkpoint.pt", "log.jsonl"


@contextmanager
def claim_folder(
    out: Path, record: dict[str, Any], may_change: Collection[str] = ()
) -> Iterator[None]:
    """Write `config.toml` into a run's folder, or refuse a folder that holds another run.

    A run that fails before its first checkpoint releases the folder, so that a mistyped command can be
    corrected and run again.

    Args:
        out: Folder of the run; created when missing.
        record: What identifies the run: `options`, a dictionary, and other entries such as data and
            checksums of initial weights.
        may_change: Names of options that may differ when a run is resumed.

    Raises:
        InputError: The folder holds a run with other options or data.
    """
    path = out / CONFIG
    existed, ours = out.is_dir(), not path.is_file()
    try:
        if not ours:
            _check_same_run(out, read_record(path), plain(record), may_change)
        write_text(path, to_toml(record))
        for partial in out.glob(".checkpoint.*.part.pt"):  # left by a process killed while saving
            partial.unlink(missing_ok=True)
        yield
    except BaseException:
        if ours and not checkpoint_path(out).is_file():
            with suppress(OSError):  # `out` is a file, or other files in the folder stay
                path.unlink(missing_ok=True)
                if not existed:
                    out.rmdir()
        raise


def read_record(path: Path) -> dict[str, Any]:
    """Read `config.toml` of a run.

    Raises:
        InputError: The file does not describe a run.
    """
    try:
        record = read_toml(path)
    except InputError:
        record = {}
    if not isinstance(record.get("options"), dict):
        raise InputError(
            "does not describe a training run", path=path, remedy="train into another folder"
        )
    return record


def _check_same_run(
    out: Path, before: dict[str, Any], now: dict[str, Any], may_change: Collection[str]
) -> None:
    old, new = before["options"], now["options"]
    changed = {n for n in old.keys() | new.keys() if old.get(n) != new.get(n)} - set(may_change)
    compared = (before.keys() | now.keys()) - {"options"}
    changed |= {n for n in compared if (before.get(n) or {}) != (now.get(n) or {})}
    if changed:
        raise InputError(
            f"this folder holds a run with other {', '.join(sorted(changed))}",
            path=out,
            remedy="train into another folder, or use that run's settings",
        )


def checkpoint_path(out: Path) -> Path:
    """Return the path of a run's newest checkpoint."""
    return out / CHECKPOINT


def save_checkpoint(out: Path, state: dict[str, Any]) -> None:
    """Replace a run's checkpoint atomically."""
    with atomic_path(checkpoint_path(out), sync=True) as temporary:
        torch.save(state, temporary)


def load_checkpoint(out: Path, device: torch.device | str = "cpu") -> dict[str, Any] | None:
    """Read a run's newest checkpoint; None if there is none.

    Raises:
        InputError: The checkpoint cannot be read.
    """
    path = checkpoint_path(out)
    if not path.is_file():
        return None
    try:
        state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    except Exception as error:  # a damaged file can raise anything
        raise InputError(
            "is damaged and cannot be read",
            path=path,
            remedy="train into another folder, or remove it to start anew",
        ) from error
    return state
