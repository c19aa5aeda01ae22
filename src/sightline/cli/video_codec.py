"""`sightline video codec`: train what makes latents of frames."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from sightline.batch.options import Flag
from sightline.errors import InputError
from sightline.video_model.autoencoder.options import (
    CodecTraining,
    FrameOptions,
    InflatedOptions,
    MomentOptions,
)

if TYPE_CHECKING:
    from sightline.video_model.autoencoder.training import Trained

DATA_HELP = """what to learn from, several times: uniform, collision, parabola, with :SPLIT if not
in distribution; probe:NAME; combinatorial:6, 30 or 60; or a file of sightline physics make. With
@SHARE, samples of a row of turns."""

Data = Annotated[list[str], Parameter(help=" ".join(DATA_HELP.split()), negative=())]

#: Frames in a row that a codec sees: steps from frame to frame want some, kernels over time more.
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
    options: Annotated[CodecTraining, Parameter(name="*")] = CodecTraining(),  # noqa: B008
) -> None:
    """Train a codec of frames on worlds in and out of distribution; it resumes as training does.

    In the end the velocity error of true videos that were only coded and decoded is printed.

    Args:
        data: scenarios and probes, shown in and out of distribution; or combinatorial worlds and files,
            shown as they are; default: the three scenarios.
        out: folder of the run: checkpoint, log, and at the end codec.safetensors.
        kind: moments: a vector for each frame, places of bodies as numbers; frames: a map of latents;
            inflated: an image autoencoder that learns about time, as the paper's.
        start: for inflated the folder of an AutoencoderKL of diffusers, such as the vae folder of
            Stable Diffusion 1.5. For moments a codec to go on from: it learns to draw better, and its
            latents stay, so that models that were trained in them stay right.
        size: width and height in pixels, a multiple of 8; files have their own.
        batch: frames of a step; inflated ones come five in a row, moments four.
        soft: decode to soft edges, which say where a ball is between the pixels; default: all kinds but
            inflated do, on scenarios and probes.
        floor: videos of each scenario that the velocity error is measured on; 0 for none.
        moments: of a codec of moments; one flag per field.
        frames: of a codec of frames; one flag per field.
        inflated: of an inflated one; one flag per field.
        options: of the training; one flag per field.
    """
    from sightline.video_model.autoencoder.floor import floor_lines
    from sightline.video_model.autoencoder.frames import FrameCodec
    from sightline.video_model.autoencoder.moments import MomentCodec
    from sightline.video_model.autoencoder.training import CODEC, train_new_codec
    from sightline.video_model.codec_data import frame_source, is_law

    if floor < 0:
        raise InputError(f"floor must be a number from 0 up, got {floor}")
    words = data or ["uniform", "collision", "parabola"]
    softly = kind != "inflated" and all(map(is_law, words)) if soft is None else soft
    source = frame_source(*(words, size, batch), clip=_CLIPS[kind], soft=softly, seed=options.seed)
    record = {"data": words, "size": size, "batch": batch, "soft": softly}
    known, digest = _start(kind, start, inflated)
    if digest is not None:
        record["start"] = digest
        # Latents of a codec that goes on stay as they are; those of pictures are measured anew.
        options = replace(options, measure=options.measure if kind == "inflated" else 0)

    def make() -> Trained:
        if known is not None:
            return known
        return MomentCodec(size, moments) if kind == "moments" else FrameCodec(frames)

    made = train_new_codec(source, out, options, make, report=tell, data=record)
    for line in floor_lines(made, words, size, floor, made.mean.device):
        tell(line)
    print(out / CODEC)


def _start(
    kind: str, start: Path | None, inflated: InflatedOptions
) -> tuple[Trained | None, str | None]:
    """Return the codec to begin with and its checksum; nothing for one that begins anew."""
    from sightline.video_model.autoencoder.moments import MomentCodec
    from sightline.video_model.codecs import find_codec, inflate_known

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
        raise InputError("is no codec of moments", path=start, remedy="train a new one")
    return found, digest


def tell(line: str) -> None:
    """Tell people on the error stream how it goes."""
    print(line, file=sys.stderr, flush=True)
