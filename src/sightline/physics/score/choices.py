"""Which options of a score mean something for a data set; one that would have no effect is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.physics.data.open import open_dataset
from sightline.physics.data.spec import PROBE
from sightline.physics.data.videos import VideoData
from sightline.physics.worlds.ranges import PRESETS, SCENARIOS


def training_choices(
    data: VideoData, training: Path | None, level: str | None, preset: str | None
) -> dict[str, Any]:
    """Return what a model was trained on, as the fields of a `Task` that are not at their default.

    Args:
        data: the data set with the truth.
        training: a data set, from which the nearest case is taken.
        level: a training grid of the reference, from which it is taken instead.
        preset: ranges in distribution; None: those that the data set was made with, else `code`.
    """
    given = {"training": training, "level": level, "preset": preset}
    names = [f"--{name}" for name, value in given.items() if value is not None]
    if names and data.scenario not in SCENARIOS:
        raise InputError(
            f"{' and '.join(names)} would have no effect on {data.scenario}",
            path=data.path,
            remedy=f"leave out what is for {', '.join(SCENARIOS)}",
        )
    if training is not None and level is not None:
        raise InputError(
            "--training and --level both say what the nearest case is taken from",
            remedy="leave one out",
        )
    if level is not None and str(data.made.get("scenario", "")).startswith(PROBE):
        raise InputError(
            "--level would have no effect on a probe, which has a training part of its own",
            path=data.path,
            remedy="leave it out, or give --training",
        )
    if training is not None:
        check_training(training, data)
    made_with = str(data.made.get("preset"))
    given["preset"] = preset or (made_with if made_with in PRESETS else None)
    return {name: value for name, value in given.items() if value is not None}


def check_training(training: Path, data: VideoData) -> None:
    """Refuse a data set of another world, or of nothing, as the one that a model was trained on."""
    with open_dataset(training) as other:
        if other.scenario != data.scenario:
            raise InputError(
                f"holds {other.scenario}, the data set to be scored {data.scenario}", path=training
            )
        if not len(other):
            raise InputError("holds no video", path=training)
        columns = other.read_samples(0, 1).init.shape[1], data.read_samples(0, 1).init.shape[1]
    if columns[0] != columns[1]:
        raise InputError(
            f"samples have {columns[0]} parameters, those to be scored {columns[1]}", path=training
        )
