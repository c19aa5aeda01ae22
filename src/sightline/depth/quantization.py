"""Quantize any depth model to int8 and accept it only if it passes the accuracy gate.

Every second image calibrates, the others measure the deviation from the float model. The result of
the gate is stored in the model file under `GATE_KEY`. The model stays in a temporary folder until
it passes, so an existing file at the output path survives a failure.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import math
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.depth.engines import converted
from sightline.depth.preprocessing import network_size, to_input
from sightline.errors import InputError, SightlineError
from sightline.models.download import resolve
from sightline.models.entry import SPEC_KEY, Int8Gate, ModelSpec
from sightline.runtime.engine import Engine
from sightline.runtime.openvino import (
    OpenVinoEngine,
    brief,
    import_openvino,
    openvino_core,
    read_network,
    save_model,
    spec_of,
)
from sightline.runtime.weight_files import is_graph
from sightline.types import FloatArray

#: The gate: rank correlation at least, mean relative deviation at most.
LEAST_SPEARMAN = 0.995
LARGEST_DEVIATION = 0.03

#: Layers that stay float32, by the names of their weights: the seam between encoder and head. DINOv2's
#: features have a few channels a hundred times larger than the rest, and one scale for all of them
#: rounds the rest away. Measured on a ViT-S with a head trained for a few minutes: 7.2 % deviation
#: with the seam in int8, 2.0 % without, for a fortieth of the arithmetic.
FLOAT_PARTS = re.compile(r"depth_head\.(projects|resize_layers|scratch\.layer\d_rn)\.")

Pictures = Sequence[NDArray[np.uint8]]


def quantize(
    onnx_path: str | Path, pictures: Pictures, out_path: str | Path, *, size: int | None = None
) -> None:
    """Quantize a network to int8.

    Args:
        onnx_path: a file written by `export_onnx`.
        pictures: real photographs to calibrate on, each (H, W, 3) uint8 RGB; some thirty, of the kind
            the network will see.
        out_path: path of the `.xml` file; the weights go into the `.bin` file beside it.
        size: shorter side of the network input in [px] while calibrating; None for the spec's.
    """
    out_path = int8_path(out_path)
    if not pictures:
        raise InputError("int8 needs pictures to calibrate on, got none")
    model, spec = _read_float(Path(onnx_path))
    inputs = [batch for batch, _ in _inputs(pictures, spec, size)]
    quantized = _run_nncf(model, inputs, onnx_path)
    _forget_run(quantized)
    quantized.set_rt_info(spec.to_json(), SPEC_KEY)
    save_model(quantized, out_path)


def int8_path(path: str | Path) -> Path:
    """Return the path of an int8 model; raise `InputError` unless it ends in `.xml`."""
    path = Path(path)
    if path.suffix != ".xml":
        raise InputError("int8 models are OpenVINO files", path=path, remedy="name it .xml")
    return path


def gate(
    reference_model: Engine | str | Path,
    candidate_model: Engine | str | Path,
    pictures: Pictures,
    *,
    spec: ModelSpec | None = None,
    size: int | None = None,
) -> Int8Gate:
    """Measure the deviation of a candidate network from a reference, and apply the gate.

    Both get the same input. For the two maps of each image, at network resolution and without any
    alignment of scale or shift, compute

    * Spearman's rank correlation over all pixels, and
    * the relative deviation, mean |candidate − reference| over mean |reference|;

    both are averaged over the pictures. The candidate passes when the first is at least 0.995 and the
    second at most 0.03.

    Args:
        reference_model: the float network: an engine, or a file for the OpenVINO engine.
        candidate_model: the int8 network, likewise.
        pictures: held-out photographs, each (H, W, 3) uint8 RGB; not those of the calibration.
        spec: spec of both networks; None to read it from the reference's file.
        size: shorter side of the network input in [px]; None for the spec's.
    """
    if not pictures:
        raise InputError("the int8 gate needs pictures to judge by, got none")
    reference, candidate = _engine(reference_model), _engine(candidate_model)
    spec = spec or getattr(reference, "spec", None)
    if spec is None:
        raise InputError("the int8 gate needs the networks' description (spec=)")
    figures = [
        compare(reference.run(batch)[0], candidate.run(batch)[0])
        for batch, _ in _inputs(pictures, spec, size)
    ]
    correlation, deviation = (float(value) for value in np.mean(figures, axis=0))
    passed = correlation >= LEAST_SPEARMAN and deviation <= LARGEST_DEVIATION
    return Int8Gate(correlation, deviation, len(pictures), passed)


def compare(reference: FloatArray, candidate: FloatArray) -> tuple[float, float]:
    """Return Spearman's correlation and the relative deviation of two (h, w) maps.

    A map without any variation, or with infinities, has correlation 0.
    """
    from scipy.stats import spearmanr

    a, b = reference.ravel().astype(np.float64), candidate.ravel().astype(np.float64)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return 0.0, math.inf
    level = float(np.abs(a).mean())
    deviation = float(np.abs(a - b).mean()) / level if level > 0 else math.inf
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0, deviation
    return float(spearmanr(a, b).statistic), deviation


def _inputs(
    pictures: Pictures, spec: ModelSpec, size: int | None
) -> Iterator[tuple[FloatArray, tuple[int, int]]]:
    """Prepare pictures one after the other: (1, 3, h, w), and (h, w)."""
    for pixels in pictures:
        hw = network_size(pixels.shape[0], pixels.shape[1], spec, size)
        yield to_input(pixels, spec, hw), hw


def _engine(model: Engine | str | Path) -> Engine:
    return OpenVinoEngine(model) if isinstance(model, str | Path) else model


def _read_float(path: Path) -> tuple[Any, ModelSpec]:
    """Read a network that is not int8 yet, and the description that `export_onnx` put into it."""
    model = read_network(openvino_core(), path)
    if any(op.get_type_name() == "FakeQuantize" for op in model.get_ops()):
        raise InputError(
            "is an int8 model already", path=path, remedy="give the float model it was made from"
        )
    spec = spec_of(model)
    if spec is None:
        raise InputError(
            "carries no description", path=path, remedy="export it with sightline first"
        )
    return model, spec


def _run_nncf(model: Any, inputs: list[FloatArray], path: str | Path) -> Any:
    """Quantize a float model to int8 with NNCF, without its log output."""
    import_openvino()  # before NNCF, which imports it, too, but with telemetry
    import nncf

    nncf.set_log_level(logging.ERROR)
    # NNCF reports on stdout, which belongs to our results; without a terminal nobody reads it.
    shown = sys.stderr if sys.stderr.isatty() else io.StringIO()
    try:
        with contextlib.redirect_stdout(shown):
            return nncf.quantize(
                model,
                nncf.Dataset(inputs),
                model_type=nncf.ModelType.TRANSFORMER,
                subset_size=len(inputs),
                ignored_scope=nncf.IgnoredScope(names=_float_layers(model)),
            )
    except (
        RuntimeError,  # OpenVINO's, while calibrating
        nncf.InternalError,
        nncf.UnsupportedModelError,
        nncf.ValidationError,
    ) as error:
        raise SightlineError(
            f"{path}: NNCF cannot quantize this network ({brief(error)}); use the float model"
        ) from error


def _float_layers(model: Any) -> list[str]:
    """List the convolutions to keep in float: `FLOAT_PARTS`, and the last one.

    The last one is cheap, and its errors appear directly in the output.
    """
    kinds = ("Convolution", "GroupConvolution", "ConvolutionBackpropData")
    layers = [op for op in model.get_ordered_ops() if op.get_type_name() in kinds]
    kept = [op for op in layers[:-1] if FLOAT_PARTS.match(_weight_name(op))]
    return [str(op.get_friendly_name()) for op in (*kept, *layers[-1:])]


def _weight_name(layer: Any) -> str:
    """Return the name of a layer's weights, looking through casts and reshapes."""
    node = layer.input_value(1).get_node()
    while node.get_type_name() != "Constant" and node.get_input_size() > 0:
        node = node.input_value(0).get_node()
    return str(node.get_friendly_name())


