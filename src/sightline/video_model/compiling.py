"""A training step as one compiled program: `torch.compile`, where the machine has a C++ compiler.

Between the matrix products of a step lie dozens of small operations, each a pass over memory; compiled,
they are a few loops. What is learnt differs from an uncompiled run in the last bits, and does not
differ from another compiled one.

Torch keeps what it compiled for later processes, and a process that is killed while it compiles leaves
half a file there, on which all later ones fail. So each process has a place of its own, unless
TORCHINDUCTOR_CACHE_DIR names one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cache
from typing import cast

import torch
from torch import Tensor, nn


def compiled(module: nn.Module, report: Callable[[str], None], device: torch.device) -> nn.Module:
    """Return the module compiled, for shapes that stay as they are; as it is where that cannot be.

    Args:
        module: shares its weights with what is returned.
        report: told why, if it is not compiled.
        device: that it computes on.
    """
    problem = why_not(device)
    if problem is not None:
        report(f"not compiled, {problem}; training goes on without, more slowly")
        return module
    return cast(nn.Module, torch.compile(module, dynamic=False))


def why_not(device: torch.device) -> str | None:
    """Compile and run something small; return what was wrong with that, None if nothing."""
    _own_place()
    try:
        given = torch.ones(8, device=device, requires_grad=True)
        torch.compile(_small)(given).backward()  # type: ignore[no-untyped-call]
    except (
        Exception
    ) as error:  # what a compiler that is not there, or is broken, raises is not told
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return lines[0].rstrip(".") if lines else type(error).__name__
    return None


def _small(x: Tensor) -> Tensor:
    return torch.nn.functional.gelu(2 * x).sum()


@cache
def _own_place() -> tempfile.TemporaryDirectory[str] | None:
    """Name a place for what is compiled; it goes away with the process."""
    if "TORCHINDUCTOR_CACHE_DIR" in os.environ:
        return None
    place = tempfile.TemporaryDirectory(prefix="sightline-compiled-", ignore_cleanup_errors=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = place.name
    return place
