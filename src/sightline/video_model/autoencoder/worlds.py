"""Frames of our worlds without end, made as they are asked for.

The paper's autoencoder was trained on pictures and videos from the web, so it knows no border between
what the video model is trained on and what it is not. Ours is to know none either: by default it sees
radii and speeds in and out of distribution, and both parts of a probe.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor

from sightline.errors import InputError
from sightline.physics.data.spec import MOST, PROBE, DataSpec, draw
from sightline.physics.draw.planes import to_planes
from sightline.physics.render import Canvas
from sightline.physics.types import Motion, Samples

#: Points along a pixel that soft pictures are made from.
FINE = 4


def world_specs(scenarios: Sequence[str], size: int, seed: int = 0) -> list[DataSpec]:
    """Describe all that scenarios can show.

    Args:
        scenarios: such as `uniform`, or `probe:NAME`.
        size: width and height in [px].
        seed: of all random choices.

    Returns:
        Two for each scenario: in and out of distribution, or the parts of the probe.
    """
    specs = []
    for scenario in scenarios:
        if scenario.startswith(PROBE):
            pair = [
                DataSpec(scenario, MOST, part=p, size=size, seed=seed) for p in ("train", "test")
            ]
        else:
            pair = [DataSpec(scenario, MOST, split=s, size=size, seed=seed) for s in ("id", "ood")]
        specs += pair
    return specs


def soften(planes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Bring pictures drawn `FINE` times as finely to their size, their edges two pixels wide.

    The reference draws edges of a tenth of a pixel, so a ball that moves changes no pixel for a while
    and then several at once. Where a ball is between the pixels can be read from such a picture, but
    hardly be said by one whose pixels are a little wrong. Soft edges say it with every pixel.

    Args:
        planes: (…, FINE (S − 1) + 1, FINE (S − 1) + 1) uint8.

    Returns:
        (…, S, S) uint8.
    """
    *before, fine, _ = planes.shape
    size = (fine - 1) // FINE + 1
    soft = np.empty((*before, size, size), np.uint8)
    _soften(planes.reshape(-1, fine, fine), soft.reshape(-1, size, size))
    return soft


@njit(cache=True)  # type: ignore[untyped-decorator]
def _soften(planes: NDArray[np.uint8], soft: NDArray[np.uint8]) -> None:  # pragma: no cover
    """Weigh `FINE` − 1 points to each side of a pixel by a tent; outermost points are repeated."""
    size, last = soft.shape[1], planes.shape[1] - 1
    rows = np.empty((planes.shape[1], size), np.float32)
    for plane in range(len(planes)):
        for row in range(last + 1):
            for column in range(size):
                total = np.float32(0)
                for shift in range(1 - FINE, FINE):
                    place = min(max(FINE * column + shift, 0), last)
                    total += (FINE - abs(shift)) * planes[plane, row, place]
                rows[row, column] = total
        for row in range(size):
            for column in range(size):
                total = np.float32(0)
                for shift in range(1 - FINE, FINE):
                    place = min(max(FINE * row + shift, 0), last)
                    total += (FINE - abs(shift)) * rows[place, column]
                soft[plane, row, column] = np.uint8(total / FINE**4 + np.float32(0.5))


class WorldFrames:
    """A random frame, or a few in a row, of a new video for each place of each batch.

    Batch number `step` follows from the settings and `step` alone, whoever makes it and when.

    Args:
        specs: of the videos, in turn; all of one size.
        batch: places of a batch.
        seed: of which frames, and which are mirrored.
        clip: consecutive frames of a video; None: one, without an axis of time.
        mirror: flip every other video left to right, at random.
        soft: give each frame beside the same one drawn softly, see `soften`.
    """

    def __init__(
        self,
        specs: Sequence[DataSpec],
        batch: int,
        *,
        seed: int = 0,
        clip: int | None = None,
        mirror: bool = True,
        soft: bool = False,
    ) -> None:
        sizes = {spec.size for spec in specs}
        if len(sizes) != 1:
            raise InputError(f"videos of one size are needed, got {sorted(sizes) or 'none'}")
        if batch < 1 or (clip is not None and clip < 1):
            raise InputError(f"batch and clip must be at least 1, got {batch} and {clip}")
        self.specs, self.batch, self.seed = tuple(specs), batch, seed
        self.clip, self.mirror, self.size = clip, mirror, sizes.pop()
        self._canvas = Canvas(self.size, clip or 1)
        self._fine = Canvas(FINE * (self.size - 1) + 1, clip or 1) if soft else None

    def frames(self, step: int) -> Tensor | tuple[Tensor, Tensor]:
        """Return batch number `step`: (B, 3, S, S) uint8, or (B, 3, clip, S, S); with `soft`, two."""
        numbers = np.random.SeedSequence(self.seed, spawn_key=(step,))
        when, mirrored = np.random.default_rng(numbers).random((2, self.batch))
        made = np.empty((self.batch, 3, self.clip or 1, self.size, self.size), np.uint8)
        drawn = np.empty_like(made) if self._fine else made
        first, turns = step * self.batch, len(self.specs)
        for turn, spec in enumerate(self.specs):
            places = range((turn - first) % turns, self.batch, turns)
            if not places:
                continue
            samples = draw(spec, (first + places[0]) // turns, len(places))
            for number, place in enumerate(places):
                motion = self._part(samples, number, when[place])
                flip = self.mirror and mirrored[place] < 0.5
                made[place] = to_planes(self._canvas.paint(motion), mirror=flip)
                if self._fine:
                    drawn[place] = soften(to_planes(self._fine.paint(motion), mirror=flip))
        videos = [
            torch.from_numpy(one[:, :, 0] if self.clip is None else one) for one in (made, drawn)
        ]
        return (videos[0], videos[1]) if self._fine else videos[0]

    def _part(self, samples: Samples, number: int, when: float) -> Motion:
        """Return a few frames in a row of a sample, from a share of what it has room for."""
        length, frames = self.clip or 1, samples.positions.shape[1]
        if length > frames:
            raise InputError(f"clips of {length} frames from videos of {frames}")
        at = int(when * (frames - length + 1))
        return Motion(
            samples.positions[number, at : at + length],
            samples.velocities[number, at : at + length],
            samples.sizes[number],
            samples.colours[number],
            samples.shapes[number],
            samples.frame_time,
        )
