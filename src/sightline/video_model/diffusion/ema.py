"""The moving mean of a network's weights, which samples better than the weights themselves.

The decay rises with the number of updates n, as (1 + n) / (10 + n), until it is what was asked: else
the random first weights would be remembered for thousands of updates.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from sightline.errors import InputError


class MovingMean:
    """Exponential moving mean of the parameters of a network.

    Args:
        network: whose parameters are followed; the mean begins as they are. Buffers are not followed.
        decay: share of the mean that an update keeps, once warm; from 0 to below 1.
    """

    def __init__(self, network: nn.Module, decay: float = 0.9999) -> None:
        if not 0 <= decay < 1:
            raise InputError(f"decay lies in 0 to 1, below 1, got {decay}")
        self.decay = decay
        self.updates = 0
        self.weights = {name: p.detach().clone() for name, p in network.named_parameters()}

    @torch.no_grad()
    def update(self, network: nn.Module) -> None:
        """Move towards the parameters as they are now."""
        self.updates += 1
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        now = [p.detach() for p in network.parameters()]
        torch._foreach_lerp_(list(self.weights.values()), now, 1 - decay)

    @contextmanager
    def applied(self, network: nn.Module) -> Iterator[None]:
        """Let the network have the mean weights for a while; its own come back afterwards."""
        own = {name: p.detach().clone() for name, p in network.named_parameters()}
        self._write(network, self.weights)
        try:
            yield
        finally:
            self._write(network, own)

    def write_to(self, network: nn.Module) -> None:
        """Give the network the mean weights for good."""
        self._write(network, self.weights)

    def state_dict(self) -> dict[str, Any]:
        """Return what `load_state_dict` needs to go on exactly; the tensors are not copied."""
        return {"updates": self.updates, "weights": self.weights}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state.

        Raises:
            InputError: it is of another network.
        """
        saved: dict[str, Tensor] = state["weights"]
        if _shapes(saved) != _shapes(self.weights):
            raise InputError("the saved mean is of another network")
        for name, value in self.weights.items():
            value.copy_(saved[name])
        self.updates = int(state["updates"])

    @staticmethod
    @torch.no_grad()
    def _write(network: nn.Module, weights: dict[str, Tensor]) -> None:
        for name, parameter in network.named_parameters():
            parameter.copy_(weights[name])


def _shapes(weights: dict[str, Tensor]) -> dict[str, torch.Size]:
    return {name: value.shape for name, value in weights.items()}
