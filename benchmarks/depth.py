"""Depth side by side with transformers' pipeline: the same ViT-S weights, the same run, interleaved.

    python benchmarks/depth.py [--rounds 7] [--threads 1 2] [--write docs/speed.md]

Every figure is a ratio to transformers (torch, float32) measured a moment before or after, so that a
busy machine slows both. Weights are random but for their statistics: speed does not depend on them,
and no official file is needed. What is printed:

* network: one forward pass at 518 × 518;
* whole path: a 12-megapixel JPEG on disk to a 16-bit PNG on disk;
* shipped: `tiny` against `small`, a photograph of 4 : 3 to its depth map, each at its own input size;
* cold start: a new process to its first result, compile cache warm;
* share of peak: achieved GFLOP/s over what this machine reaches in a plain matrix product.

`--smoke` checks that all of this runs: small pictures, one round. Its figures mean nothing.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SIZE, SMOKE_SIZE = 518, 70
#: (height, width) of the JPEG of the whole path.
TWELVE_MEGAPIXELS, SMOKE_PIXELS = (3000, 4000), (150, 200)
#: Packages that only this comparison needs.
PEERS = ("torch", "transformers", "nncf")


def missing_peers() -> list[str]:
    """Return the packages of the comparison that are not installed."""
    return [name for name in PEERS if importlib.util.find_spec(name) is None]


def make_weights(folder: Path, size: int = SIZE) -> Path:
    """Write a ViT-S Depth Anything in the layout of the hub, with a head that gives real numbers.

    Args:
        folder: new folder for the files.
        size: shorter side of the network's input, in [px].
    """
    import torch
    from transformers import (
        DepthAnythingConfig,
        DepthAnythingForDepthEstimation,
        Dinov2Config,
        DPTImageProcessorPil,
    )

    torch.manual_seed(0)
    backbone = Dinov2Config(
        hidden_size=384,
        num_hidden_layers=12,
        num_attention_heads=6,
        image_size=518,
        patch_size=14,
        out_features=["stage3", "stage6", "stage9", "stage12"],
        reshape_hidden_states=False,
        apply_layernorm=True,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=384,
        neck_hidden_sizes=[48, 96, 192, 384],
        fusion_hidden_size=64,
    )
    model = DepthAnythingForDepthEstimation(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 4 and "backbone" not in name:
                torch.nn.init.kaiming_normal_(parameter)
        model.head.conv3.bias.fill_(5.0)
    model.save_pretrained(folder)
    processor = DPTImageProcessorPil(
        size={"height": size, "width": size},
        keep_aspect_ratio=True,
        ensure_multiple_of=14,
        resample=3,
        image_mean=[0.485, 0.456, 0.406],
        image_std=[0.229, 0.224, 0.225],
    )
    processor.save_pretrained(folder)
    return folder


def photographs(count: int) -> list[np.ndarray]:
    """Cut real photographs from the wheels of scikit-image into `count` different pictures."""
    from skimage import data

    whole = [data.astronaut(), data.coffee(), data.chelsea(), data.rocket()]
    cuts = []
    for index in range(count):
        picture = whole[index % len(whole)]
        shift = 8 * (index // len(whole))
        cuts.append(np.ascontiguousarray(picture[shift : shift + 256, shift : shift + 384]))
    return cuts


def large_jpeg(path: Path, shape: tuple[int, int] = TWELVE_MEGAPIXELS) -> Path:
    """Enlarge a photograph, with grain, so that it compresses as a camera's does.

    Args:
        path: file to write.
        shape: (height, width) in [px].
    """
    import cv2
    from PIL import Image
    from skimage import data

    height, width = shape
    picture = cv2.resize(data.coffee(), (width, height), interpolation=cv2.INTER_CUBIC)
    grain = np.random.default_rng(0).normal(0, 4, (height, width, 1))
    Image.fromarray(np.clip(picture + grain, 0, 255).astype(np.uint8)).save(path, quality=92)
    return path


def interleaved(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Time each contender once per round, in turn; the first round warms up and does not count."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            if number:
                times[name].append(time.perf_counter() - start)
    return times


def ratio(times: dict[str, list[float]], peer: str, name: str) -> float:
    """Median over rounds of the peer's time over ours in the same round."""
    return statistics.median(a / b for a, b in zip(times[peer], times[name], strict=True))


