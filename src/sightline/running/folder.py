"""The folder of a run: whose it is, and its newest checkpoint."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from sightline.errors import InputError
from sightline.files.atomic import atomic_path, write_text

#: Options that may differ when a run goes on: they do not change what a step does.
MAY_CHANGE = frozenset({"steps", "save_every", "validate_every", "threads", "device"})


def claim_run(out: Path, asked: dict[str, Any], may_change: Collection[str] = MAY_CHANGE) -> None:
    """Write what the run is, or refuse the folder of a run that was something else.

    Args:
        out: folder of the run; made when missing.
        asked: `options`, a dictionary, and whatever else makes this run what it is.
        may_change: options that may differ.
    """
    path = out / "run.json"
    asked = json.loads(json.dumps(asked, default=str))
    if path.is_file():
        try:
            before = json.loads(path.read_text())
            changed = sorted(_differences(before, asked) - set(may_change))
        except (ValueError, AttributeError, TypeError) as error:
            raise InputError(
                "does not say what this run is", path=path, remedy="train into another folder"
            ) from error
        if changed:
            raise InputError(
                f"this folder holds a run with other {', '.join(changed)}",
                path=out,
                remedy="train into another folder, or give what that run was given",
            )
    write_text(path, json.dumps(asked, indent=1, sort_keys=True) + "\n")
    for left in out.glob(".checkpoint.*.part.pt"):  # of a process that was killed while it saved
        left.unlink(missing_ok=True)


@contextmanager
def claimed_run(
    out: Path, asked: dict[str, Any], may_change: Collection[str] = MAY_CHANGE
) -> Iterator[None]:
    """Claim a run's folder; one that fails before its first checkpoint gives it back.

    So a command that was mistyped can be typed again with the same folder.

    Args:
        out: see `claim_run`.
        asked: see `claim_run`.
        may_change: see `claim_run`.
    """
    path = out / "run.json"
    there, ours = out.is_dir(), not path.is_file()
    try:
        claim_run(out, asked, may_change)
        yield
    except BaseException:
        if ours and not checkpoint_path(out).is_file():
            path.unlink(missing_ok=True)
            with suppress(OSError):  # what it holds besides stays
                if not there:
                    out.rmdir()
        raise


def _differences(before: dict[str, Any], asked: dict[str, Any]) -> set[str]:
    old, new = before.get("options", {}), asked["options"]
    changed = {n for n in old.keys() | new.keys() if old.get(n) != new.get(n)}
    return changed | {n for n in asked if n != "options" and before.get(n) != asked[n]}


def checkpoint_path(out: Path) -> Path:
    """Return where the newest checkpoint of a run is."""
    return out / "checkpoint.pt"


def save_checkpoint(out: Path, state: dict[str, Any]) -> None:
    """Write the newest checkpoint over the last one, whole or not at all."""
    with atomic_path(checkpoint_path(out), sync=True) as temporary:
        torch.save(state, temporary)


def load_checkpoint(out: Path, device: torch.device | str = "cpu") -> dict[str, Any] | None:
    """Read the newest checkpoint; None if there is none.

    Raises:
        InputError: it cannot be read.
    """
    path = checkpoint_path(out)
    if not path.is_file():
        return None
    try:
        state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    except Exception as error:  # a damaged file makes the reader stumble over anything
        raise InputError(
            "is damaged and cannot be read",
            path=path,
            remedy="train into another folder, or remove it to begin anew",
        ) from error
    return state


def misfit(path: Path, error: Exception) -> InputError:
    """Say that a checkpoint is of another run, or damaged."""
    return InputError(
        f"checkpoint does not fit this run ({type(error).__name__})",
        path=path,
        remedy="train into another folder",
    )
