"""Train the depth codebook (AURORA, its `train_depth_vqvae`) and evaluate it.

Mean square error of the decoded map plus a quarter of the commitment; Adam at 3e-4, times 0.98 every
500 steps. Maps come from any set that depth networks are trained on: measured, rendered, or photographs
with a teacher's labels. They are cropped and mirrored at random, and stretched to the full range again.

A codebook is evaluated by reconstruction error, code usage, and preserved depth order, the paper's
"upper bound": points are placed by the rule of HardBLINK, the decoded map is read at them, and the
answer is correct if its maximum is at the nearest point. No model that writes these tokens does better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.errors import InputError
from sightline.perception.codebook import DepthCodebook, square, to_bytes, to_input, values_at
from sightline.perception.evaluation import Proportion
from sightline.perception.options import CodebookOptions
from sightline.perception.questions.hardblink import HARD, MarkerRule, Point, nearest_letter
from sightline.perception.questions.sets import DepthImage, ask_points
from sightline.perception.tokens import CODES
from sightline.training.config import RESUME_MAY_CHANGE
from sightline.training.data.pairs import Pair
from sightline.training.data.stream import MixtureSource
from sightline.training.distributed import Shard
from sightline.training.trainer import Trainer, TrainingTask
from sightline.types import FloatArray

#: Scores a codebook: the figures that go into the log.
Validate = Callable[[DepthCodebook], dict[str, float]]


def make_batch(
    sources: Sequence[MixtureSource],
    step: int,
    options: CodebookOptions,
    shard: Shard | None = None,
) -> Tensor:
    """Return the maps (N, 1, 320, 320) of batch `step`, or of a shard of it."""
    shard, maps = shard or Shard(), []
    slots = [(number, slot) for number, s in enumerate(sources) for slot in range(s.share)]
    for number, slot in slots[shard.index :: shard.count]:
        source = sources[number]
        position = step * source.share + slot
        pair = source.pairs.pair(position, (options.seed, number))
        rng = np.random.default_rng([options.seed, 7, number, position])
        maps.append(_vary(pair, rng, options.smallest_crop))
    return to_input(np.stack(maps))


def _vary(pair: Pair, rng: np.random.Generator, smallest: float) -> NDArray[np.uint8]:
    """Crop and mirror a pair's disparity; one that is flat there stays whole."""
    height, width = pair.disparity.shape
    share = rng.uniform(smallest, 1)
    rows, columns = max(1, round(share * height)), max(1, round(share * width))
    top, left = rng.integers(height - rows + 1), rng.integers(width - columns + 1)
    part = np.s_[top : top + rows, left : left + columns]
    mirrored = rng.random() < 0.5
    disparity, known = pair.disparity[part], pair.known[part]
    if not known.any():
        disparity, known = pair.disparity, pair.known
    made = square(to_bytes(disparity.astype(np.float32), known))
    return np.ascontiguousarray(made[:, ::-1]) if mirrored else made


class _CodebookLoss(nn.Module):
    """Mean square error of the decoded map plus the weighted commitment loss."""

    def __init__(self, codebook: DepthCodebook, commitment: float) -> None:
        super().__init__()
        self.codebook, self.commitment = codebook, commitment

    def forward(self, maps: Tensor) -> Tensor:
        """Return the loss of maps (N, 1, 320, 320)."""
        passed = self.codebook(maps)
        return F.mse_loss(passed.decoded, maps) + self.commitment * passed.commitment


