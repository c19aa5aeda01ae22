"""Make an int8 version of any model, and let it out only if it says the same.

Every second picture calibrates, the others judge: none does both. The gate's figures are written into
the model file under `GATE_KEY`, so that whoever finds it knows how close it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.depth.engines.choose import converted
from sightline.depth.engines.openvino import SUFFIXES
from sightline.depth.quantise import LARGEST_DEVIATION, LEAST_SPEARMAN, gate, quantise
from sightline.errors import InputError, SightlineError
from sightline.weights.entry import Gate
from sightline.weights.store import resolve

GATE_KEY = "sightline.gate"

#: Fewer say too little: half of them calibrate, half judge.
FEWEST_PICTURES = 8


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
        out: file to write; nothing is left there if the gate is not passed.
        size: shorter side of the network input in [px]; None for the model's own.
        accept_licence: accept a licence that forbids commercial use.

    Raises:
        SightlineError: the int8 network strays too far from the float one.
    """
    out = Path(out)
    if len(pictures) < FEWEST_PICTURES:
        raise InputError(
            f"int8 needs at least {FEWEST_PICTURES} pictures, half to calibrate and half to judge, "
            f"got {len(pictures)}"
        )
    found = resolve(model, accept=accept_licence)
    spec = None if found.entry is None else found.entry.spec
    with ExitStack() as stack:
        graph = found.path
        if graph.suffix.lower() not in SUFFIXES:
            graph = stack.enter_context(converted(found.path, found.sha256, spec))
        quantise(graph, pictures[0::2], out, size=size)
        verdict = gate(graph, out, pictures[1::2], size=size)
    if not verdict.passed:
        for path in (out, out.with_suffix(".bin")):
            path.unlink(missing_ok=True)
        raise SightlineError(
            f"int8 strays too far from {found.name}: Spearman {verdict.spearman:.4f} (at least "
            f"{LEAST_SPEARMAN}), deviation {verdict.relative_deviation:.2%} (at most "
            f"{LARGEST_DEVIATION:.0%}); nothing was kept, use the float model"
        )
    _note(out, verdict)
    return verdict


def _note(path: Path, verdict: Gate) -> None:
    """Write the gate's figures into the model's runtime info."""
    import openvino

    from sightline.depth.quantise import save_model

    model = openvino.Core().read_model(path)
    model.set_rt_info(json.dumps(asdict(verdict), sort_keys=True), GATE_KEY)
    save_model(model, path)
