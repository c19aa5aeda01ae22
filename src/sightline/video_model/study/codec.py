"""The codec of a study: one that is given, the embedded one, or one of the study's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from sightline.depth.training.processes import Team
from sightline.errors import InputError
from sightline.physics.types import FRAMES
from sightline.video_model.autoencoder.codec import latent_shape, usable_frames
from sightline.video_model.autoencoder.files import SavedCodec
from sightline.video_model.autoencoder.frames import FrameCodec
from sightline.video_model.autoencoder.training import CODEC, train_new_codec
from sightline.video_model.codec_data import frame_source, is_law
from sightline.video_model.codecs import find_codec
from sightline.video_model.learner import transformer_for
from sightline.video_model.model import EMBEDDED
from sightline.video_model.study.made import check_made, write_made
from sightline.video_model.study.parts import Budget

#: Frames of a step of a codec's training.
_FRAMES = 48


def study_codec(
    cost: Budget, name: str | None, out: Path, ours: Team, report: Callable[[str], None]
) -> tuple[SavedCodec, str]:
    """Return the codec that is given; else the study's own, which is trained; else the embedded one.

    Args:
        cost: the budget.
        name: see `codecs.find_codec`; None for none.
        out: folder of the study.
        ours: of the processes; the first one trains.
        report: told in a line how it goes.

    Returns:
        The codec and its checksum.

    Raises:
        InputError: it does not take the study's videos.
    """
    if name is not None or cost.codec is None:
        found = find_codec(EMBEDDED if name is None else name)
    else:
        folder = out / "codec"
        if ours.leads:
            _train(cost, folder, report)
        ours.wait()
        found = find_codec(folder / CODEC)
    check_fit(cost, found[0])
    return found


def check_fit(cost: Budget, codec: SavedCodec) -> None:
    """Refuse a codec that does not take the videos of a budget, or makes no tokens of them."""
    try:
        shape = latent_shape(codec, usable_frames(codec, FRAMES), cost.size)
        for trial in cost.trials:
            transformer_for(shape, codec.stride, cost.build_of(trial, codec.stride))
    except InputError as error:
        way = "leave out --codec for one of the study's own, or " if cost.codec else ""
        raise InputError(
            f"this study has videos of {cost.size} px: {error.problem}",
            remedy=f"{way}give a --codec for {cost.size} px: a file that sightline video codec --kind "
            f"frames --size {cost.size} trained, the folder of an AutoencoderKL, or pixels",
        ) from error


def _train(cost: Budget, folder: Path, report: Callable[[str], None]) -> None:
    """Train a codec of frames: on all worlds of the study with a law, else on the last trial's.

    Of combinatorial worlds the last trial has the most templates; what is held out is in none.
    """
    assert cost.codec is not None
    words = list(dict.fromkeys(word for trial in cost.trials for word in trial.data))
    law = all(map(is_law, words))
    if not law:
        words = list(cost.trials[-1].data)
    options = replace(cost.codec, threads=cost.training.threads, device=cost.training.device)
    settings = {n: v for n, v in asdict(options).items() if n not in ("threads", "device")}
    videos = None if law else cost.trials[-1].videos
    made = {"data": words, "videos": videos, "size": cost.size, "training": settings}
    made = json.loads(json.dumps(made))
    check_made(folder, made, CODEC)
    if (folder / CODEC).is_file():
        return
    source = frame_source(*(words, cost.size, _FRAMES), soft=law, seed=options.seed, videos=videos)
    write_made(folder, made)
    report("the study's own codec")
    train_new_codec(source, folder, options, FrameCodec, report=report, data=made)
