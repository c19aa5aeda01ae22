"""Probes: experiments as declared data, each with what it trains on, tests on, and how it is read."""

from sightline.physics.probes.catalogue import PROBES, probe_of
from sightline.physics.probes.conflicts import Candidate, candidates
from sightline.physics.probes.describe import describe
from sightline.physics.probes.gates import passes
from sightline.physics.probes.make import make_probe
from sightline.physics.probes.parts import Cell, Cells, Gates, Plane, Probe, Reading, Scenes
from sightline.physics.probes.plane import inside_hull

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
