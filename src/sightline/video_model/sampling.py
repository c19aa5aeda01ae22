"""Videos of a data set, continued by a model, into a folder that `sightline physics score` takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sightline.errors import InputError
from sightline.files.atomic import write_bytes
from sightline.physics.data.mp4 import encode
from sightline.physics.data.videos import VideoData
from sightline.physics.run_record import claimed
from sightline.video_model.data import padded
from sightline.video_model.model import VideoDiffusion


def sample_videos(
    model: VideoDiffusion,
    data: VideoData,
    folder: Path,
    indexes: Sequence[int],
    *,
    name: str = "model",
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
        name: of the model, for the record.
        batch: videos that are made at a time.
        steps: from noise to video; None: the model's.
        seed: of the noise; the number of a sample decides it, too.
    """
    record = {
        "model": name,
        "data_set": data.digest,
        "condition": model.build.condition,
        "steps": steps or model.sampling,
        "seed": seed,
    }
    columns = model.network.options.numbers
    with claimed(folder, record):
        paths = {index: folder / f"{index:05d}.mp4" for index in indexes}
        missing = [index for index, path in paths.items() if not path.exists()]
        yield from (path for path in paths.values() if path.exists())
        for start in range(0, len(missing), batch):
            some = missing[start : start + batch]
            truths = [data.video(index) for index in some]
            for index, truth in zip(some, truths, strict=True):
                if len(truth) < model.frames:
                    raise InputError(
                        f"video {index} has {len(truth)} frames, this model makes {model.frames}",
                        path=data.path,
                    )
            known = [data.read_init(index, index + 1)[0] for index in some] if columns else []
            made = model.continue_videos(
                *(truths, some),
                described=padded(known, columns) if columns else None,
                seed=seed,
                steps=steps,
                batch=batch,
            )
            for index, frames in zip(some, made, strict=True):
                write_bytes(paths[index], encode(frames, "lossless"))
                yield paths[index]
