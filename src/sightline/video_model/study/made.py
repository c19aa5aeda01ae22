"""What a trial is made of, kept in its folder: what was made of anything else is not its result."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.files.atomic import write_text
from sightline.video_model.study.parts import Budget, Trial

#: What a trial, or a study's own codec, is made of.
MADE = "made.json"

#: Options that change nothing in a result, or only where it is computed.
_EITHER_WAY = ("threads", "device", "save_every", "validate_every", "keep", "accumulate", "shown")


def made_of(trial: Trial, cost: Budget, stride: int, codec: str, seed: int) -> dict[str, Any]:
    """Return everything that a trial's scores depend on, as plain values.

    Args:
        trial: to be trained and tested.
        cost: its budget.
        stride: pixels along each side of the codec's latents.
        codec: its checksum.
        seed: of the worlds that are tested on.
    """
    training = asdict(cost.training_of(trial))
    made: dict[str, Any] = {
        "data": {"train": trial.data, "videos": trial.videos, "size": cost.size},
        "tests": {"worlds": trial.tests, "count": cost.count, "seed": seed},
        "network": asdict(cost.build_of(trial, stride)),
        "training": {name: v for name, v in training.items() if name not in _EITHER_WAY},
        "codec": codec,
    }
    if trial.text and cost.text_encoder is not None:
        made["network"]["text_encoder"] = cost.text_encoder
    plain: dict[str, Any] = json.loads(json.dumps(made))
    return plain


def check_made(folder: Path, made: dict[str, Any], result: str) -> None:
    """Refuse a folder whose result was made of something else.

    Args:
        folder: of a trial, or of a study's own codec.
        made: what it is to be made of.
        result: name of the file that is the result.
    """
    path = folder / MADE
    if not path.is_file():
        if (folder / result).is_file():
            raise InputError(
                "does not say what it was made of",
                path=folder / result,
                remedy="choose another --out, or remove it",
            )
        return
    try:
        before = json.loads(path.read_text())
        other = [name for name in made if before[name] != made[name]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            "does not say what the trial is made of", path=path, remedy="choose another --out"
        ) from error
    if other:
        raise InputError(
            f"holds a trial with other {', '.join(other)}",
            path=folder,
            remedy="choose another --out, or give the budget and codec that it was made with",
        )


def write_made(folder: Path, made: dict[str, Any]) -> None:
    """Say what is being made in a folder."""
    write_text(folder / MADE, json.dumps(made, indent=1, sort_keys=True) + "\n")