def gemm_peak() -> float:
    """Best of several matrix products of 1536³, in [GFLOP/s]."""
    import torch

    a, b = torch.randn(2, 1536, 1536)
    best = min(_timed(lambda: torch.mm(a, b)) for _ in range(12))
    return 2 * 1536**3 / best / 1e9


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def network_flops(folder: Path, size: int = SIZE) -> float:
    """Count the multiply-adds of one pass at `size` × `size`, times two, in [GFLOP]."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import DepthAnythingForDepthEstimation

    model = DepthAnythingForDepthEstimation.from_pretrained(folder).eval()
    counter = FlopCounterMode(display=False)
    with counter, torch.inference_mode():
        model(torch.zeros(1, 3, size, size))
    return counter.get_total_flops() / 1e9


def quantized(folder: Path, cache: Path) -> tuple[Path, str]:
    """Export and quantize the weights; return the int8 file and the gate's verdict."""
    from sightline.depth.checkpoints import make_network, read_checkpoint
    from sightline.depth.export import export_onnx
    from sightline.depth.quantization import gate, quantize

    checkpoint = read_checkpoint(folder / "model.safetensors")
    graph, small = cache / "vits.onnx", cache / "vits-int8.xml"
    export_onnx(make_network(checkpoint), checkpoint.spec, graph, store="full")
    pictures = photographs(24)
    quantize(graph, pictures[:16], small)
    verdict = gate(graph, small, pictures[16:])
    return small, (
        f"gate on {verdict.pictures} pictures: Spearman {verdict.spearman:.4f}, "
        f"deviation {verdict.relative_deviation:.2%}, {'passed' if verdict.passed else 'failed'}"
    )


