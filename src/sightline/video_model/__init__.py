"""Video diffusion transformers that continue videos (PhyWorld, arXiv 2411.02385).

>>> from sightline import video_model
>>> model = video_model.load()  # doctest: +SKIP
>>> (video,) = model.continue_videos([frames], [0])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "BuildOptions",
    "TextEncoder",
    "TransformerOptions",
    "VideoDiffusion",
    "VideoTraining",
    "VideoTransformer",
    "find_codec",
    "load",
    "make_schedule",
    "open_mixture",
    "open_videos",
    "read_model",
    "run_study",
    "sample",
    "sample_videos",
    "score_model",
    "spec_of",
    "train_video_model",
    "write_model",
]

if TYPE_CHECKING:
    from sightline.video_model.conditioning import TextEncoder
    from sightline.video_model.data import open_mixture, open_videos
    from sightline.video_model.diffusion import make_schedule, sample
    from sightline.video_model.files import find_codec, read_model, write_model
    from sightline.video_model.options import BuildOptions, TransformerOptions, VideoTraining
    from sightline.video_model.pipeline import VideoDiffusion, load, sample_videos
    from sightline.video_model.scoring import score_model, spec_of
    from sightline.video_model.studies.run import run_study
    from sightline.video_model.training import train_video_model
    from sightline.video_model.transformer import VideoTransformer

_HOMES = {
    "BuildOptions": "options",
    "TextEncoder": "conditioning",
    "TransformerOptions": "options",
    "VideoDiffusion": "pipeline",
    "VideoTraining": "options",
    "VideoTransformer": "transformer",
    "find_codec": "files",
    "load": "pipeline",
    "make_schedule": "diffusion",
    "open_mixture": "data",
    "open_videos": "data",
    "read_model": "files",
    "run_study": "studies.run",
    "sample": "diffusion",
    "sample_videos": "pipeline",
    "score_model": "scoring",
    "spec_of": "scoring",
    "train_video_model": "training",
    "write_model": "files",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import on first use: most modules need torch or OpenVINO."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