def _forget_run(model: Any) -> None:
    """Remove everything that differs between runs, so that equal weights and images give equal bytes.

    OpenVINO numbers nameless operations through the life of a process, and NNCF notes some of them.
    """
    for index, op in enumerate(model.get_ordered_ops()):
        if re.fullmatch(r"[A-Z]\w*_\d+(/.*)?", op.get_friendly_name()):
            op.set_friendly_name(f"{op.get_type_name()}.{index}")
    if model.has_rt_info("nncf"):
        del model.rt_info["nncf"]


GATE_KEY = "sightline.gate"

#: Fewer say too little: half of them calibrate, half judge.
FEWEST_PICTURES = 8


class GateNotPassed(SightlineError):
    """The int8 network deviates too much from the float one; `verdict` has the figures."""

    def __init__(self, name: str, verdict: Int8Gate) -> None:
        self.verdict = verdict
        super().__init__(
            f"int8 strays too far from {name}: Spearman {verdict.spearman:.4f} (at least "
            f"{LEAST_SPEARMAN}), deviation {verdict.relative_deviation:.2%} (at most "
            f"{LARGEST_DEVIATION:.0%}); nothing was kept, use the float model"
        )


def make_int8(
    model: str | Path,
    pictures: Sequence[NDArray[np.uint8]],
    out: str | Path,
    *,
    size: int | None = None,
    accept_license: bool = False,
) -> Int8Gate:
    """Quantize a model to `out` (.xml, with .bin beside it) and apply the gate.

    Args:
        model: a name of the registry or a weight file.
        pictures: real photographs, each (H, W, 3) uint8 RGB, at least eight.
        out: file to write; it is not touched if the gate is not passed.
        size: shorter side of the network input in [px]; None for the model's own.
        accept_license: accept a license that forbids commercial use.

    Raises:
        GateNotPassed: the int8 network deviates too much from the float one.
    """
    out = int8_path(out)
    if len(pictures) < FEWEST_PICTURES:
        raise InputError(
            f"int8 needs at least {FEWEST_PICTURES} pictures, half to calibrate and half to judge, "
            f"got {len(pictures)}"
        )
    found = resolve(model, accept=accept_license)
    spec = None if found.entry is None else found.entry.spec
    with ExitStack() as stack:
        draft = Path(stack.enter_context(_folder_beside(out))) / out.name
        graph = found.path
        if not is_graph(graph):
            graph = stack.enter_context(converted(graph, found.sha256, spec))
        quantize(graph, pictures[0::2], draft, size=size)
        verdict = gate(graph, draft, pictures[1::2], size=size)
        if not verdict.passed:
            raise GateNotPassed(found.name, verdict)
        _publish(draft, verdict, out)
    return verdict


def _folder_beside(out: Path) -> tempfile.TemporaryDirectory[str]:
    """Create a hidden folder next to `out`, so that an unwritable location fails at once."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=".sightline-int8-", dir=out.parent)
    except OSError as error:
        raise InputError(
            f"cannot be written there ({error.strerror})", path=out, remedy="choose another --out"
        ) from error


def _publish(draft: Path, verdict: Int8Gate, out: Path) -> None:
    """Write the model with the gate's figures in its runtime info to its final place."""
    model = openvino_core().read_model(draft)
    model.set_rt_info(json.dumps(asdict(verdict), sort_keys=True), GATE_KEY)
    save_model(model, out)
