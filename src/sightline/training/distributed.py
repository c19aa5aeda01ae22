"""Several processes as one trainer, started by `torchrun` or `accelerate launch`.

Both launchers describe the group by the same environment variables, which is all that is read here; a
process started without them trains alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from sightline.runtime.torch_engine import pick_device


@dataclass(frozen=True, slots=True)
class Shard:
    """The part of a batch that one process handles in one accumulation step.

    Attributes:
        index: Number of the shard, from 0.
        count: Number of shards of a batch: processes times accumulation steps.
        processes: Number of processes.
    """

    index: int = 0
    count: int = 1
    processes: int = 1

    def weight(self, size: int) -> float:
        """Return the factor of this shard's mean loss.

        Summed over the accumulation steps and averaged over the processes, the losses times their
        factors are the mean over the whole batch, even if shards differ in size.

        Args:
            size: Number of samples in the batch.
        """
        return len(range(size)[self.index :: self.count]) * self.processes / size


@dataclass(frozen=True, slots=True)
class Distributed:
    """One process in a group of processes that train together.

    Attributes:
        rank: Number of this process; process 0 validates, saves and reports.
        count: Number of processes.
        device: Device of this process.
    """

    rank: int = 0
    count: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def is_main(self) -> bool:
        """Whether this process writes files and reports."""
        return self.rank == 0

    def shard(self, part: int, parts: int) -> Shard:
        """Return the shard of this process in accumulation step `part` of `parts`."""
        return Shard(self.rank + self.count * part, self.count * parts, self.count)

    def wrap(self, module: nn.Module) -> nn.Module:
        """Average gradients over the processes during the backward pass."""
        if self.count == 1:
            return module
        devices = [self.device] if self.device.type == "cuda" else None
        return DistributedDataParallel(module, device_ids=devices, broadcast_buffers=False)

    def wait(self) -> None:
        """Wait until all processes have reached this line."""
        if self.count > 1:
            distributed.barrier()

    def any(self, flag: bool) -> bool:
        """Return whether the flag is set in any process."""
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


def without_sync(module: nn.Module) -> AbstractContextManager[object]:
    """Accumulate gradients locally inside the block instead of averaging them over processes."""
    if isinstance(module, DistributedDataParallel):
        return module.no_sync()
    return nullcontext()


def is_main_process() -> bool:
    """Return whether this is process 0 of the launcher's group, or the only one."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def join_processes(device: str | None = None) -> Iterator[Distributed]:
    """Join the group of processes that the launcher started; leave it at the end of the block.

    Args:
        device: `cpu`, `cuda`, `cuda:1` or `mps`; None for the best available. With several processes
            on CUDA, each takes the device of its local rank.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Distributed(device=pick_device(device))
        return
    rank, local = int(os.environ["RANK"]), int(os.environ.get("LOCAL_RANK", "0"))
    place = pick_device(device)
    if place.type == "cuda":
        place = torch.device("cuda", local)
        torch.cuda.set_device(place)
    # The others wait while process 0 validates, which may take hours.
    backend = "nccl" if place.type == "cuda" else "gloo"
    distributed.init_process_group(backend, timeout=timedelta(days=1))
    try:
        yield Distributed(rank, count, place)
    finally:
        distributed.destroy_process_group()
