"""The run's log: one JSON object per validation, in the order of steps, each step once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.files.atomic import write_text


class Log:
    """Rows in `log.jsonl`.

    Args:
        path: the file; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def rows(self) -> list[dict[str, Any]]:
        """Read all rows; a last line that a kill cut short is left out."""
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
        """Forget rows of steps that the checkpoint has not seen; they will come again."""
        rows = self.rows()
        kept = [row for row in rows if row["step"] <= step]
        if len(kept) < len(rows):
            self._write(kept)

    def _write(self, rows: list[dict[str, Any]]) -> None:
        write_text(self.path, "".join(json.dumps(row) + "\n" for row in rows))
