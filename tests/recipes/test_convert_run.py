"""Depth runs made before there was one trainer are resumed exactly after conversion."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import torch

from sightline.depth.training import StudentTrainConfig, train_depth
from sightline.training.checkpoint import load_checkpoint
from sightline.training.data.pairs import Pair
from sightline.training.data.shards import MemoryPairs
from sightline.training.data.stream import MixtureSource

sys.path.insert(0, str(Path(__file__).parents[2] / "recipes"))
from convert_run import convert

CONFIG = StudentTrainConfig(
    start="nothing", short_side=32, steps=4, save_every=2, validate_every=2, warmup=1
)


def sources():
    slope = torch.linspace(0, 1, 60)[None].repeat(48, 1)
    pixels = (slope[..., None] * 255).byte().expand(48, 60, 3).numpy().copy()
    pair = Pair(pixels, slope.half().numpy(), torch.ones(48, 60, dtype=torch.bool).numpy())
    return [MixtureSource(MemoryPairs([pair]), 2)]


def train(out, **changes):
    train_depth("student", sources(), out, replace(CONFIG, **changes), report=lambda _: None)
    return load_checkpoint(out)


def test_a_former_run_goes_on_exactly(tmp_path):
    state = train(tmp_path / "old", steps=2)
    run = tmp_path / "old"
    options = {
        name: value
        for name, value in asdict(replace(CONFIG, steps=2)).items()
        if name not in ("precision", "accumulate", "checkpointing", "wandb", "clip")
    }
    record = {"stage": "student", "options": {**options, "bfloat16": "auto"}, "data": {}}
    record["weights"] = {}
    (run / "run.json").write_text(json.dumps(record))
    (run / "config.toml").unlink()
    former = {
        "network": state["model"],
        "guide": None,
        "average": state["ema"]["weights"],
        "optimiser": state["optimizer"],
        "step": 2,
        "losses": state["losses"],
        "config": {},
    }
    torch.save(former, run / "checkpoint.pt")
    convert(run)
    resumed = load_checkpoint(run)
    assert resumed["ema"]["updates"] == 1, "the former loop counted from 0"
    now, whole = train(run), train(tmp_path / "new")
    assert now["step"] == 4
    for name, value in whole["model"].items():
        assert torch.equal(value, now["model"][name]), name
