"""Turn a training run into an embedded model: export, measure, quantise behind the gate, enter it.

    python recipes/cpu/publish.py --run RUN --name tiny --data DIR --note "what is new"

Writes `NAME.onnx` (what runs), `NAME.safetensors` (what a next run can start from), `NAME-int8.xml`
if it passes the gate, and the index beside them. DIR holds `rgbd` (for the figures) and `photos`: the
ones kept out of training calibrate and judge int8. Run `python -m sightline.depth.calibrate` next.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

from sightline.benchmarks.rgbd import PROTOCOL, evaluate
from sightline.depth.checkpoints import write_checkpoint
from sightline.depth.compact import CompactDepth
from sightline.depth.engines.openvino import OpenVinoEngine
from sightline.depth.estimator import DepthEstimator
from sightline.depth.export import export_onnx
from sightline.depth.int8 import GateNotPassed, make_int8
from sightline.depth.training.items import is_held_out
from sightline.files.pictures import read_picture
from sightline.weights.entry import Gate
from sightline.weights.index import embedded_folder, forget, record

SUMMARY = "our compact student, 3.6 M parameters: any photograph, offline"
TRAINED_ON = "1,171 RGB-D pairs (most NYU), 2,790 labelled photographs"


def int8_verdict(graph: Path, pictures: list[np.ndarray], out: Path) -> Gate:
    """Make the int8 version; return how it did at the gate, whether it passed or not."""
    try:
        return make_int8(graph, pictures, out)
    except GateNotPassed as failure:
        return failure.verdict


def main() -> None:
    """Read the options, export, measure, record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, required=True, help="folder with checkpoint.pt")
    parser.add_argument("--name", required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder with rgbd")
    parser.add_argument("--note", required=True, help="for the model's history")
    options = parser.parse_args()
    folder = embedded_folder()

    state = torch.load(options.run / "checkpoint.pt", map_location="cpu", weights_only=True)
    network = CompactDepth().eval()
    network.load_state_dict(state["average"])
    graph = folder / f"{options.name}.onnx"
    export_onnx(network, network.spec, graph)
    half = {
        key: value.half() if value.is_floating_point() else value
        for key, value in state["average"].items()
    }
    write_checkpoint(graph.with_suffix(".safetensors"), half, network.spec)

    estimator = DepthEstimator(OpenVinoEngine(graph), network.spec, options.name)
    table = evaluate(lambda pixels: estimator.infer(pixels).values, options.data / "rgbd")
    print(PROTOCOL)
    for name, score in table.items():
        print(f"{name:<16}{score.spearman:7.3f}{score.abs_rel:8.3f}{score.delta1:8.3f}")
    mean = table["mean"]
    figures = f"Spearman {mean.spearman:.3f}, AbsRel {mean.abs_rel:.3f}, δ1 {mean.delta1:.3f}"

    held_out = [p for p in sorted((options.data / "photos").rglob("*.jpg")) if is_held_out(p.name)]
    pictures = [read_picture(path).pixels for path in held_out]
    small = graph.with_name(f"{options.name}-int8.xml")
    verdict = int8_verdict(graph, pictures, small)
    print(f"int8: {verdict}")

    record(
        options.name,
        graph.name,
        network.spec,
        summary=SUMMARY,
        trained_on=TRAINED_ON,
        note=f"{options.note}; step {state['step']}; rgbd validation: {figures}",
        int8_gate=verdict,
        default=True,
    )
    if verdict.passed:
        record(
            f"{options.name}-int8",
            small.name,
            network.spec,
            summary=f"{options.name} in int8",
            trained_on=TRAINED_ON,
            note=f"int8 of {graph.name}, calibrated and judged on photographs kept out of training",
            int8_gate=verdict,
        )
    else:
        forget(f"{options.name}-int8")
    print(f"{graph.stat().st_size / 1e6:.1f} MB, entered as {options.name}")


if __name__ == "__main__":
    main()
