"""Logs of a run: `log.jsonl`, and TensorBoard and Weights & Biases where installed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from sightline.errors import InputError
from sightline.io.atomic import write_text


class JsonlLog:
    """One JSON object per line, in the order of steps, each step at most once.

    Args:
        path: File; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def rows(self) -> list[dict[str, Any]]:
        """Read all rows; an incomplete last line, left by a killed process, is ignored."""
        if not self.path.is_file():
            return []
        lines = self.path.read_text().splitlines()
        rows = []
        for number, line in enumerate(lines, start=1):
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                if number < len(lines):
                    raise InputError(f"line {number} is not JSON", path=self.path) from error
        return rows

    def add(self, row: dict[str, Any]) -> None:
        """Append a row."""
        self._write([*self.rows(), row])

    def drop_after(self, step: int) -> None:
        """Remove rows of steps after `step`: a resumed run will log them again."""
        rows = self.rows()
        kept = [row for row in rows if row["step"] <= step]
        if len(kept) < len(rows):
            self._write(kept)

    def close(self) -> None:
        """Do nothing: the file is complete after every row."""

    def _write(self, rows: list[dict[str, Any]]) -> None:
        write_text(self.path, "".join(json.dumps(row) + "\n" for row in rows))


class Logger(Protocol):
    """Receiver of log rows; each row has a `step` and numbers by name."""

    def add(self, row: dict[str, Any]) -> None:
        """Log a row."""
        ...

    def close(self) -> None:
        """Finish writing."""
        ...


class TensorBoardLog:
    """Scalars for TensorBoard in a folder; import fails where tensorboard is not installed."""

    def __init__(self, folder: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer: Any = SummaryWriter(str(folder))

    def add(self, row: dict[str, Any]) -> None:
        """Log the numbers of a row at its step."""
        for name, value in row.items():
            if name != "step":
                self._writer.add_scalar(name, value, row["step"])

    def close(self) -> None:
        """Flush and close the event file."""
        self._writer.close()


class WandbLog:
    """Rows for a Weights & Biases project.

    Args:
        project: Name of the project.
        folder: Folder of the run; its name becomes the run's name, and local files go there.

    Raises:
        InputError: wandb is not installed.
    """

    def __init__(self, project: str, folder: Path) -> None:
        try:
            import wandb
        except ImportError as error:
            raise InputError("wandb is not installed", remedy="pip install wandb") from error
        self._run: Any = wandb.init(project=project, name=folder.name, dir=str(folder))

    def add(self, row: dict[str, Any]) -> None:
        """Log the numbers of a row at its step."""
        self._run.log({k: v for k, v in row.items() if k != "step"}, step=row["step"])

    def close(self) -> None:
        """End the run."""
        self._run.finish()


def open_loggers(out: Path, wandb: str | None) -> list[Logger]:
    """Open TensorBoard where it is installed, and Weights & Biases if a project is named.

    Args:
        out: Folder of the run.
        wandb: Name of a Weights & Biases project, or None.
    """
    loggers: list[Logger] = []
    with suppress(ImportError):
        loggers.append(TensorBoardLog(out / "tensorboard"))
    if wandb is not None:
        loggers.append(WandbLog(wandb, out))
    return loggers


def progress_line(step: int, steps: int, losses: Sequence[float], pace: float) -> str:
    """Return one line about the state of a run.

    Args:
        step: Steps done.
        steps: Steps of the whole run.
        losses: Losses of recent steps; the last twenty are averaged.
        pace: Duration of a step in [s].
    """
    recent = losses[-20:] or [float("nan")]
    return (
        f"step {step}/{steps}  loss {sum(recent) / len(recent):.4f}  "
        f"{pace:.2f} s a step  {pace * (steps - step) / 60:.0f} min left"
    )
