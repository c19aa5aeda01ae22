"""The mean of several trainings of one network, weight by weight.

Runs that started from the same weights end in the same valley, and the middle of it is often better
than any of its slopes ("model soups", Wortsman et al. 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from sightline.depth.checkpoints import read_checkpoint, write_checkpoint
from sightline.errors import InputError


def write_mean(models: Sequence[str | Path], out: str | Path) -> None:
    """Write the mean of models of one architecture and description as a safetensors file.

    Args:
        models: safetensors, `.pth` or our ONNX files; two or more. The first says what the network is.
        out: the file.
    """
    if Path(out).suffix != ".safetensors":
        raise InputError("a mean is written as .safetensors", path=out)
    if len(models) < 2:
        raise InputError(f"a mean is of two models or more, got {len(models)}")
    read = [read_checkpoint(path) for path in models]
    first = read[0]
    for path, other in zip(models[1:], read[1:], strict=True):
        mine, theirs = ({k: v.shape for k, v in one.state.items()} for one in (first, other))
        if other.spec.architecture != first.spec.architecture or mine != theirs:
            raise InputError(f"is another network than {models[0]}", path=path)
        if other.spec != first.spec:
            said = asdict(other.spec)
            names = ", ".join(k for k, value in asdict(first.spec).items() if value != said[k])
            raise InputError(f"is read in another way than {models[0]} ({names})", path=path)
    state = {
        name: torch.stack([one.state[name].double() for one in read]).mean(0).to(torch.float32)
        if value.is_floating_point()
        else value
        for name, value in first.state.items()
    }
    write_checkpoint(out, state, first.spec)
