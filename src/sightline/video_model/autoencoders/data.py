"""Training frames of codecs: endless simulated worlds, or datasets.

The paper's autoencoder was trained on web images and videos, so it does not distinguish between the
video model's training range and what lies outside. Ours therefore sees radii and speeds in and out of
distribution, and both parts of a probe. Combinatorial worlds and files are shown as they are.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor

from sightline.errors import InputError
from sightline.physics.datasets.spec import COMBINATORIAL, MOST, PROBE, DataSpec, draw
from sightline.physics.rendering import Canvas, to_planes
from sightline.physics.types import Motion, Samples
from sightline.video_model.autoencoders.codec import to_floats
from sightline.video_model.data import Mixture, Pick, is_file, open_mixture


class FrameSource(Protocol):
    """Source of training batches by index."""

    def frames(self, step: int) -> Tensor | tuple[Tensor, Tensor]:
        """Return batch `step`, which depends on the settings and `step` only.

        Returns:
            (B, 3, S, S) uint8, or (B, 3, T, S, S) for codecs over time. A pair: input and target.
        """
        ...


def draw_noise(seed: int, step: int, shape: tuple[int, ...]) -> Tensor:
    """Draw the standard normal noise of a step."""
    words = np.random.SeedSequence(seed, spawn_key=(step,)).generate_state(1, np.uint64)
    generator = torch.Generator().manual_seed(int(words[0] >> np.uint64(1)))
    return torch.randn(shape, generator=generator)


def take_batch(source: FrameSource, step: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return a batch and its target as float videos on a device."""
    found = source.frames(step)
    shown, wanted = found if isinstance(found, tuple) else (found, found)
    for frames in (shown, wanted):
        if frames.ndim not in (4, 5) or frames.dtype != torch.uint8 or not len(frames):
            raise InputError(
                f"batch {step} is {frames.dtype} of shape {tuple(frames.shape)}, "
                "expected bytes of (B, 3, S, S) or (B, 3, T, S, S)"
            )
    if shown.shape != wanted.shape:
        raise InputError(f"batch {step} is {tuple(shown.shape)}, wanted is {tuple(wanted.shape)}")
    first = _as_video(shown, device)
    return first, first if wanted is shown else _as_video(wanted, device)


def _as_video(frames: Tensor, device: torch.device) -> Tensor:
    return to_floats((frames[:, :, None] if frames.ndim == 4 else frames).to(device))


#: Supersampling factor of soft targets.
FINE = 4


