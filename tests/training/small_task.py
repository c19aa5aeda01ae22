"""A small regression task for tests of the trainer."""

import torch
from torch import nn

from sightline.training.trainer import TrainingTask


def quiet(_):
    """Discard a line."""


def same(one, other):
    """Compare two state dicts bit by bit."""
    return all(torch.equal(value, other[name]) for name, value in one.items())


class Block(nn.Module):
    """A layer with dropout that counts its forward passes."""

    def __init__(self, dropout):
        super().__init__()
        self.linear, self.dropout = nn.Linear(4, 8), nn.Dropout(dropout)
        self.forward_calls = 0

    def forward(self, x):
        self.forward_calls += 1
        return self.dropout(torch.tanh(self.linear(x)))


class Objective(nn.Module):
    """The network and its mean square error."""

    def __init__(self, network):
        super().__init__()
        self.network, self.loss = network, nn.functional.mse_loss

    def forward(self, x, y):
        return self.loss(self.network(x), y)


class SmallTask(TrainingTask):
    """Learn the sum of four numbers.

    Args:
        config: of the trainer.
        seed: of the first weights.
        dropout: of the hidden layer.
        batch_size: samples of a step.
        fail_at: step whose batch cannot be made.
        poison_at: step whose batch is not finite.
    """

    name, max_norm, ema_decay = "small", 1.0, 0.9

    def __init__(self, config, seed=0, dropout=0.1, batch_size=8, fail_at=None, poison_at=None):
        torch.manual_seed(seed)
        self.config, self.steps, self.batch_size = config, config.steps, batch_size
        self.network = nn.Sequential(Block(dropout), nn.Linear(8, 1))
        self.module = Objective(self.network)
        self.fail_at, self.poison_at = fail_at, poison_at
        self.seen, self.validated = [], []
        torch.manual_seed(100)

    def optimizer(self):
        return torch.optim.AdamW(self.network.parameters(), lr=0.05)

    def rate(self, step):
        return 1 - step / self.steps

    def batch(self, step, shard):
        if step == self.fail_at:
            raise OSError("the plug was pulled")
        generator = torch.Generator().manual_seed(step)
        x = torch.randn(self.batch_size, 4, generator=generator)[shard.index :: shard.count]
        if step == self.poison_at:
            x = x * float("nan")
        self.seen.append((x, x.sum(1, keepdim=True)))
        return self.seen[-1]

    def validate(self, step):
        self.validated.append({k: v.clone() for k, v in self.network.state_dict().items()})
        return {"score": 1.0}

    def export(self, out):
        (out / "exported.txt").write_text("done")

    def blocks(self):
        return [self.network[0]]
