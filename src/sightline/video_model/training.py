"""Train a video model in the latents of a codec, with exact resume (PhyWorld §2.2, §3).

* The velocity of noisy latents is learnt; frames that are given do not count.
* Which videos, noise and steps a batch holds follows from the seed and the batch's number; so a run
  that was broken ends with the weights of an unbroken one.
* Several processes share every batch; a batch may be worked through in parts.
* The run's folder holds the checkpoint, `log.jsonl`, `samples/*.png` (truth above model), a tensorboard
  log if that is installed, and in the end `model.safetensors` with the moving mean of the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn

from sightline.depth.training.processes import Team
from sightline.errors import InputError
from sightline.running.folder import MAY_CHANGE, claimed_run
from sightline.video_model.autoencoder.files import SavedCodec
from sightline.video_model.files import MODEL, write_model
from sightline.video_model.latents import Kept, Latents
from sightline.video_model.learner import make_model
from sightline.video_model.loop import Run, Validate
from sightline.video_model.mixture import Mixture
from sightline.video_model.model import VideoDiffusion
from sightline.video_model.options import BuildOptions, VideoTraining
from sightline.video_model.text_encoder import TextEncoder

#: Options that may differ when a run goes on. The cosine hangs on the number of steps.
_MAY_CHANGE = (MAY_CHANGE | {"keep", "accumulate", "shown"}) - {"steps"}


def train_video_model(
    videos: Mixture,
    codec: SavedCodec,
    out: Path,
    build: BuildOptions,
    options: VideoTraining,
    *,
    validate: Validate | None = None,
    report: Callable[[str], None] = print,
    data: dict[str, Any] | None = None,
    team: Team | None = None,
    kept: Kept | None = None,
    encoder: TextEncoder | None = None,
) -> VideoDiffusion:
    """Train, or go on training, into a folder; return the finished model.

    Args:
        videos: to learn from.
        codec: in whose latents the model works; it does not learn.
        out: folder of the run; one of another run is refused.
        build: of the network.
        options: of the training.
        validate: figures to log while training, of the moving mean.
        report: told in a line how it goes.
        data: where the videos came from, for the record.
        team: of processes; this one alone if None.
        kept: see `Latents`.
        encoder: of sentences, for a network that is told them and does not read by itself.

    Raises:
        SightlineError: the loss is not finite any more; the last checkpoint is kept.
    """
    team = team or Team()
    if options.threads:
        torch.set_num_threads(options.threads)
    if isinstance(codec, nn.Module):
        codec.to(team.device).requires_grad_(False)
    latents = Latents(videos, codec, keep=options.keep, device=team.device, kept=kept)
    model = make_model(latents, build, options, encoder)
    model.notes = {"data": videos.names, "steps": options.steps, "batch": options.batch}
    if encoder is not None:
        model.notes["text_encoder"] = encoder.digest
    if options.batch < team.count * options.accumulate:
        raise InputError(
            f"a batch of {options.batch} does not reach for {team.count} processes and "
            f"{options.accumulate} parts"
        )
    # What is wrong with the videos shows now, and not after the folder is claimed.
    latents.batch([0])
    if model.is_told:
        model.tell(latents.facts(range(len(videos.sources))))
    asked = {
        "stage": "video",
        "options": asdict(options),
        "build": asdict(build),
        "transformer": model.network.options.to_dict(),
        "codec": codec.kind,
        "data": {
            "videos": videos.names,
            **({} if encoder is None else {"text_encoder": encoder.digest}),
            **(data or {}),
        },
    }
    with claimed_run(out, asked, _MAY_CHANGE) if team.leads else nullcontext():
        team.wait()
        Run(model, latents, out, options, team, validate, report).run()
        if team.leads:
            write_model(model, out / MODEL)
        team.wait()
    return model
