"""A video model for people: frames in, frames out; transformer, codec and schedule together.

`VideoDiffusion` is a `VideoModel` of `sightline.physics`: `sightline physics run --model
sightline.video_model.model:load` runs the embedded one on a data set.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sightline.errors import InputError
from sightline.physics.draw.planes import to_planes
from sightline.physics.types import Frames
from sightline.video_model.autoencoder.codec import decode_bytes, encode_bytes, usable_frames
from sightline.video_model.autoencoder.files import SavedCodec
from sightline.video_model.diffusion.draws import draw_noise
from sightline.video_model.diffusion.sampling import sample
from sightline.video_model.diffusion.schedule import levels, make_schedule
from sightline.video_model.diffusion.velocity import velocity_from_video
from sightline.video_model.options import BuildOptions
from sightline.video_model.sentences import Fact
from sightline.video_model.telling import Told, tell
from sightline.video_model.text_encoder import TextEncoder
from sightline.video_model.transformer.condition import Condition
from sightline.video_model.transformer.network import VideoTransformer

#: Name of the embedded model.
EMBEDDED = "video"

#: Latents are kept within this many spreads while sampling: none of a true video lies outside.
LIMIT = 12.0


@dataclass(eq=False)
class VideoDiffusion:
    """Continues videos.

    Attributes:
        network: the transformer, in eval mode.
        codec: that it works in the latents of.
        build: what both were made with.
        frames: of a video.
        size: width and height of a video in [px].
        sampling: steps from noise to a video.
        notes: where it comes from, for people.
        device: where it computes.
        encoder: of sentences, for a network that was trained with one.
    """

    network: VideoTransformer
    codec: SavedCodec
    build: BuildOptions
    frames: int
    size: int
    sampling: int = 20
    notes: dict[str, Any] = field(default_factory=dict)
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    encoder: TextEncoder | None = None

    def to(self, device: torch.device | str) -> VideoDiffusion:
        """Move it, and return it."""
        self.device = torch.device(device)
        self.network.to(self.device)
        if isinstance(self.codec, torch.nn.Module):
            self.codec.to(self.device)
        return self

    @property
    def parameters(self) -> int:
        """Weights of the transformer."""
        return sum(p.numel() for p in self.network.parameters())

    @property
    def is_told(self) -> bool:
        """Whether its network wants to be told more than frames."""
        return bool(self.network.options.numbers or self.network.options.text)

    def tell(self, facts: Sequence[Fact]) -> Told:
        """Return what its network is told of videos, for `continue_videos`."""
        return tell(self.network.options, facts, self.encoder)

    def give_encoder(self, encoder: TextEncoder | None) -> None:
        """Give it the text encoder that it was trained with; refuse another."""
        wanted = self.notes.get("text_encoder")
        if encoder is not None and encoder.digest != wanted:
            known = "without one" if wanted is None else "with another one"
            raise InputError(f"this model was trained {known}", path=encoder.folder)
        self.encoder = encoder

    def predict(self, condition: Frames, mask: NDArray[np.bool_], n: int) -> Frames:
        """Return the whole video, see `sightline.physics.models.VideoModel`."""
        given = int(mask.sum())
        if not mask[:given].all():
            raise InputError("only first frames can be given")
        self.check(condition, given)
        if n != self.frames:
            raise InputError(f"makes videos of {self.frames} frames, not of {n}")
        # The same beginning gives the same video, another one other noise.
        number = zlib.crc32(np.ascontiguousarray(condition[:given]).tobytes())
        return self.continue_videos([condition], [number])[0]

    def continue_videos(
        self,
        videos: Sequence[Frames],
        numbers: Sequence[int],
        *,
        described: Told | None = None,
        seed: int = 0,
        steps: int | None = None,
        batch: int = 16,
    ) -> list[Frames]:
        """Continue videos from their first frames.

        Args:
            videos: (T, S, S, 3) uint8 RGB each; only the first `build.condition` frames are looked at.
            numbers: of the videos: with the seed they decide the noise of each.
            described: what `tell` says of the videos, for a network that was trained with it.
            seed: of the noise.
            steps: from noise to video; default: `sampling`.
            batch: videos that are made at a time.

        Returns:
            (T, S, S, 3) uint8 RGB each: the given frames as they were, then the model's.
        """
        made: list[Frames] = []
        given = self.build.condition
        for start in range(0, len(videos), batch):
            some = videos[start : start + batch]
            for video in some:
                self.check(video, given)
            planes = torch.from_numpy(np.stack([to_planes(video[:given]) for video in some]))
            known = None if described is None else described.some(start, start + batch)
            latents = self.sample(
                self.encode_given(planes), numbers[start : start + batch], known, seed, steps
            )
            frames = decode_bytes(self.codec, latents).cpu().numpy().transpose(0, 2, 3, 4, 1)
            for video, answer in zip(some, frames, strict=True):
                whole = np.ascontiguousarray(answer)
                whole[:given] = video[:given]
                made.append(whole)
        return made

    def encode_given(self, planes: Tensor) -> Condition:
        """Return the condition of (N, 3, given, S, S) bytes; frames of no whole latent are left out."""
        count = usable_frames(self.codec, planes.shape[2])
        known = encode_bytes(self.codec, planes[:, :, :count].to(self.device))
        return fill_up(known.half().float(), self.network.options.frames)

    @torch.no_grad()
    def sample(
        self,
        condition: Condition,
        numbers: Sequence[int],
        described: Told | None = None,
        seed: int = 0,
        steps: int | None = None,
    ) -> Tensor:
        """Return latents (N, C, t, h, w) that go on from a condition."""
        options = self.network.options
        if described is not None:
            condition = described.to(self.device).beside(condition)
        noise = draw_noise(seed, numbers, options.shape).to(self.device)
        gammas = make_schedule(self.build.schedule, self.build.noise_steps)

        def velocity(noisy: Tensor, t: Tensor, known: Condition) -> Tensor:
            said: Tensor = self.network(noisy, t, known)
            if self.build.says == "velocity":
                return said
            return velocity_from_video(noisy, said, *levels(gammas, t, noisy))

        return sample(
            *(velocity, noise, condition, gammas),
            steps=self.sampling if steps is None else steps,
            keep=condition.keep,
            limit=LIMIT,
        )

    def check(self, video: Frames, given: int) -> None:
        """Refuse a (T, S, S, 3) video whose first `given` frames it cannot go on from."""
        if given != self.build.condition:
            raise InputError(
                f"this model was trained with {self.build.condition} condition frames, got {given}",
                remedy=f"give {self.build.condition}",
            )
        if len(video) < given:
            raise InputError(f"a video of {len(video)} frames cannot give {given}")
        if video.shape[1:] != (self.size, self.size, 3):
            raise InputError(
                f"this model was trained at {self.size} px, got {video.shape[2]} × {video.shape[1]}",
                remedy=f"give videos that were made with --size {self.size}, or another model",
            )


def fill_up(known: Tensor, frames: int) -> Condition:
    """Make a condition of given latents: zeros and a mask behind them.

    Args:
        known: (N, C, given, h, w).
        frames: latents of a whole video.
    """
    count = known.shape[2]
    shown = known.new_zeros(*known.shape[:2], frames, *known.shape[3:])
    shown[:, :, :count] = known
    given = torch.arange(frames, device=known.device) < count
    return Condition(shown, given.expand(len(known), -1))


def load(name: str | Path = EMBEDDED, device: str | None = None) -> VideoDiffusion:
    """Load a model by its name in the registry or by its file.

    Args:
        name: such as `video`, the embedded one, or a `.safetensors` file of `sightline video train`, or
            the folder of its run.
        device: cpu, cuda, cuda:1 or mps; None for the best here.
    """
    return load_known(name, device)[0]


def load_known(
    name: str | Path = EMBEDDED, device: str | None = None
) -> tuple[VideoDiffusion, str]:
    """Load a model as `load` does; return the checksum of its file, too, which says which one it is."""
    from sightline.depth.engines.torch import pick_device
    from sightline.video_model.files import MODEL, read_model
    from sightline.weights.store import resolve

    path = Path(name)
    if path.is_dir():
        if not (path / MODEL).is_file():
            raise InputError(
                "holds no finished model", path=path, remedy="let its training end first"
            )
        name = path / MODEL
    found = resolve(name, purpose="video")
    return read_model(found.path).to(pick_device(device)), found.sha256
