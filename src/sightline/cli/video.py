"""`sightline video`: train, sample and study video diffusion models."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from sightline.cli.config_file import ConfigFile
from sightline.cli.video_codec import Data, codec, tell
from sightline.config import ParallelConfig
from sightline.errors import InputError
from sightline.video_model.options import BuildOptions, SampleConfig, VideoTraining

app = App(name="video", help="Train, sample and study video models.")

app.command(codec)


@app.command
def train(
    *,
    data: Data,
    out: Path,
    codec: str = "video",
    size: int = 64,
    videos: int | None = None,
    world_seed: int = 0,
    check: Annotated[list[str], Parameter(negative=())] | None = None,
    text_encoder: Path | None = None,
    config: ConfigFile = None,  # noqa: ARG001 - read before the command runs
    build: Annotated[BuildOptions, Parameter(name="*")] = BuildOptions(),  # noqa: B008 - frozen
    options: Annotated[VideoTraining, Parameter(name="*")] = VideoTraining(),  # noqa: B008
) -> None:
    """Train a video model; an interrupted run resumes with the same command.

    For several processes use `torchrun --nproc-per-node N -m -- sightline video train ...` or
    `accelerate launch`. Logs, film strips and checkpoints are written to the folder of the run.

    Args:
        data: training data.
        out: folder of the run: checkpoint, log, samples, and at the end model.safetensors.
        codec: codec of the latents: a file of `sightline video codec`, a video model whose codec is
            used, a folder with an AutoencoderKL of diffusers, or pixels for none.
        size: width and height of worlds in pixels; files have their own.
        videos: number of distinct videos of each source; default: endless, or all of a file.
        world_seed: random seed of worlds.
        check: worlds to score during training, such as uniform or uniform:ood.
        text_encoder: folder of a text encoder (T5, CLIP …), for --text encoder.
        config: TOML file with options.
        build: network options.
        options: training options.
    """
    from sightline.training.distributed import join_processes
    from sightline.training.signals import stop_on_signals
    from sightline.video_model.conditioning import TextEncoder
    from sightline.video_model.data import open_mixture
    from sightline.video_model.files import MODEL, find_codec
    from sightline.video_model.scoring import Validator
    from sightline.video_model.training import train_video_model

    found, digest = find_codec(codec)
    mixture = open_mixture(
        data, size, count=videos, seed=world_seed, order=options.seed, flip=options.flip
    )
    validate = Validator(tuple(check)) if check else None
    if validate is not None:
        validate.check(mixture.shape[1])
    with join_processes(options.device) as ours, stop_on_signals() as stop:
        encoder = None if text_encoder is None else TextEncoder(text_encoder, ours.device)
        train_video_model(
            mixture,
            found,
            out,
            build,
            options,
            validate=validate,
            report=tell,
            data={"codec": digest},
            distributed=ours,
            stop=stop,
            encoder=encoder,
        )
        if ours.is_main:
            print(out / MODEL)


@app.command
def sample(
    *,
    data: Path,
    out: Path,
    count: int | None = None,
    start: int = 0,
    config: Annotated[SampleConfig, Parameter(name="*")] = SampleConfig(),  # noqa: B008 - frozen
    parallel: Annotated[ParallelConfig, Parameter(name="*")] = ParallelConfig(),  # noqa: B008
) -> int:
    """Continue the videos of a dataset, for `sightline physics score`.

    Videos are written as lossless MP4, named by sample number; an interrupted run resumes with the same
    command.

    Args:
        data: dataset that provides the first frames, of the size that the model was trained at.
        out: folder for the videos.
        count: number of samples. Default: all from `start`.
        start: number of the first sample.
        config: model and sampling.
        parallel: where to run.
    """
    from sightline.cli.progress import progress
    from sightline.video_model.pipeline import sample_videos

    with redirect_stdout(sys.stderr), progress(1, "videos") as display:  # Ray prints to stdout
        made = sample_videos(
            data, out, config, start=start, count=count, parallel=parallel, on_done=display.step
        )
    print(f"{len(made)} video{'' if len(made) == 1 else 's'} in {out}")
    return 0


@app.command
def demo(*, out: Path = Path("video-demo"), model: str = "video", count: int = 12) -> int:
    """Continue videos in and out of range, beside the true ones, with law errors.

    Args:
        out: folder for the page and the films.
        model: registry name, or a file or run folder of `sightline video train`.
        count: scored videos of each world and range.
    """
    from sightline.video_model.demo import run_demo

    if count < 1:
        raise InputError(f"count must be at least 1, got {count}")
    for line in run_demo(out, model, count, report=tell):
        print(line)
    return 0


@app.command
def study(
    name: Annotated[str, Parameter(name="NAME")],
    /,
    *,
    out: Path | None = None,
    budget: Literal["cpu", "paper"] = "cpu",
    codec: str | None = None,
    at_once: int | None = None,
    text_encoder: Path | None = None,
    device: str | None = None,
    threads: int | None = None,
) -> int:
    """Run a study of PhyWorld and write one report; an interrupted study resumes with the same command.

    Args:
        name: one of scaling, combinatorial, velocity-gap, collision-gap, memorization, conflicts and
            conditions.
        out: folder for the runs and report.html; default: studies/NAME-BUDGET.
        budget: scale of the study; cpu: minutes to hours on two cores; paper: the paper's scale, for
            GPUs.
        codec: codec of the latents, see `sightline video train`; default: the embedded one, or one that
            the study trains, with the paper budget and for combinatorial worlds.
        at_once: videos per forward pass of a process; default: that of the budget.
        text_encoder: folder of a text encoder for the study conditions, as the paper's T5; default: the
            network embeds words itself.
        device: torch device: cpu, cuda, cuda:1 or mps. Default: the best available.
        threads: CPU threads; default: torch's choice.
    """
    from sightline.training.signals import stop_on_signals
    from sightline.video_model.studies.run import run_study

    folder = out or Path("studies") / f"{name}-{budget}"
    found = run_study(
        name,
        budget,
        folder,
        codec=codec,
        at_once=at_once,
        text_encoder=text_encoder,
        device=device,
        threads=threads,
        report=tell,
        stopping=stop_on_signals,
    )
    for line in found:
        print(line)
    return 0
