"""`sightline video`: train a diffusion transformer on videos of worlds, let it go on, study it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from sightline.cli.video_codec import Data, codec, tell
from sightline.errors import InputError
from sightline.running.checks import SEEDS
from sightline.video_model.options import BuildOptions, VideoTraining

app = App(name="video", help="Video models that learn physics from pixels, and what they learn.")

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
            codec in it, a folder with an AutoencoderKL of diffusers, or pixels for none.
        size: width and height of worlds in pixels; files have their own.
        videos: how many different ones of each source; default: without end, or all of a file.
        world_seed: of worlds.
        check: worlds to score as training goes, such as uniform or uniform:ood.
        text_encoder: folder of a text encoder as the hub lays it out (T5, CLIP …), for --text encoder.
        build: the network; one flag per field.
        options: everything else; one flag per field.
    """
    from sightline.depth.training.processes import team
    from sightline.video_model.codecs import find_codec
    from sightline.video_model.data import open_mixture
    from sightline.video_model.files import MODEL
    from sightline.video_model.scoring import Validator
    from sightline.video_model.text_encoder import TextEncoder
    from sightline.video_model.training import train_video_model

    found, digest = find_codec(codec)
    mixture = open_mixture(
        data, size, count=videos, seed=world_seed, order=options.seed, flip=options.flip
    )
    validate = Validator(tuple(check)) if check else None
    if validate is not None:
        validate.check(mixture.shape[1])
    with team(options.device) as ours:
        encoder = None if text_encoder is None else TextEncoder(text_encoder, ours.device)
        train_video_model(
            *(mixture, found, out, build, options),
            validate=validate,
            report=tell,
            data={"codec": digest},
            team=ours,
            encoder=encoder,
        )
        if ours.leads:
            print(out / MODEL)


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
    text_encoder: Path | None = None,
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
        text_encoder: folder of the one that the model was trained with, if it was.
        device: cpu, cuda, cuda:1 or mps; default: the best here.
    """
    from sightline.cli.progress import progress
    from sightline.physics.data.open import open_dataset
    from sightline.video_model.model import load_known
    from sightline.video_model.sampling import sample_videos
    from sightline.video_model.text_encoder import TextEncoder

    if batch < 1 or (count is not None and count < 1):
        raise InputError(f"batch and count must be at least 1, got {batch} and {count}")
    if not 0 <= seed < SEEDS:
        raise InputError(f"seed must be a number from 0 to {SEEDS - 1}, got {seed}")
    maker, digest = load_known(model, device)
    if text_encoder is not None:
        maker.give_encoder(TextEncoder(text_encoder, maker.device))
    with open_dataset(data) as videos:
        stop = len(videos) if count is None else start + count
        if not 0 <= start < stop <= len(videos):
            raise InputError(
                f"{'videos' if count is None else f'{count} videos'} from {start} on were asked for, "
                f"there are {len(videos)}",
                path=data,
            )
        steps_done = sample_videos(
            *(maker, videos, out, range(start, stop)),
            digest=digest,
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
    """Train, sample and score a declared study, and write one report; it goes on where it stopped.

    Args:
        name: scaling, combinatorial, velocity-gap, collision-gap, memorisation, conflicts, conditions.
        out: folder for the runs and report.html; default: studies/NAME-BUDGET.
        budget: cpu takes minutes to hours on two cores; paper is the real thing.
        codec: that makes latents of frames, see `sightline video train`; default: the embedded one, or
            with the paper budget and for combinatorial worlds one that the study trains for itself.
        at_once: videos of a batch that a process works on at a time; default: as the budget says.
        text_encoder: folder of one that embeds the sentences of conditions, as the paper's T5; default:
            the network learns to read by itself.
        device: cpu, cuda, cuda:1 or mps; default: the best here.
        threads: of the processor; default: torch's choice.
    """
    from sightline.video_model.study.run import run_study

    folder = out or Path("studies") / f"{name}-{budget}"
    found = run_study(
        *(name, budget, folder),
        codec=codec,
        at_once=at_once,
        text_encoder=text_encoder,
        device=device,
        threads=threads,
        report=tell,
    )
    for line in found:
        print(line)
    return 0
