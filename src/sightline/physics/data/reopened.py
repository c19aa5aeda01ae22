"""A data set that each process opens for itself, once: HDF5 must not be shared after a fork."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sightline.physics.data.open import open_dataset
from sightline.physics.data.videos import VideoData


class Reopened:
    """Holds a path, and the data set that was opened from it by this very process.

    Args:
        path: of the data set.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._open: tuple[int, VideoData] | None = None

    @property
    def data(self) -> VideoData:
        """The data set, opened at the first call in a process."""
        if self._open is None or self._open[0] != os.getpid():
            self._open = (os.getpid(), open_dataset(self.path))
        return self._open[1]

    def __getstate__(self) -> dict[str, Any]:
        """Leave the open file behind."""
        return {"path": self.path, "_open": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path, self._open = state["path"], None
