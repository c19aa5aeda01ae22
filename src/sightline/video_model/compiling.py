"""Compile training steps with `torch.compile` where there is a C++ compiler.

Compilation fuses the small operations between matrix products. Results differ from an uncompiled run in
the last bits, and are equal between compiled runs.

A process killed during compilation leaves a partial file in torch's cache, on which later processes
fail. So each process uses a cache folder of its own, unless TORCHINDUCTOR_CACHE_DIR is set.
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
    """Return the compiled module, or the module itself where compilation fails.

    Args:
        module: module whose weights are shared with the result.
        report: called with the reason if the module is not compiled.
        device: device of the module.
    """
    problem = why_not(device)
    if problem is not None:
        report(f"not compiled, {problem}; training goes on without, more slowly")
        return module
    return cast(nn.Module, torch.compile(module, dynamic=False))


def why_not(device: torch.device) -> str | None:
    """Compile and run a small function; return the error, None if there is none."""
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
    """Set a cache folder for this process, which is removed at its end."""
    if "TORCHINDUCTOR_CACHE_DIR" in os.environ:
        return None
    place = tempfile.TemporaryDirectory(prefix="sightline-compiled-", ignore_cleanup_errors=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = place.name
    return place