class CodebookTask(TrainingTask):
    """Training of a depth codebook.

    Args:
        config: Configuration; its seed also determines the initial weights.
        sources: Depth maps.
        score: Figures to log, computed from the codebook; None for none.
        data: Origin of the maps, for the record.
    """

    name = "codebook"
    may_change = RESUME_MAY_CHANGE | {"steps"}  # past rates do not depend on it

    def __init__(
        self,
        config: CodebookOptions,
        sources: Sequence[MixtureSource],
        *,
        score: Validate | None = None,
        data: dict[str, Any] | None = None,
    ) -> None:
        torch.manual_seed(config.seed)
        self.config = self.options = config
        self.sources, self.score, self.data = sources, score, data or {}
        self.network: DepthCodebook = DepthCodebook().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.module = _CodebookLoss(self.network, config.commitment)
        self.steps = config.steps
        self.batch_size = sum(source.share for source in sources)

    def record(self) -> dict[str, Any]:
        """Return the origin of the maps."""
        return {"data": self.data}

    def optimizer(self) -> torch.optim.Optimizer:
        """Return Adam."""
        return torch.optim.Adam(self.network.parameters(), lr=self.options.rate)

    def rate(self, step: int) -> float:
        """Return the factor of the learning rate, which falls in steps."""
        return self.options.fall ** (step // self.options.every)

    def batch(self, step: int, shard: Shard) -> tuple[Tensor]:
        """Return the maps of a shard of batch `step`."""
        return (make_batch(self.sources, step, self.options, shard),)

    def validate(self, step: int) -> dict[str, float]:  # noqa: ARG002 - of the task's interface
        """Return the share of codes in use, and the figures of `score`."""
        quantizer = self.network.quantizer
        alive = float((quantizer.count > quantizer.alive).float().mean())
        return {"alive": alive, **(self.score(self.network) if self.score else {})}


def train_codebook(
    sources: Sequence[MixtureSource],
    out: Path,
    options: CodebookOptions,
    *,
    validate: Validate | None = None,
    report: Callable[[str], None] = print,
    data: dict[str, Any] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> DepthCodebook:
    """Train a codebook into a folder, or resume its training; return the finished codebook.

    Args:
        sources: Depth maps.
        out: Folder of the run; a folder that holds another run is refused.
        options: Configuration.
        validate: Figures to log while training.
        report: Receives progress as lines of text.
        data: Origin of the maps, for the record.
        stop: Returns True to save and end the run.
    """
    task = CodebookTask(options, sources, score=validate, data=data)
    Trainer(task, out, report=report, stop=stop).fit()
    return task.network


#: Encode (320, 320) bytes to (10, 10) codes, and decode these to (320, 320) in [0, 1].
Encode = Callable[[NDArray[np.uint8]], NDArray[np.int64]]
Decode = Callable[[NDArray[np.int64]], FloatArray]

COUNTS = (2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class CodebookScore:
    """Scores of a codebook.

    Attributes:
        error: mean absolute error of decoded maps, relative to the range.
        alive: share of codes in use.
        pictures: number of images.
        order: correct answers by number of points.
    """

    error: float
    alive: float
    pictures: int
    order: Mapping[int, Proportion]


def score_codebook(
    encode: Encode,
    decode: Decode,
    pictures: Sequence[DepthImage],
    *,
    rule: MarkerRule = HARD,
    seeds: Sequence[int] = (0,),
) -> CodebookScore:
    """Evaluate a codebook on images with known depth.

    Args:
        encode: encoder of the codebook.
        decode: decoder of the codebook.
        pictures: images that it was not trained on.
        rule: placement rule of the points.
        seeds: random seeds of the points; every image is used once with each.
    """
    if not pictures:
        raise InputError("there is no picture to measure the codebook on")
    used: set[int] = set()
    errors = []
    decoded: dict[str, FloatArray] = {}
    for seen in pictures:
        shown = square(seen.values)
        codes = encode(shown)
        used.update(codes.ravel().tolist())
        decoded[seen.name] = decode(codes)
        errors.append(float(np.abs(decoded[seen.name] - shown / np.float32(255)).mean()))
    order = {}
    for count in COUNTS:
        asked = [
            one for seed in seeds for one in ask_points(pictures, [count], rule=rule, seed=seed)
        ]
        right = sum(reads_right(decoded[one.seen.name], one.points) for one in asked)
        order[count] = Proportion(right, len(asked))
    return CodebookScore(float(np.mean(errors)), len(used) / CODES, len(pictures), order)


def reads_right(decoded: FloatArray, points: Mapping[str, Point]) -> bool:
    """Return whether the map has its unique maximum at the nearest point."""
    values = values_at(decoded, {letter: (p.x, p.y) for letter, p in points.items()})
    best = max(values.values())
    winners = [letter for letter, value in values.items() if value == best]
    return winners == [nearest_letter(points)]
