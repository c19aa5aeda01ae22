"""Train the compact network on two CPU cores: measured depth and labelled photographs together.

    python recipes/cpu/tiny.py --data DIR --encoder EFFICIENTNET_LITE0.pth --out RUN [--steps N]

DIR holds `rgbd_train`, `photos`, `photo_labels/tcmonodepth` and, for validation only, `rgbd`.
Stop it at any time; the same command goes on where it stopped. Set `MALLOC_TRIM_THRESHOLD_` and
`MALLOC_MMAP_THRESHOLD_` to a large number first: giving memory back to the system between steps costs
a quarter of the time here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from sightline.benchmarks.rgbd import evaluate
from sightline.depth.compact import CompactDepth
from sightline.depth.engines.torch import TorchEngine
from sightline.depth.estimator import DepthEstimator
from sightline.depth.training.augment import AugmentConfig
from sightline.depth.training.items import photo_items, read_pairs, rgbd_items
from sightline.depth.training.loop import TrainConfig, Trainer, train
from sightline.depth.training.stream import Source

#: Of every batch of 16: measured depth, labelled photographs.
SHARES = (6, 10)


def validator(
    data: Path, every: dict[str, int]
) -> Callable[[dict[str, torch.Tensor]], dict[str, float]]:
    """Return a function that scores a state dict on the validation pictures."""
    network = CompactDepth().eval()
    estimator = DepthEstimator(TorchEngine(network, "cpu"), network.spec, "in training")

    def predict(pixels: np.ndarray) -> np.ndarray:
        return estimator.infer(pixels).values

    def validate(state: dict[str, torch.Tensor]) -> dict[str, float]:
        network.load_state_dict(state)
        mean = evaluate(predict, data / "rgbd", every)["mean"]
        return {
            "spearman": round(mean.spearman, 4),
            "abs_rel": round(mean.abs_rel, 4),
            "delta1": round(mean.delta1, 4),
        }

    return validate


def main() -> None:
    """Read the options, train, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=2400)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)

    config = TrainConfig(steps=options.steps)
    torch.manual_seed(config.seed)
    network = CompactDepth()
    network.encoder.load_imagenet(options.encoder)
    trainer = Trainer(network, config, options.out)
    if trainer.resume():
        print(f"going on at step {trainer.step}", flush=True)
    measured = read_pairs(rgbd_items(options.data / "rgbd_train"), 320)
    labelled = read_pairs(
        photo_items(options.data / "photos", options.data / "photo_labels" / "tcmonodepth"), 304
    )
    print(f"{len(measured)} measured pairs, {len(labelled)} labelled photographs", flush=True)
    sources = [Source(measured, SHARES[0]), Source(labelled, SHARES[1])]
    train(
        trainer,
        sources,
        AugmentConfig(),
        validator(options.data, {"sevenscenes": 10}),
        lambda line: print(line, flush=True),
    )


if __name__ == "__main__":
    main()
