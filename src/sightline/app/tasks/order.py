"""What a worker is told about a job, and where its files are."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.app.formats import FORMATS
from sightline.files.atomic import write_text

#: Points of a cloud where nobody says how many.
POINTS = 300_000


@dataclass(frozen=True, slots=True)
class Order:
    """A job as a worker sees it.

    Attributes:
        kind: of job.
        fields: of the request, checked by the server.
        folder: of the job; an upload lies in it under the name of its field.
        wanted: format of the result that is waited for.
        keep: whether other formats may be asked for later.
        points: of a cloud, at most.
        other: folder of the job that this one refers to, if any.
    """

    kind: str
    fields: dict[str, Any]
    folder: Path
    wanted: str = "json"
    keep: bool = False
    points: int = POINTS
    other: Path | None = None

    @classmethod
    def read(cls, message: dict[str, Any]) -> Order:
        """Make it of what the server sent."""
        other = message.get("other")
        return cls(
            message["kind"],
            message["fields"],
            Path(message["folder"]),
            message.get("format", "json"),
            message.get("keep", False),
            message.get("points") or POINTS,
            None if other is None else Path(other),
        )

    def path(self, name: str | None = None) -> Path:
        """Return where the result is in some format; default: the one that is waited for."""
        return path_of(self.folder, name or self.wanted, self.points)

    def upload(self, name: str) -> Path | None:
        """Return the file of a field, if one was sent."""
        path = self.folder / f"upload-{name}"
        return path if path.is_file() else None

    def write(self, result: dict[str, Any]) -> None:
        """Write the JSON of the result."""
        text = json.dumps(tidy(result), ensure_ascii=False, allow_nan=False)
        write_text(self.path("json"), text)

    def description(self) -> dict[str, Any]:
        """Read that JSON back."""
        found: dict[str, Any] = json.loads(self.path("json").read_text(encoding="utf-8"))
        return found


def path_of(folder: Path, name: str, points: int = POINTS) -> Path:
    """Return where a job's result is in some format."""
    thinned = f"-{points}" if name in ("ply", "glb") else ""
    return folder / f"result-{name}{thinned}{FORMATS[name].suffix}"


def tidy(value: Any, digits: int = 6) -> Any:
    """Make plain numbers of what comes out of numpy; what is not finite becomes None."""
    if isinstance(value, dict):
        return {str(name): tidy(one, digits) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [tidy(one, digits) for one in value]
    if isinstance(value, bool | str | int) or value is None:
        return value
    number = float(value)
    return round(number, digits) if math.isfinite(number) else None
