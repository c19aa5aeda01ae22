"""Several processes as one trainer, started by `torchrun` or `accelerate launch`; alone without them.

Both launchers say who is who through the same environment variables, which is all that is read here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from sightline.depth.engines.torch import pick_device


@dataclass(frozen=True, slots=True)
class Team:
    """One of the processes that train together.

    Attributes:
        rank: number of this process; number 0 validates, saves and talks.
        count: how many there are.
        device: where this one computes.
    """

    rank: int = 0
    count: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def leads(self) -> bool:
        """Whether this process is the one that writes."""
        return self.rank == 0

    def wrap(self, module: nn.Module) -> nn.Module:
        """Let gradients be averaged over the processes while they are computed."""
        if self.count == 1:
            return module
        places = [self.device] if self.device.type == "cuda" else None
        return DistributedDataParallel(module, device_ids=places, broadcast_buffers=False)

    def wait(self) -> None:
        """Go on when all have come this far."""
        if self.count > 1:
            distributed.barrier()

    def any(self, flag: bool) -> bool:
        """Tell whether it is so in any of the processes."""
        if self.count == 1:
            return flag
        vote = torch.tensor(float(flag), device=self.device)
        distributed.all_reduce(vote, distributed.ReduceOp.MAX)
        return bool(vote.item())

    def mean(self, value: torch.Tensor) -> float:
        """Average a scalar over the processes."""
        value = value.detach().clone()
        if self.count > 1:
            distributed.all_reduce(value)
        return float(value) / self.count


def is_first() -> bool:
    """Say whether this process is the one of several that talks, or the only one."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def team(device: str | None = None) -> Iterator[Team]:
    """Join the processes that the launcher started; the group ends with the block.

    Args:
        device: `cpu`, `cuda`, `cuda:1`, `mps`; None for the best here. With several processes on
            CUDA each takes the device of its local number.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Team(device=pick_device(device))
        return
    rank, local = int(os.environ["RANK"]), int(os.environ.get("LOCAL_RANK", "0"))
    place = pick_device(device)
    if place.type == "cuda":
        place = torch.device("cuda", local)
        torch.cuda.set_device(place)
    # Others wait while the first one validates or tests, which may take hours.
    kind = "nccl" if place.type == "cuda" else "gloo"
    distributed.init_process_group(kind, timeout=timedelta(days=1))
    try:
        yield Team(rank, count, place)
    finally:
        distributed.destroy_process_group()
