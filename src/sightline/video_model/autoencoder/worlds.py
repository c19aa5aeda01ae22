"""Frames of our worlds without end, made as they are asked for.

The paper's autoencoder was trained on pictures and videos from the web, so it knows no border between
what the video model is trained on and what it is not. Ours is to know none either: by default it sees
radii and speeds in and out of distribution, and both parts of a probe.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from sightline.errors import InputError
from sightline.physics.data.spec import MOST, PROBE, DataSpec, draw
from sightline.physics.draw.planes import to_planes
from sightline.physics.render import Canvas
from sightline.physics.types import Motion, Samples


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


class WorldFrames:
    """A random frame, or a few in a row, of a new video for each place of each batch.

    Batch number `step` follows from the settings and `step` alone, whoever makes it and when.

    Args:
        specs: of the videos, in turn; all of one size.
        batch: places of a batch.
        seed: of which frames, and which are mirrored.
        clip: consecutive frames of a video; None: one, without an axis of time.
        mirror: flip every other video left to right, at random.
    """

    def __init__(
        self,
        specs: Sequence[DataSpec],
        batch: int,
        *,
        seed: int = 0,
        clip: int | None = None,
        mirror: bool = True,
    ) -> None:
        sizes = {spec.size for spec in specs}
        if len(sizes) != 1:
            raise InputError(f"videos of one size are needed, got {sorted(sizes) or 'none'}")
        if batch < 1 or (clip is not None and clip < 1):
            raise InputError(f"batch and clip must be at least 1, got {batch} and {clip}")
        self.specs, self.batch, self.seed = tuple(specs), batch, seed
        self.clip, self.mirror, self.size = clip, mirror, sizes.pop()
        self._canvas = Canvas(self.size, clip or 1)

    def frames(self, step: int) -> Tensor:
        """Return batch number `step`: (B, 3, S, S) uint8, or (B, 3, clip, S, S)."""
        numbers = np.random.SeedSequence(self.seed, spawn_key=(step,))
        when, mirrored = np.random.default_rng(numbers).random((2, self.batch))
        made = np.empty((self.batch, 3, self.clip or 1, self.size, self.size), np.uint8)
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
        videos = torch.from_numpy(made)
        return videos[:, :, 0] if self.clip is None else videos

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