def world_specs(scenarios: Sequence[str], size: int, seed: int = 0) -> list[DataSpec]:
    """Return the specifications of all worlds of scenarios.

    Args:
        scenarios: names such as `uniform` or `probe:NAME`.
        size: width and height in [px].
        seed: random seed.

    Returns:
        Two for each scenario: in and out of distribution, or the two parts of a probe.
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
    """Downsample images rendered at `FINE` times the resolution, to edges two pixels wide.

    The reference renders edges a tenth of a pixel wide, so a moving ball changes no pixel for a
    while and then several at once. Soft edges encode the subpixel position in every pixel, which
    makes it robust to small errors of the decoder.

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
    """Filter by a tent of `FINE` − 1 points on each side, with replicated borders."""
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
    """Random frames or clips of simulated worlds, a new video for each item of each batch.

    Args:
        specs: worlds, which alternate; all of one size.
        batch: items of a batch.
        seed: random seed of frames and mirroring.
        clip: consecutive frames of a video; None for single frames without a time axis.
        mirror: mirror videos left to right at random.
        soft: also return softly rendered targets, see `soften`.
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
        """Return batch `step`: (B, 3, S, S) uint8, or (B, 3, clip, S, S); a pair with `soft`."""
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
        """Return consecutive frames of a sample, starting at the relative position `when`."""
        length, frames = self.clip or 1, samples.positions.shape[1]
        if length > frames:
            raise InputError(f"clips of {length} frames from videos of {frames}")
        at = int(when * (frames - length + 1))
        return Motion(
            samples.positions[number, at : at + length],
            samples.velocities[number, at : at + length],
            samples.sizes[number],
            samples.colors[number],
            samples.shapes[number],
            samples.frame_time,
        )


#: Maximum bytes of cached compressed videos.
ROOM = 256 * 10**6

#: zlib level: flat colors compress well at the fastest one.
_LEVEL = 1


class PackedVideos:
    """Cache of compressed videos.

    Args:
        videos: mixture; endless sources are not cached.
        room: maximum bytes.
    """

    def __init__(self, videos: Mixture, *, room: int = ROOM) -> None:
        self.videos, self.room = videos, room
        self.filled = 0
        self._kept: dict[Pick, tuple[bytes, tuple[int, ...]]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def video(self, pick: Pick) -> NDArray[np.uint8]:
        """Return (3, T, S, S) uint8."""
        known = self._kept.get(pick)
        if known is not None:
            return np.frombuffer(zlib.decompress(known[0]), np.uint8).reshape(known[1])
        made = self.videos.video(pick)
        if not self.videos.endless(pick.source):
            packed = zlib.compress(made.tobytes(), _LEVEL)
            if self.filled + len(packed) <= self.room:
                self._kept[pick] = packed, made.shape
                self.filled += len(packed)
        return made


class RandomFrames:
    """Random frames or clips of a mixture; a `FrameSource`.

    Args:
        videos: mixture of sources.
        batch: items of a batch.
        seed: random seed of the frames.
        clip: consecutive frames of a video; None for single frames without a time axis.
    """

    def __init__(
        self, videos: Mixture, batch: int, *, seed: int = 0, clip: int | None = None
    ) -> None:
        self.videos, self.batch, self.seed, self.clip = videos, batch, seed, clip
        self._packed = PackedVideos(videos)
        if (clip or 1) > videos.shape[0]:
            raise InputError(
                f"clips of {clip} frames from videos of {videos.shape[0]}", path=videos.path
            )

    def frames(self, step: int) -> Tensor:
        """Return batch number `step`: (B, 3, S, S) uint8, or (B, 3, clip, S, S)."""
        length = self.clip or 1
        when = np.random.default_rng([self.seed, 4, step]).integers(
            self.videos.shape[0] - length + 1, size=self.batch
        )
        numbers = range(step * self.batch, (step + 1) * self.batch)
        made = np.stack(
            [
                self._packed.video(self.videos.pick(number))[:, first : first + length]
                for number, first in zip(numbers, when, strict=True)
            ]
        )
        return torch.from_numpy(made[:, :, 0] if self.clip is None else made)


#: The side of a frame is a multiple of this many pixels.
CELL = 8


def is_law(word: str) -> bool:
    """Return whether a name is a scenario or a probe, which have laws of motion."""
    return word.partition(":")[0] != COMBINATORIAL and not is_file(word.partition("@")[0])


def frame_source(
    words: Sequence[str],
    size: int,
    batch: int,
    *,
    clip: int | None = None,
    soft: bool = False,
    seed: int = 0,
    videos: int | None = None,
) -> FrameSource:
    """Open training frames by name.

    Args:
        words: scenarios and probes; or combinatorial worlds and files, with an optional `@SHARE`.
        size: width and height in [px], a multiple of 8; files have their own.
        batch: frames of a step.
        clip: consecutive frames of a video, for codecs over time; None for single frames.
        soft: decode to soft edges; only for scenarios and probes.
        seed: random seed of the frames.
        videos: number of distinct videos of a combinatorial source or file; None for all.
    """
    if size < CELL or size % CELL:
        raise InputError(
            f"frames of {size} px: the side of a frame is a multiple of {CELL}",
            remedy=f"give --size {max(CELL, round(size / CELL) * CELL)}",
        )
    if batch < (clip or 1):
        raise InputError(
            f"a batch of {batch} frames has no clip of {clip or 1}",
            remedy=f"give --batch {clip or 1} or more",
        )
    places = batch // (clip or 1)
    law = [is_law(word) for word in words]
    if all(law):
        return WorldFrames(world_specs(words, size), places, seed=seed, clip=clip, soft=soft)
    if any(law):
        one, other = words[law.index(True)], words[law.index(False)]
        raise InputError(
            f"{one} is shown in and out of range, {other} as it is",
            remedy="give scenarios and probes alone, or none of them",
        )
    mixture = open_mixture(words, size, count=videos, order=seed)
    if mixture.shape[1] % CELL:
        raise InputError(
            f"frames of {mixture.shape[1]} px: the side of a frame is a multiple of {CELL}",
            path=mixture.path,
        )
    return RandomFrames(mixture, places, seed=seed, clip=clip)
