"""Run networks (OpenVINO, torch) and map functions over inputs (processes, Ray)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import lazy_exports

if TYPE_CHECKING:
    from sightline.runtime.parallel import (
        AbortMap,
        MapResult,
        available_cores,
        map_in_order,
        map_inputs,
    )

__all__ = ["AbortMap", "MapResult", "available_cores", "map_in_order", "map_inputs"]

__getattr__, __dir__ = lazy_exports(__name__, dict.fromkeys(__all__, "parallel"))
