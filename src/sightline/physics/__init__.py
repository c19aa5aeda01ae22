"""Worlds with known laws of motion, and how well videos obey them (PhyWorld, arXiv 2411.02385).

Make data sets of simulated videos, run a video model on them, track the bodies in any video, and score
videos law by law beside simple baselines:

>>> from sightline import physics
>>> spec = physics.DataSpec("collision", 24)
>>> data = physics.make_dataset(spec, "collisions.h5")  # doctest: +SKIP
>>> physics.run_model("my_model:Model", "collisions.h5", "videos")  # doctest: +SKIP
>>> report = physics.score("videos", truth="collisions.h5")  # doctest: +SKIP
>>> report.to_html("report.html")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import lazy_exports

__all__ = [
    "LAWS",
    "PROBES",
    "CombinatorialSpec",
    "DataSpec",
    "Motion",
    "PhysicsReport",
    "Samples",
    "ScoreOptions",
    "Shape",
    "State",
    "Tracks",
    "VideoData",
    "VideoModel",
    "check_laws",
    "is_abnormal",
    "load_model",
    "make_dataset",
    "make_probe",
    "open_dataset",
    "parse",
    "prior_of",
    "probe_of",
    "render",
    "run_model",
    "sample",
    "score",
    "simulate",
]

if TYPE_CHECKING:
    from sightline.physics.combinatorial.store import CombinatorialSpec
    from sightline.physics.datasets.making import make_dataset
    from sightline.physics.datasets.reader import VideoData, open_dataset
    from sightline.physics.datasets.spec import DataSpec
    from sightline.physics.laws import LAWS, check_laws, is_abnormal
    from sightline.physics.model_runner import VideoModel, load_model, run_model
    from sightline.physics.probes import PROBES, make_probe, probe_of
    from sightline.physics.rendering import render
    from sightline.physics.scoring.report import ScoreOptions, score
    from sightline.physics.scoring.run import PhysicsReport
    from sightline.physics.tracking import State, Tracks, parse, prior_of
    from sightline.physics.types import Motion, Samples, Shape
    from sightline.physics.worlds.simulation import sample, simulate

_HOMES = {
    "combinatorial.store": ("CombinatorialSpec",),
    "datasets.making": ("make_dataset",),
    "datasets.reader": ("VideoData", "open_dataset"),
    "datasets.spec": ("DataSpec",),
    "laws": ("LAWS", "check_laws", "is_abnormal"),
    "model_runner": ("VideoModel", "load_model", "run_model"),
    "probes": ("PROBES", "make_probe", "probe_of"),
    "rendering": ("render",),
    "scoring.report": ("ScoreOptions", "score"),
    "scoring.run": ("PhysicsReport",),
    "tracking": ("State", "Tracks", "parse", "prior_of"),
    "types": ("Motion", "Samples", "Shape"),
    "worlds.simulation": ("sample", "simulate"),
}

__getattr__, __dir__ = lazy_exports(
    __name__, {name: home for home, names in _HOMES.items() for name in names}
)
