"""`sightline video`: train a diffusion transformer on videos of worlds, let it go on, study it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from sightline.batch.options import Flag
from sightline.errors import InputError
from sightline.video_model.autoencoder.options import CodecTraining, FrameOptions, MomentOptions
from sightline.video_model.options import BuildOptions, VideoTraining

app = App(name="video", help="Video models that learn physics from pixels, and what they learn.")

DATA_HELP = """what to learn from, several times: uniform, collision, parabola, with :SPLIT if not
in distribution; probe:NAME; or a file of sightline physics make. With @SHARE, samples of a row of
turns."""

Data = Annotated[list[str], Parameter(help=" ".join(DATA_HELP.split()), negative=())]


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
    build: Annotated[BuildOptions, Parameter(name="*")] = BuildOptions(),  # noqa: B008 - frozen
    options: Annotated[VideoTraining, Parameter(name="*")] = VideoTraining(),  # noqa: B008
) -> None:
    """Train a video model; stop it at any time, the same command goes on where it stopped.

    For several processes: `torchrun --nproc-per-node N -m -- sightline video train ...`, or `accelerate
    launch`. Figures, film strips and checkpoints go to the run's folder.

    Args:
        data: what to learn from.
        out: folder of the run: checkpoint, log, samples, and at the end model.safetensors.
        codec: that makes latents of frames: a file of `sightline video codec`, a video model for the
            codec in it, or pixels for none.
        size: width and height of worlds in pixels; files have their own.
        videos: how many different ones of each source; default: without end, or all of a file.
        world_seed: of worlds.
        check: worlds to score as training goes, such as uniform or uniform:ood.
        build: the network; one flag per field.
        options: everything else; one flag per field.
    """
    from sightline.depth.training.processes import team
    from sightline.video_model.codecs import find_codec
    from sightline.video_model.data import open_mixture
    from sightline.video_model.files import MODEL
    from sightline.video_model.scoring import Validator
    from sightline.video_model.training import train_video_model

    found, digest = find_codec(codec)
    mixture = open_mixture(
        data, size, count=videos, seed=world_seed, order=options.seed, flip=options.flip
    )
    validate = Validator(tuple(check)) if check else None
    with team(options.device) as ours:
        train_video_model(
            *(mixture, found, out, build, options),
            validate=validate,
            report=_tell,
            data={"codec": digest},
            team=ours,
        )
        if ours.leads:
            print(out / MODEL)


@app.command
def codec(
    *,
    out: Path,
    data: Data | None = None,
    kind: Literal["moments", "frames"] = "moments",
    start: Path | None = None,
    size: int = 64,
    batch: int = 48,
    soft: Flag = True,
    moments: Annotated[MomentOptions, Parameter(name="*")] = MomentOptions(),  # noqa: B008 - frozen
    frames: Annotated[FrameOptions, Parameter(name="*")] = FrameOptions(),  # noqa: B008 - frozen
    options: Annotated[CodecTraining, Parameter(name="*")] = CodecTraining(),  # noqa: B008
) -> None:
    """Train a codec of frames on worlds in and out of distribution; it resumes as training does.

    Args:
        data: scenarios and probes; default: the three scenarios.
        out: folder of the run: checkpoint, log, and at the end codec.safetensors.
        kind: moments: a vector for each frame, places of bodies as numbers; frames: a map of latents.
        start: a codec of moments to go on from: it learns to draw better, and its latents stay, so that
            models that were trained in them stay right.
        size: width and height in pixels, a multiple of 8.
        batch: frames of a step.
        soft: decode to soft edges, which say where a ball is between the pixels.
        moments: of a codec of moments; one flag per field.
        frames: of a codec of frames; one flag per field.
        options: of the training; one flag per field.
    """
    from sightline.video_model.autoencoder.frames import FrameCodec
    from sightline.video_model.autoencoder.moments import MomentCodec
    from sightline.video_model.autoencoder.training import CODEC, train_new_codec
    from sightline.video_model.autoencoder.worlds import WorldFrames, world_specs
    from sightline.video_model.codecs import find_codec

    scenarios = data or ["uniform", "collision", "parabola"]
    # Steps from frame to frame want some in a row.
    clip = 4 if kind == "moments" else None
    source = WorldFrames(
        world_specs(scenarios, size),
        max(1, batch // (clip or 1)),
        seed=options.seed,
        clip=clip,
        soft=soft,
    )
    record = {"data": scenarios, "size": size, "batch": batch, "soft": soft}
    known: MomentCodec | None = None
    if start is not None:
        found, record["start"] = find_codec(start)
        if not isinstance(found, MomentCodec) or kind != MomentCodec.kind:
            raise InputError("is no codec of moments", path=start, remedy="train a new one")
        known, options = found, replace(options, measure=0)

    def make() -> MomentCodec | FrameCodec:
        if known is not None:
            return known
        return MomentCodec(size, moments) if kind == "moments" else FrameCodec(frames)

    train_new_codec(source, out, options, make, report=_tell, data=record)
    print(out / CODEC)


@app.command
def sample(
    *,
    data: Path,
    out: Path,
    model: str = "video",
    count: int | None = None,
    start: int = 0,
    batch: int = 16,
    steps: int | None = None,
    seed: int = 0,
    device: str | None = None,
) -> int:
    """Continue the videos of a data set, for `sightline physics score`.

    Videos are lossless mp4, named by the number of their sample; after a stop the same command goes on.

    Args:
        data: the data set whose first frames are given, of the size that the model was trained at.
        out: folder for the videos.
        model: registry name, or a file or run folder of `sightline video train`.
        count: how many samples; default: all from `start` on.
        start: number of the first one.
        batch: videos that are made at a time.
        steps: from noise to video; default: the model's.
        seed: of the noise.
        device: cpu, cuda, cuda:1 or mps; default: the best here.
    """
    from sightline.cli.progress import progress
    from sightline.physics.data.open import open_dataset
    from sightline.video_model.model import load
    from sightline.video_model.sampling import sample_videos

    if batch < 1 or (count is not None and count < 1):
        raise InputError(f"batch and count must be at least 1, got {batch} and {count}")
    maker = load(model, device)
    with open_dataset(data) as videos:
        stop = len(videos) if count is None else start + count
        if not 0 <= start < stop <= len(videos):
            raise InputError(
                f"samples {start} to {stop - 1} were asked for, there are {len(videos)}", path=data
            )
        steps_done = sample_videos(
            *(maker, videos, out, range(start, stop)),
            name=model,
            batch=batch,
            steps=steps,
            seed=seed,
        )
        with progress(stop - start, "videos") as display:
            for _ in steps_done:
                display.advance()
    print(f"{stop - start} video{'' if stop - start == 1 else 's'} in {out}")
    return 0


@app.command
def demo(*, out: Path = Path("video-demo"), model: str = "video", count: int = 12) -> int:
    """Let a model continue videos in range and out of it, beside the truth, with the law errors.

    Args:
        out: folder for the page and the films.
        model: registry name, or a file or run folder of `sightline video train`.
        count: videos of each world and range that are scored.
    """
    from sightline.video_model.demo import run_demo

    if count < 1:
        raise InputError(f"count must be at least 1, got {count}")
    for line in run_demo(out, model, count, report=_tell):
        print(line)
    return 0


@app.command
def study(
    name: Annotated[str, Parameter(name="NAME")],
    /,
    *,
    out: Path | None = None,
    budget: Literal["cpu", "paper"] = "cpu",
    codec: str = "video",
    device: str | None = None,
    threads: int | None = None,
) -> int:
    """Train, sample and score a declared study, and write one report; it goes on where it stopped.

    Args:
        name: scaling, combinatorial, velocity-gap, collision-gap, memorisation, conflicts, conditions.
        out: folder for the runs and report.html; default: studies/NAME-BUDGET.
        budget: cpu takes minutes to hours on two cores; paper is the real thing.
        codec: that makes latents of frames, see `sightline video train`.
        device: cpu, cuda, cuda:1 or mps; default: the best here.
        threads: of the processor; default: torch's choice.
    """
    from sightline.video_model.study.run import run_study

    folder = out or Path("studies") / f"{name}-{budget}"
    for line in run_study(
        name, budget, folder, codec=codec, device=device, threads=threads, report=_tell
    ):
        print(line)
    return 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
