"""Relative and metric depth from one image: estimate, label, train, export and quantize.

>>> from sightline import depth
>>> estimator = depth.load("small")  # doctest: +SKIP
>>> estimator.infer("photo.jpg").values.shape  # doctest: +SKIP
(400, 600)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import lazy_exports

if TYPE_CHECKING:
    from sightline.depth.checkpoints import load_network, write_checkpoint
    from sightline.depth.config import DepthConfig, LabelConfig
    from sightline.depth.estimator import DepthEstimator, load
    from sightline.depth.export import export_onnx
    from sightline.depth.labels import Label, predict_disparity, read_label
    from sightline.depth.quantization import make_int8
    from sightline.depth.stabilization import StabilizeConfig, Stabilizer
    from sightline.depth.tiles import TileOptions
    from sightline.depth.training.config import (
        DepthTrainConfig,
        MetricTrainConfig,
        StudentTrainConfig,
    )
    from sightline.depth.training.task import train_metric, train_student, train_teacher
    from sightline.depth.training.weights import average_models
    from sightline.depth.video import VideoResult, process_video

__all__ = [
    "DepthConfig",
    "DepthEstimator",
    "DepthTrainConfig",
    "Label",
    "LabelConfig",
    "MetricTrainConfig",
    "StabilizeConfig",
    "Stabilizer",
    "StudentTrainConfig",
    "TileOptions",
    "VideoResult",
    "average_models",
    "export_onnx",
    "load",
    "load_network",
    "make_int8",
    "predict_disparity",
    "process_video",
    "read_label",
    "train_metric",
    "train_student",
    "train_teacher",
    "write_checkpoint",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "DepthConfig": "config",
        "DepthEstimator": "estimator",
        "DepthTrainConfig": "training.config",
        "Label": "labels",
        "LabelConfig": "config",
        "MetricTrainConfig": "training.config",
        "StabilizeConfig": "stabilization",
        "Stabilizer": "stabilization",
        "StudentTrainConfig": "training.config",
        "TileOptions": "tiles",
        "VideoResult": "video",
        "average_models": "training.weights",
        "export_onnx": "export",
        "load": "estimator",
        "load_network": "checkpoints",
        "make_int8": "quantization",
        "predict_disparity": "labels",
        "process_video": "video",
        "read_label": "labels",
        "train_metric": "training.task",
        "train_student": "training.task",
        "train_teacher": "training.task",
        "write_checkpoint": "checkpoints",
    },
)
