"""The codebook as one file: ONNX that OpenVINO runs and torch reads.

The graph has two ways through it that share only the codes: `depth` → `chosen` and `codes` → `decoded`.
Who runs it takes one of them.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from sightline.depth.export import forget_machine, trace
from sightline.depth.graph_storage import Store, write_graph
from sightline.depth.onnx_weights import (
    WEIGHTS_KEY,
    graph_notes,
    load_onnx,
    stored_state,
    weight_map,
)
from sightline.errors import InputError
from sightline.perception.codebook.network import GRID, SIDE, DepthCodebook

#: Names of the graph's inputs and outputs.
DEPTH, CHOSEN, CODES, DECODED = "depth", "chosen", "codes", "decoded"

#: Says that a file is a codebook, and of which layout.
CODEBOOK_KEY = "sightline.codebook"
LAYOUT = "1"

#: State of training that the file does not keep; it is made anew from the codes.
_TRAINING = ("quantiser.count", "quantiser.total")


class _BothWays(nn.Module):
    def __init__(self, codebook: DepthCodebook) -> None:
        super().__init__()
        self.codebook = codebook

    def forward(self, depth: Tensor, codes: Tensor) -> tuple[Tensor, Tensor]:
        return self.codebook.encode(depth), self.codebook.decode(codes)


def write_codebook(codebook: DepthCodebook, path: str | Path, *, store: Store = "half") -> None:
    """Write a codebook, whole or not at all; the same one gives the same bytes.

    Args:
        codebook: trained.
        path: of the `.onnx` file.
        store: kernels and codes in full, as halves, or kernels as bytes.
    """
    examples = (torch.zeros(2, 1, SIDE, SIDE), torch.zeros(2, GRID, GRID, dtype=torch.int64))
    batch = {0: "batch"}
    model = trace(
        _BothWays(codebook),
        examples,
        {DEPTH: batch, CODES: batch},
        {CHOSEN: batch, DECODED: batch},
    )
    forget_machine(model)
    state = {name: v for name, v in codebook.state_dict().items() if name not in _TRAINING}
    notes = {CODEBOOK_KEY: LAYOUT, WEIGHTS_KEY: weight_map(model, state)}
    write_graph(model, path, notes, store)


def read_codebook(path: str | Path) -> DepthCodebook:
    """Read a codebook into torch, in eval mode.

    Raises:
        InputError: the file is something else, or damaged.
    """
    model = load_onnx(path)
    notes = graph_notes(model)
    if notes.get(CODEBOOK_KEY) != LAYOUT or WEIGHTS_KEY not in notes:
        raise InputError("is not a depth codebook", path=path)
    codebook = DepthCodebook()
    shapes = {name: value.shape for name, value in codebook.state_dict().items()}
    state = stored_state(model, shapes, path, "a depth codebook")
    if "quantiser.codes" in state:
        state["quantiser.total"] = state["quantiser.codes"].clone()
        state["quantiser.count"] = torch.ones(len(state["quantiser.codes"]))
    missing = sorted(shapes.keys() - state.keys())
    if missing:
        raise InputError(f"a damaged codebook ({missing[0]} is missing)", path=path)
    codebook.load_state_dict(state)
    return codebook.eval()
