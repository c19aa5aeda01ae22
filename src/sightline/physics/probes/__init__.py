"""Probes: experiments as data: what a model is trained on, tested on, and how the result is read."""

from typing import TYPE_CHECKING

from sightline.lazy import lazy_exports

if TYPE_CHECKING:
    from sightline.physics.probes.catalog import PROBES, Candidate, candidates, probe_of
    from sightline.physics.probes.parts import (
        Cell,
        Cells,
        Gates,
        Plane,
        Probe,
        Reading,
        Scenes,
        describe,
    )
    from sightline.physics.probes.samplers import inside_hull, make_probe
    from sightline.physics.probes.scenes import passes

__all__ = [
    "PROBES",
    "Candidate",
    "Cell",
    "Cells",
    "Gates",
    "Plane",
    "Probe",
    "Reading",
    "Scenes",
    "candidates",
    "describe",
    "inside_hull",
    "make_probe",
    "passes",
    "probe_of",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "PROBES": "catalog",
        "Candidate": "catalog",
        "Cell": "parts",
        "Cells": "parts",
        "Gates": "parts",
        "Plane": "parts",
        "Probe": "parts",
        "Reading": "parts",
        "Scenes": "parts",
        "candidates": "catalog",
        "describe": "parts",
        "inside_hull": "samplers",
        "make_probe": "samplers",
        "passes": "scenes",
        "probe_of": "catalog",
    },
)
