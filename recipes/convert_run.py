"""Convert the folder of a depth training made before there was one trainer.

`run.json` becomes `config.toml`, and `checkpoint.pt` gets the names of the trainer's checkpoints; then
`sightline train ... --out RUN` with the same options resumes the run exactly. The old files are kept as
`run.json` and `checkpoint-old.pt`.

    python recipes/convert_run.py RUN [RUN ...]
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from sightline.depth.training.config import (
    DepthTrainConfig,
    MetricTrainConfig,
    StudentTrainConfig,
)
from sightline.io.atomic import write_text
from sightline.training.checkpoint import CONFIG, checkpoint_path, save_checkpoint
from sightline.training.config import plain, to_toml

CONFIGS = {"teacher": DepthTrainConfig, "student": StudentTrainConfig, "metric": MetricTrainConfig}

#: Values of the former option `bfloat16`.
PRECISION = {"auto": "auto", "on": "bfloat16", "off": "float32"}


def convert_record(record: dict[str, Any]) -> dict[str, Any]:
    """Return the content of `config.toml` for that of `run.json`; new options have their defaults."""
    options = dict(record["options"])
    options["precision"] = PRECISION[options.pop("bfloat16", "auto")]
    config = CONFIGS[record["stage"]](**options)
    rest = {name: value for name, value in record.items() if name not in ("stage", "options")}
    return plain({"task": record["stage"], "options": asdict(config), **rest})


def convert_checkpoint(state: dict[str, Any]) -> dict[str, Any]:
    """Return a checkpoint of the trainer for one of the former depth loop."""
    model = dict(state["network"])
    model |= {f"guide.{name}": value for name, value in (state["guide"] or {}).items()}
    optimizer = state["optimiser"] if "optimiser" in state else state["optimizer"]
    return {
        "model": model,
        # The former loop counted updates from 0, the trainer counts from 1.
        "ema": {"updates": state["step"] - 1, "weights": state["average"]},
        "optimizer": optimizer,
        "scaler": {},
        "random": torch.get_rng_state(),  # depth networks draw no random numbers in training
        "step": state["step"],
        "losses": state["losses"],
    }


def convert(run: Path) -> None:
    """Convert the folder of a run in place."""
    record = json.loads((run / "run.json").read_text())
    write_text(run / CONFIG, to_toml(convert_record(record)))
    path = checkpoint_path(run)
    if path.is_file():
        state = torch.load(path, map_location="cpu", weights_only=True)
        if "model" not in state:
            path.rename(run / "checkpoint-old.pt")
            save_checkpoint(run, convert_checkpoint(state))
    print(run)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a training")
    for run in parser.parse_args().runs:
        convert(run)
