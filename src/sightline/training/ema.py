"""Exponential moving average (EMA) of a network's weights.

The decay rises with the number of updates n as (1 + n) / (10 + n) until it reaches the requested value;
otherwise the random initial weights would dominate the average for thousands of updates.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from sightline.errors import InputError


class ExponentialMovingAverage:
    """Exponential moving average of the parameters and buffers of a network.

    Integer buffers, such as the batch counter of batch normalization, are copied.

    Args:
        network: Network to average; the average starts with its present state.
        decay: Weight of the average in an update, in [0, 1).
    """

    def __init__(self, network: nn.Module, decay: float = 0.9999) -> None:
        if not 0 <= decay < 1:
            raise InputError(f"decay must be in 0 to 1, below 1, got {decay}")
        self.decay = decay
        self.updates = 0
        self.weights = {k: v.detach().clone() for k, v in network.state_dict().items()}

    @torch.no_grad()
    def update(self, network: nn.Module) -> None:
        """Move the average toward the present weights."""
        self.updates += 1
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        averages, values = [], []
        for name, value in network.state_dict().items():
            if value.is_floating_point():
                averages.append(self.weights[name])
                values.append(value)
            else:
                self.weights[name].copy_(value)
        torch._foreach_lerp_(averages, values, 1 - decay)

    @contextmanager
    def applied(self, network: nn.Module) -> Iterator[None]:
        """Give the network the averaged weights inside the block and restore its own afterwards."""
        own = {k: v.detach().clone() for k, v in network.state_dict().items()}
        self.copy_to(network)
        try:
            yield
        finally:
            _copy(own, network)

    def copy_to(self, network: nn.Module) -> None:
        """Overwrite the network's weights with the average."""
        _copy(self.weights, network)

    def state_dict(self) -> dict[str, Any]:
        """Return the state for `load_state_dict`; tensors are not copied."""
        return {"updates": self.updates, "weights": self.weights}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state.

        Raises:
            InputError: The state belongs to another network.
        """
        saved: dict[str, Tensor] = state["weights"]
        if _shapes(saved) != _shapes(self.weights):
            raise InputError("the saved average belongs to another network")
        for name, value in self.weights.items():
            value.copy_(saved[name])
        self.updates = int(state["updates"])


@torch.no_grad()
def _copy(weights: dict[str, Tensor], network: nn.Module) -> None:
    for name, value in network.state_dict().items():
        value.copy_(weights[name])


def _shapes(weights: dict[str, Tensor]) -> dict[str, torch.Size]:
    return {name: value.shape for name, value in weights.items()}
