"""Make an int8 version of any model, and let it out only if it says the same.

Every second picture calibrates, the others judge: none does both. The gate's figures are written into
the model file under `GATE_KEY`, so that whoever finds it knows how close it is. Until the gate is
passed the model lies in a temporary folder: whatever happens, what lay at `out` before stays there.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.depth.engines.choose import converted
from sightline.depth.engines.openvino import save_model
from sightline.depth.engines.quiet_openvino import openvino_core
from sightline.depth.file_kinds import is_graph
from sightline.depth.quantise import (
    LARGEST_DEVIATION,
    LEAST_SPEARMAN,
    gate,
    int8_path,
    quantise,
)
from sightline.errors import InputError, SightlineError
from sightline.weights.entry import Gate
from sightline.weights.store import resolve

GATE_KEY = "sightline.gate"

#: Fewer say too little: half of them calibrate, half judge.
FEWEST_PICTURES = 8


class GateNotPassed(SightlineError):
    """The int8 network strays too far from the float one; `verdict` says how far."""

    def __init__(self, name: str, verdict: Gate) -> None:
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
    accept_licence: bool = False,
) -> Gate:
    """Quantise a model to `out` (.xml, with .bin beside it) and judge it.

    Args:
        model: a name of the registry or a weight file.
        pictures: real photographs, each (H, W, 3) uint8 RGB, at least eight.
        out: file to write; it is not touched if the gate is not passed.
        size: shorter side of the network input in [px]; None for the model's own.
        accept_licence: accept a licence that forbids commercial use.

    Raises:
        GateNotPassed: the int8 network strays too far from the float one.
    """
    out = int8_path(out)
    if len(pictures) < FEWEST_PICTURES:
        raise InputError(
            f"int8 needs at least {FEWEST_PICTURES} pictures, half to calibrate and half to judge, "
            f"got {len(pictures)}"
        )
    found = resolve(model, accept=accept_licence)
    spec = None if found.entry is None else found.entry.spec
    with ExitStack() as stack:
        draft = Path(stack.enter_context(_folder_beside(out))) / out.name
        graph = found.path
        if not is_graph(graph):
            graph = stack.enter_context(converted(graph, found.sha256, spec))
        quantise(graph, pictures[0::2], draft, size=size)
        verdict = gate(graph, draft, pictures[1::2], size=size)
        if not verdict.passed:
            raise GateNotPassed(found.name, verdict)
        _publish(draft, verdict, out)
    return verdict


def _folder_beside(out: Path) -> tempfile.TemporaryDirectory[str]:
    """Make a hidden folder where `out` will go: a place that cannot be written shows at once."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=".sightline-int8-", dir=out.parent)
    except OSError as error:
        raise InputError(
            f"cannot be written there ({error.strerror})", path=out, remedy="choose another --out"
        ) from error


def _publish(draft: Path, verdict: Gate, out: Path) -> None:
    """Write the model with the gate's figures in its runtime info to its final place."""
    model = openvino_core().read_model(draft)
    model.set_rt_info(json.dumps(asdict(verdict), sort_keys=True), GATE_KEY)
    save_model(model, out)
