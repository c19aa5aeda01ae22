"""Interface of the engines that run a network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from sightline.types import FloatArray


class Engine(Protocol):
    """Runs one network; safe to call from several threads.

    Attributes:
        name: `"openvino"` or `"torch"`.
        device: where it runs, in the engine's own words (`"CPU"`, `"cuda:0"`).
        fixed_hw: (height, width) of the only input the network takes, or None when any will do.
    """

    name: str
    device: str
    fixed_hw: tuple[int, int] | None

    def run(self, batch: FloatArray) -> FloatArray:
        """Map (N, 3, h, w) float32 normalized pixels to (N, h, w) float32 depth or disparity."""
        ...


def writable_cache(name: str) -> Path | None:
    """Return the folder `name` of the user's cache, made when missing; None if it is read-only.

    What lies there only saves time, so a cache that cannot be written is no error.
    """
    from sightline.models.cache import cache_folder

    folder = cache_folder() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None