def measure(
    threads: int, folder: Path, scratch: Path, rounds: int, *, smoke: bool = False
) -> dict[str, object]:
    """Measure network and whole path with so many threads; runs in a process of its own."""
    import torch
    from PIL import Image
    from transformers import pipeline

    import sightline
    from sightline.io.depth_files import write_depth
    from sightline.io.images import read_picture

    torch.set_num_threads(threads)
    peer = pipeline("depth-estimation", model=str(folder), device="cpu")
    int8, verdict = quantized(folder, scratch)
    ours = {
        "fp32": sightline.load(folder / "model.safetensors", threads=threads),
        "int8": sightline.load(int8, threads=threads),
    }
    size = SMOKE_SIZE if smoke else SIZE
    tensor = np.random.default_rng(0).normal(size=(1, 3, size, size)).astype(np.float32)

    def peer_network() -> None:
        with torch.inference_mode():
            peer.model(torch.from_numpy(tensor))

    times = interleaved(
        {
            "transformers": peer_network,
            "fp32": lambda: ours["fp32"].engine.run(tensor),
            "int8": lambda: ours["int8"].engine.run(tensor),
        },
        rounds,
    )
    jpeg = large_jpeg(scratch / "large.jpg", SMOKE_PIXELS if smoke else TWELVE_MEGAPIXELS)

    def peer_path() -> None:
        depth = peer(Image.open(jpeg))["predicted_depth"].squeeze().numpy()
        span = max(float(np.ptp(depth)), 1e-9)
        levels = ((depth - depth.min()) / span * 65535).astype(np.uint16)
        Image.fromarray(levels).save(scratch / "peer.png")

    def our_path(name: str) -> None:
        depth = ours[name].infer(read_picture(jpeg))
        write_depth(scratch / f"{name}.png", depth)

    paths = interleaved(
        {
            "transformers": peer_path,
            "fp32": lambda: our_path("fp32"),
            "int8": lambda: our_path("int8"),
        },
        rounds if smoke else max(3, rounds // 2),
    )
    peak = gemm_peak()
    work = network_flops(folder, size)
    shipped = shipped_times(threads, rounds)
    return {
        "threads": threads,
        "network_fp32": ratio(times, "transformers", "fp32"),
        "network_int8": ratio(times, "transformers", "int8"),
        "path_fp32": ratio(paths, "transformers", "fp32"),
        "path_int8": ratio(paths, "transformers", "int8"),
        "tiny_over_small": ratio(shipped, "small", "tiny"),
        "small_seconds": statistics.median(shipped["small"]),
        "peak": peak,
        "share_transformers": work / min(times["transformers"]) / peak,
        "share_fp32": work / min(times["fp32"]) / peak,
        "work": work,
        "gate": verdict,
        "seconds": {name: statistics.median(values) for name, values in times.items()},
        "path_seconds": {name: statistics.median(values) for name, values in paths.items()},
    }


def shipped_times(threads: int, rounds: int) -> dict[str, list[float]]:
    """Time the embedded models, picture to map, on a photograph of 4 : 3."""
    from skimage import data

    import sightline

    photograph = np.ascontiguousarray(data.coffee()[:, :533])
    small, tiny = (sightline.load(name, threads=threads) for name in ("small", "tiny"))
    return interleaved(
        {"small": lambda: small.infer(photograph), "tiny": lambda: tiny.infer(photograph)}, rounds
    )


COLD_PEER = """
import sys
from PIL import Image
from transformers import pipeline
pipeline("depth-estimation", model=sys.argv[1], device="cpu")(Image.open(sys.argv[2]))
"""

COLD_OURS = """
import sys
import sightline
sightline.load(sys.argv[1] + "/model.safetensors").infer(sys.argv[2])
"""


def cold_start(folder: Path, scratch: Path, rounds: int) -> dict[str, float]:
    """Time new processes: transformers to its first result, ours to its first, `--help`."""
    from PIL import Image
    from skimage import data

    picture = scratch / "small.png"
    Image.fromarray(data.coffee()).save(picture)

    def process(*words: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True)

    times = interleaved(
        {
            "transformers": process("-c", COLD_PEER, str(folder), str(picture)),
            "ours": process("-c", COLD_OURS, str(folder), str(picture)),
            "help": process("-m", "sightline", "--help"),
        },
        rounds,
    )
    return {
        "ratio": ratio(times, "transformers", "ours"),
        "ours": statistics.median(times["ours"]),
        "transformers": statistics.median(times["transformers"]),
        "help": statistics.median(times["help"]),
    }


def table(results: list[dict[str, Any]], cold: dict[str, float], size: int = SIZE) -> str:
    """Format the findings as Markdown."""
    from importlib.metadata import version

    names = ("torch", "transformers", "openvino")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    versions += f", {platform.machine()}, {os.cpu_count()} cores"
    rows = ["| | aim | " + " | ".join(f"{r['threads']} thread(s)" for r in results) + " |"]
    rows.append("|---|---|" + "---|" * len(results))

    def row(label: str, aim: str, key: str, form: str = "{:.2f}×") -> None:
        cells = " | ".join(form.format(r[key]) for r in results)
        rows.append(f"| {label} | {aim} | {cells} |")

    row("network, float32", "≥ 1.3×", "network_fp32")
    row("network, int8", "≥ 2.4×", "network_int8")
    row("12 MP JPEG → 16-bit PNG, float32", "", "path_fp32")
    row("12 MP JPEG → 16-bit PNG, int8", "≥ 2×", "path_int8")
    row("`tiny` over `small`, each at its own input size", "≥ 8×", "tiny_over_small", "{:.1f}×")
    row("`small`, photograph to map", "≤ 1 s on 1 thread", "small_seconds", "{:.2f} s")
    row("share of GEMM peak, transformers", "", "share_transformers", "{:.0%}")
    row("share of GEMM peak, ours float32", "", "share_fp32", "{:.0%}")
    row("GEMM peak", "", "peak", "{:.0f} GFLOP/s")
    return "\n".join(
        [
            f"ViT-S at {size} px, speed-up over transformers' pipeline (torch float32); {versions}.",
            "",
            *rows,
            "",
            f"Cold start to first result, new process, warm compile cache: {cold['ratio']:.1f}× "
            f"faster (aim ≥ 3×): {cold['ours']:.2f} s against {cold['transformers']:.2f} s.",
            f"`sightline --help` answers in {cold['help']:.2f} s (aim < 0.3 s).",
            f"int8 {results[0]['gate']} (random weights; the gate of a shipped model is in "
            "`sightline models --json`).",
        ]
    )


def main() -> None:
    """Measure in a process per thread count, print the table, and write it if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--write", type=Path, help="Markdown file to write the table to")
    parser.add_argument("--smoke", action="store_true", help="check that it runs: small, one round")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if missing := missing_peers():
        parser.error(f"the comparison needs {', '.join(missing)}: pip install -e '.[dev]'")
    rounds, size = (1, SMOKE_SIZE) if options.smoke else (options.rounds, SIZE)
    if options.one:
        with tempfile.TemporaryDirectory() as scratch:
            found = measure(options.one, options.folder, Path(scratch), rounds, smoke=options.smoke)
        print(json.dumps(found))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = make_weights(Path(scratch) / "hub", size)
        results = []
        for threads in options.threads[:1] if options.smoke else options.threads:
            words = ["--one", str(threads), "--folder", str(folder), "--rounds", str(rounds)]
            done = subprocess.run(
                [sys.executable, __file__, *words, *(["--smoke"] if options.smoke else [])],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": str(threads)},
            )
            results.append(json.loads(done.stdout.splitlines()[-1]))
        cold = cold_start(folder, Path(scratch), rounds if options.smoke else max(3, rounds // 2))
    text = table(results, cold, size)
    print(text)
    if options.write:
        from sightline.io.atomic import write_text

        write_text(options.write, text + "\n")


if __name__ == "__main__":
    main()
