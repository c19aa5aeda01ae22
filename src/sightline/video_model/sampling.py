"""Videos of a data set, continued by a model, into a folder that `sightline physics score` takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sightline.errors import InputError
from sightline.files.atomic import write_bytes
from sightline.physics.data.mp4 import encode
from sightline.physics.data.spec import COMBINATORIAL
from sightline.physics.data.videos import VideoData
from sightline.physics.run_record import claimed
from sightline.physics.types import Frames
from sightline.video_model.model import VideoDiffusion
from sightline.video_model.sentences import Fact
from sightline.video_model.sources import NO_NUMBERS


def sample_videos(
    model: VideoDiffusion,
    data: VideoData,
    folder: Path,
    indexes: Sequence[int],
    *,
    digest: str,
    batch: int = 16,
    steps: int | None = None,
    seed: int = 0,
) -> Iterator[Path]:
    """Write each video as lossless mp4, named by its number; what is there already is kept.

    Args:
        model: that continues.
        data: gives the first frames.
        folder: for `00000.mp4` …; one with videos of another model or data set is refused.
        indexes: numbers of the samples.
        digest: checksum of the model's file, for the record: the same model may lie elsewhere.
        batch: videos that are made at a time.
        steps: from noise to video; None: the model's.
        seed: of the noise; the number of a sample decides it, too.
    """
    if steps is not None and not 1 <= steps <= model.build.noise_steps:
        raise InputError(
            f"{steps} sampling steps of a schedule of {model.build.noise_steps}",
            remedy=f"give --steps 1 to {model.build.noise_steps}",
        )
    record = {
        "model": digest,
        "data_set": data.digest,
        "condition": model.build.condition,
        "steps": model.sampling if steps is None else steps,
        "seed": seed,
    }
    with claimed(folder, record):
        paths = {index: folder / f"{index:05d}.mp4" for index in indexes}
        missing = [index for index, path in paths.items() if not path.exists()]
        yield from (path for path in paths.values() if path.exists())
        for start in range(0, len(missing), batch):
            some = missing[start : start + batch]
            truths = [data.video(index) for index in some]
            for index, truth in zip(some, truths, strict=True):
                _check(model, data, index, truth)
            facts = [_known(data, index) for index in some] if model.is_told else []
            made = model.continue_videos(
                *(truths, some),
                described=model.tell(facts) if facts else None,
                seed=seed,
                steps=steps,
                batch=batch,
            )
            for index, frames in zip(some, made, strict=True):
                write_bytes(paths[index], encode(frames, "lossless"))
                yield paths[index]


def _check(model: VideoDiffusion, data: VideoData, index: int, truth: Frames) -> None:
    """Refuse a video that the model cannot go on from; name the file."""
    if len(truth) < model.frames:
        raise InputError(
            f"video {index} has {len(truth)} frames, this model makes {model.frames}",
            path=data.path,
        )
    try:
        model.check(truth, model.build.condition)
    except InputError as error:
        raise InputError(error.problem, path=data.path, remedy=error.remedy) from error


def _known(data: VideoData, index: int) -> Fact:
    """Return scenario, radii and speeds of a video."""
    if data.scenario == COMBINATORIAL:
        raise InputError(NO_NUMBERS, path=data.path, remedy="give another data set, or model")
    return Fact(data.scenario, data.read_init(index, index + 1)[0])
