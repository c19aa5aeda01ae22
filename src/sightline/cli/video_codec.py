"""`sightline video codec`: train the codec of a video model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from sightline.cli.config_file import ConfigFile
from sightline.config import Flag
from sightline.errors import InputError
from sightline.video_model.autoencoders.options import (
    CodecTraining,
    FrameOptions,
    InflatedOptions,
    MomentOptions,
)

if TYPE_CHECKING:
    from sightline.video_model.autoencoders.training import Trained

DATA_HELP = """training data, repeatable: uniform, collision, parabola, with an optional :SPLIT;
probe:NAME; combinatorial:6, 30 or 60; or a file of sightline physics make. @SHARE sets the weight
of a source."""

Data = Annotated[list[str], Parameter(help=" ".join(DATA_HELP.split()), negative=())]

#: Consecutive frames that a codec is trained on.
_CLIPS = {"moments": 4, "frames": None, "inflated": 5}


def codec(
    *,
    out: Path,
    data: Data | None = None,
    kind: Literal["moments", "frames", "inflated"] = "moments",
    start: Path | None = None,
    size: int = 64,
    batch: int = 48,
    soft: Flag | None = None,
    floor: int = 32,
    moments: Annotated[MomentOptions, Parameter(name="*")] = MomentOptions(),  # noqa: B008 - frozen
    frames: Annotated[FrameOptions, Parameter(name="*")] = FrameOptions(),  # noqa: B008 - frozen
    inflated: Annotated[InflatedOptions, Parameter(name="*")] = InflatedOptions(),  # noqa: B008
    config: ConfigFile = None,  # noqa: ARG001 - read before the command runs
    options: Annotated[CodecTraining, Parameter(name="*")] = CodecTraining(),  # noqa: B008
) -> None:
    """Train a codec on worlds in and out of distribution; resumes like `sightline video train`.

    At the end, the velocity error of encoded and decoded true videos is printed.

    Args:
        data: scenarios and probes, in and out of distribution; or combinatorial worlds and files as
            they are; default: the three scenarios.
        out: folder of the run: checkpoint, log, and at the end codec.safetensors.
        kind: type of the codec. moments: one vector per frame with the positions of bodies; frames: a
            map of latents; inflated: an image autoencoder extended over time, as in the paper.
        start: for inflated, the folder of an AutoencoderKL of diffusers, such as the vae folder of
            Stable Diffusion 1.5. For moments, a codec whose decoder is trained further; its latents
            do not change, so models trained on them stay valid.
        size: width and height of simulated worlds in pixels, a multiple of 8.
        batch: frames per step; in clips of five for inflated, of four for moments.
        soft: decode to soft edges, which encode subpixel positions; default: on for scenarios and
            probes, except for inflated.
        floor: videos of each scenario on which the velocity error is measured; 0 for none.
        moments: options of the codec of moments.
        frames: options of the codec of frames.
        inflated: options of the inflated codec.
        config: TOML file with options.
        options: training options.
    """
    from sightline.training.signals import stop_on_signals
    from sightline.video_model.autoencoders.data import frame_source, is_law
    from sightline.video_model.autoencoders.files import CODEC
    from sightline.video_model.autoencoders.floor import floor_lines
    from sightline.video_model.autoencoders.frames import FrameCodec
    from sightline.video_model.autoencoders.moments import MomentCodec
    from sightline.video_model.autoencoders.training import train_new_codec

    if floor < 0:
        raise InputError(f"floor must be a number from 0 up, got {floor}")
    words = data or ["uniform", "collision", "parabola"]
    softly = kind != "inflated" and all(map(is_law, words)) if soft is None else soft
    source = frame_source(words, size, batch, clip=_CLIPS[kind], soft=softly, seed=options.seed)
    record = {"data": words, "size": size, "batch": batch, "soft": softly}
    known, digest = _start(kind, start, inflated)
    if digest is not None:
        record["start"] = digest
        # Latents of a codec that is trained further stay as they are; inflated ones are measured anew.
        options = replace(options, measure=options.measure if kind == "inflated" else 0)

    def make() -> Trained:
        if known is not None:
            return known
        return MomentCodec(size, moments) if kind == "moments" else FrameCodec(frames)

    with stop_on_signals() as stop:
        made = train_new_codec(source, out, options, make, report=tell, data=record, stop=stop)
    for line in floor_lines(made, words, size, floor, made.mean.device):
        tell(line)
    print(out / CODEC)


def _start(
    kind: str, start: Path | None, inflated: InflatedOptions
) -> tuple[Trained | None, str | None]:
    """Return the initial codec and its checksum; None for a new one."""
    from sightline.video_model.autoencoders.moments import MomentCodec
    from sightline.video_model.files import find_codec, inflate_known

    if kind == "inflated":
        if start is None:
            raise InputError(
                "an inflated codec begins with an image autoencoder",
                remedy="give --start FOLDER, an AutoencoderKL of diffusers",
            )
        return inflate_known(start, inflated)
    if start is None:
        return None, None
    found, digest = find_codec(start)
    if not isinstance(found, MomentCodec) or kind != MomentCodec.kind:
        raise InputError("is not a codec of moments", path=start, remedy="train a new one")
    return found, digest


def tell(line: str) -> None:
    """Print a progress line to standard error."""
    print(line, file=sys.stderr, flush=True)
