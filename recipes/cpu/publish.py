"""Turn a trained model into an embedded one: export, measure, quantize behind the gate, enter it.

    python recipes/cpu/publish.py --model RUN/model.safetensors --name tiny --data DIR \
        --trained-on "what it has seen" --note "what is new" [--default]

Writes `NAME.onnx` (what runs, and what a next run can start from), `NAME-int8.xml` if it passes the
gate, and the index beside them. DIR holds `rgbd` (for the figures) and `photos`: the ones kept out of
training calibrate and judge int8. docs/models.md says how tables and calibration are made anew.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from sightline.benchmarks.quick import MOST_OF_A_SET, quick_score
from sightline.benchmarks.rgbd import PROTOCOL, evaluate
from sightline.depth.checkpoints import load_network, read_checkpoint
from sightline.depth.estimator import DepthEstimator
from sightline.depth.export import export_onnx
from sightline.depth.model_gate import LIMITS, has_no_ramp, measure, run_of
from sightline.depth.quantization import GateNotPassed, make_int8
from sightline.depth.training.weights import OUTPUT_SHIFT
from sightline.examples import example_person, example_photograph
from sightline.io.images import PICTURE_SUFFIXES, read_picture
from sightline.models.entry import Int8Gate, ModelSpec
from sightline.models.registry import embedded_folder, forget, record
from sightline.runtime.openvino import OpenVinoEngine
from sightline.scenes import make_scene
from sightline.training.data.items import is_held_out
from sightline.types import Kind

SUMMARIES = {
    "tiny": "our compact student, 4.0 M parameters: any photograph, offline",
    "small": "our ViT-S, the teacher of the CPU recipe: sharper, slower",
    "tiny-metric": "our compact network in meters, for rooms",
}

#: Seed of the rendered pictures of the gate, no training's, and how many there are of each kind.
GATE_SEED, GATE_SCENES = 990_001, 16


def zero_of(spec: ModelSpec) -> float:
    """Return what a network of ours says of things infinitely far away."""
    return 0.0 if spec.architecture == "compact" else OUTPUT_SHIFT


def figures(estimator: DepthEstimator, data: Path) -> str:
    """Measure on the validation pictures and say it in a line."""
    if estimator.spec.kind is Kind.METRIC_DEPTH:
        found = quick_score(data / "rgbd", metric=True)(estimator)
        words = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
        return f"{words} (at most about {MOST_OF_A_SET} pictures a set, no alignment)"
    table = evaluate(lambda pixels: estimator.infer(pixels).values, data / "rgbd")
    for name, score in table.items():
        print(f"{name:<16}{score.spearman:7.3f}{score.abs_rel:8.3f}{score.delta1:8.3f}")
    mean = table["mean"]
    print(PROTOCOL)
    return f"Spearman {mean.spearman:.3f}, AbsRel {mean.abs_rel:.3f}, δ1 {mean.delta1:.3f}"


def held_out_pictures(photos: Path, most: int = 64) -> list[np.ndarray]:
    """Read photographs that no training has seen."""
    found = sorted(p for p in photos.rglob("*") if p.suffix.lower() in PICTURE_SUFFIXES)
    kept = [path for path in found if is_held_out(path.name)]
    return [read_picture(path).pixels for path in kept[:most]]


def int8_verdict(graph: Path, pictures: list[np.ndarray], out: Path) -> Int8Gate:
    """Make the int8 version; return how it did at the gate, whether it passed or not."""
    try:
        return make_int8(graph, pictures, out)
    except GateNotPassed as failure:
        return failure.verdict


def check_faults(estimator: DepthEstimator) -> str:
    """Measure the faults that no figure shows; leave with an error if one exceeds its limit.

    Edges, mirror and shift are measured on the photographs of the package, ramps on rendered pictures
    without a ground that no training has seen.
    """
    photographs = [read_picture(path()).pixels for path in (example_photograph, example_person)]
    frames = (
        make_scene(GATE_SEED, index, width=320, height=256, kinds=[kind]).frame
        for kind in ("sky", "wall", "nadir")
        for index in range(GATE_SCENES)
    )
    groundless = (frame.pixels for frame in frames if has_no_ramp(frame.disparity))
    found = measure(run_of(estimator), photographs, groundless)
    print(found)
    if faults := found.exceeding(LIMITS):
        raise SystemExit("not published: " + "; ".join(faults))
    return f"edge jump {found.edge_jump:.3f}, ramp {found.ramp:.2f}"


def main() -> None:
    """Read the options, export, measure, record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, help="model.safetensors of a run")
    parser.add_argument("--name", required=True, choices=sorted(SUMMARIES))
    parser.add_argument("--data", type=Path, required=True, help="folder with rgbd and photos")
    parser.add_argument("--trained-on", required=True, help="the data it has seen")
    parser.add_argument("--note", required=True, help="for the model's history")
    parser.add_argument(
        "--size", type=int, help="shorter side it is to see; as trained if not given"
    )
    parser.add_argument(
        "--curve", type=float, help="straighten its output by this power (see curve.py)"
    )
    parser.add_argument("--default", action="store_true", help="let `default` be this one")
    parser.add_argument("--int8", action="store_true", help="try an int8 version too")
    parser.add_argument(
        "--store", choices=("half", "bytes"), default="half", help="how its weights are stored"
    )
    options = parser.parse_args()
    folder = embedded_folder()

    spec = replace(read_checkpoint(options.model).spec, sharpen=True)
    if options.size:
        spec = replace(spec, size=options.size)
    if options.curve:
        spec = replace(spec, curve=options.curve, zero=zero_of(spec))
    graph = folder / f"{options.name}.onnx"
    candidate = graph.with_suffix(".candidate.onnx")
    export_onnx(load_network(options.model, spec), spec, candidate, store=options.store)
    try:
        estimator = DepthEstimator(OpenVinoEngine(candidate), spec, options.name)
        measured = f"{figures(estimator, options.data)}; {check_faults(estimator)}"
        candidate.replace(graph)
    finally:
        candidate.unlink(missing_ok=True)
    # The graph carries the weights under their own names; a second copy would only take room.
    graph.with_suffix(".safetensors").unlink(missing_ok=True)

    verdict, quantized = None, graph.with_name(f"{options.name}-int8.xml")
    if options.int8:
        pictures = held_out_pictures(options.data / "photos")
        verdict = int8_verdict(graph, pictures, quantized)
        print(f"int8: {verdict}")
    record(
        options.name,
        graph.name,
        spec,
        summary=SUMMARIES[options.name],
        trained_on=options.trained_on,
        note=f"{options.note}; rgbd validation: {measured}",
        int8_gate=verdict,
        default=options.default,
    )
    if verdict is not None and verdict.passed:
        record(
            f"{options.name}-int8",
            quantized.name,
            spec,
            summary=f"{options.name} in int8",
            trained_on=options.trained_on,
            note=f"int8 of {graph.name}, calibrated and judged on photographs kept out of training",
            int8_gate=verdict,
        )
    else:
        forget(f"{options.name}-int8")
    print(f"{measured}\n{graph.stat().st_size / 1e6:.1f} MB, entered as {options.name}")


if __name__ == "__main__":
    main()
