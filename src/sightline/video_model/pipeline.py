"""Video diffusion pipeline: transformer, codec and noise schedule together; frames in, frames out.

`VideoDiffusion` is a `VideoModel` of `sightline.physics`: `sightline physics run --model
sightline.video_model.pipeline:load` runs the embedded model on a dataset.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sightline.config import ParallelConfig, check_ranges
from sightline.errors import InputError, SightlineError
from sightline.io.atomic import write_bytes
from sightline.physics.datasets.mp4 import encode
from sightline.physics.datasets.reader import VideoData, open_dataset
from sightline.physics.datasets.spec import COMBINATORIAL
from sightline.physics.model_runner import claimed
from sightline.physics.rendering import to_planes
from sightline.physics.types import Frames
from sightline.runtime.parallel import WithModel, map_in_order, uses_workers, worker_threads
from sightline.video_model.autoencoders.codec import decode_bytes, encode_bytes, usable_frames
from sightline.video_model.autoencoders.files import SavedCodec
from sightline.video_model.conditioning import Conditioning, Fact, TextEncoder, make_conditioning
from sightline.video_model.data import NO_NUMBERS
from sightline.video_model.diffusion import (
    draw_noise,
    levels,
    make_schedule,
    sample,
    velocity_from_video,
)
from sightline.video_model.options import EMBEDDED, BuildOptions, SampleConfig
from sightline.video_model.transformer import VideoCondition, VideoTransformer

#: Latents are clamped to this many standard deviations during sampling; true videos stay within.
LIMIT = 12.0


@dataclass(eq=False)
class VideoDiffusion:
    """Video model that continues videos from their first frames.

    Attributes:
        network: transformer, in eval mode.
        codec: codec of its latents.
        build: network and diffusion options.
        frames: frames of a video.
        size: width and height of a video in [px].
        sampling: default number of sampling steps.
        notes: provenance.
        device: device of the weights.
        encoder: text encoder, for a network trained with one.
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
        """Move the model to a device and return it."""
        self.device = torch.device(device)
        self.network.to(self.device)
        if isinstance(self.codec, torch.nn.Module):
            self.codec.to(self.device)
        return self

    @property
    def parameters(self) -> int:
        """Number of parameters of the transformer."""
        return sum(p.numel() for p in self.network.parameters())

    @property
    def uses_conditioning(self) -> bool:
        """Whether the network takes numbers or text besides frames."""
        return bool(self.network.options.numbers or self.network.options.text)

    def conditioning_for(self, facts: Sequence[Fact]) -> Conditioning:
        """Return the numbers and text of videos, for `continue_videos`."""
        return make_conditioning(self.network.options, facts, self.encoder)

    def give_encoder(self, encoder: TextEncoder | None) -> None:
        """Set the text encoder; it must be the one of the training."""
        wanted = self.notes.get("text_encoder")
        if encoder is not None and encoder.digest != wanted:
            known = "without one" if wanted is None else "with another one"
            raise InputError(f"this model was trained {known}", path=encoder.folder)
        self.encoder = encoder

    def predict(self, condition: Frames, mask: NDArray[np.bool_], n: int) -> Frames:
        """Return the whole video; implements `sightline.physics.model_runner.VideoModel`."""
        given = int(mask.sum())
        if not mask[:given].all():
            raise InputError("only first frames can be given")
        self.check(condition, given)
        if n != self.frames:
            raise InputError(f"makes videos of {self.frames} frames, not of {n}")
        # The noise follows from the given frames: equal frames give equal videos.
        number = zlib.crc32(np.ascontiguousarray(condition[:given]).tobytes())
        return self.continue_videos([condition], [number])[0]

    def continue_videos(
        self,
        videos: Sequence[Frames],
        numbers: Sequence[int],
        *,
        described: Conditioning | None = None,
        seed: int = 0,
        steps: int | None = None,
        batch: int = 16,
    ) -> list[Frames]:
        """Continue videos from their first frames.

        Args:
            videos: (T, S, S, 3) uint8 RGB each; only the first `build.condition` frames are used.
            numbers: index of each video; with the seed it determines the noise.
            described: result of `conditioning_for`, for a network trained with it.
            seed: random seed of the noise.
            steps: sampling steps; default: `sampling`.
            batch: videos per forward pass.

        Returns:
            (T, S, S, 3) uint8 RGB each: the given frames unchanged, then the generated ones.
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

    def encode_given(self, planes: Tensor) -> VideoCondition:
        """Encode given frames (N, 3, given, S, S) uint8; incomplete latents are dropped."""
        count = usable_frames(self.codec, planes.shape[2])
        known = encode_bytes(self.codec, planes[:, :, :count].to(self.device))
        return fill_up(known.half().float(), self.network.options.frames)

    @torch.no_grad()
    def sample(
        self,
        condition: VideoCondition,
        numbers: Sequence[int],
        described: Conditioning | None = None,
        seed: int = 0,
        steps: int | None = None,
    ) -> Tensor:
        """Sample latents (N, C, t, h, w) for a condition."""
        options = self.network.options
        if described is not None:
            condition = described.to(self.device).beside(condition)
        noise = draw_noise(seed, numbers, options.shape).to(self.device)
        gammas = make_schedule(self.build.schedule, self.build.noise_steps)

        def velocity(noisy: Tensor, t: Tensor, known: VideoCondition) -> Tensor:
            said: Tensor = self.network(noisy, t, known)
            if self.build.says == "velocity":
                return said
            return velocity_from_video(noisy, said, *levels(gammas, t, noisy))

        return sample(
            velocity,
            noise,
            condition,
            gammas,
            steps=self.sampling if steps is None else steps,
            keep=condition.keep,
            limit=LIMIT,
        )

    def check(self, video: Frames, given: int) -> None:
        """Check that a (T, S, S, 3) video can be continued from its first `given` frames.

        Raises:
            InputError: its size or length does not fit the model.
        """
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


def fill_up(known: Tensor, frames: int) -> VideoCondition:
    """Build a condition from given latents, zero-padded to a whole video.

    Args:
        known: (N, C, given, h, w) latents.
        frames: latent frames of a whole video.
    """
    count = known.shape[2]
    shown = known.new_zeros(*known.shape[:2], frames, *known.shape[3:])
    shown[:, :, :count] = known
    given = torch.arange(frames, device=known.device) < count
    return VideoCondition(shown, given.expand(len(known), -1))


def load(name: str | Path = EMBEDDED, device: str | None = None) -> VideoDiffusion:
    """Load a video model.

    Args:
        name: registry name such as `video` (embedded), a `.safetensors` file of `sightline video
            train`, or the folder of its run.
        device: cpu, cuda, cuda:1 or mps; None for the best available.
    """
    return load_known(name, device)[0]


def load_known(
    name: str | Path = EMBEDDED, device: str | None = None
) -> tuple[VideoDiffusion, str]:
    """Load a model as `load` does and return it with the SHA-256 of its file."""
    from sightline.models.download import resolve
    from sightline.runtime.torch_engine import pick_device
    from sightline.video_model.files import MODEL, read_model

    path = Path(name)
    if path.is_dir():
        if not (path / MODEL).is_file():
            raise InputError(
                "holds no finished model", path=path, remedy="let its training end first"
            )
        name = path / MODEL
    found = resolve(name, purpose="video")
    return read_model(found.path).to(pick_device(device)), found.sha256


def sample_videos(
    data: Path,
    folder: Path,
    config: SampleConfig = SampleConfig(),  # noqa: B008 - frozen
    *,
    start: int = 0,
    count: int | None = None,
    parallel: ParallelConfig | None = None,
    on_done: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Continue the videos of a dataset and write lossless MP4 files named by index; resumable.

    Args:
        data: dataset that provides the first frames.
        folder: output folder for `00000.mp4` …; existing videos are kept, and a folder of another model
            or dataset is refused.
        config: model and sampling.
        start: index of the first sample.
        count: number of samples. Default: all from `start`.
        parallel: where to run. Default: in this process.
        on_done: called with the number of finished videos and of all.

    Returns:
        The files, in the order of the samples.
    """
    model, digest = _load_sampler(config)
    steps = config.steps
    if steps is not None and not 1 <= steps <= model.build.noise_steps:
        raise InputError(
            f"{steps} sampling steps of a schedule of {model.build.noise_steps}",
            remedy=f"give --steps 1 to {model.build.noise_steps}",
        )
    with open_dataset(data) as videos:
        record = {
            "model": digest,
            "data_set": videos.digest,
            "condition": model.build.condition,
            "steps": model.sampling if steps is None else steps,
            "seed": config.seed,
        }
        indexes = _sample_indexes(videos, start, count)
        parallel = parallel or ParallelConfig()
        with claimed(folder, record):
            paths = {index: folder / f"{index:05d}.mp4" for index in indexes}
            missing = [index for index, path in paths.items() if not path.exists()]
            done = len(paths) - len(missing)
            batches = [missing[k : k + config.batch] for k in range(0, len(missing), config.batch)]
            function: Callable[[list[int]], list[bytes]] = partial(
                _sample_batch, (model, videos), config=config
            )
            if uses_workers(parallel, len(batches)):
                threads = worker_threads(parallel, len(batches))
                load_both = partial(_open_sampler, config, data.absolute(), threads)
                function = WithModel(load_both, partial(_sample_batch, config=config))
            with closing(map_in_order(function, batches, parallel)) as answers:
                for answer in answers:
                    if answer.result is None:
                        raise answer.failure or SightlineError("a batch of videos has no result")
                    for index, video in zip(answer.item, answer.result, strict=True):
                        write_bytes(paths[index], video)
                    done += len(answer.item)
                    if on_done is not None:
                        on_done(done, len(paths))
    return list(paths.values())


def _sample_indexes(videos: VideoData, start: int, count: int | None) -> range:
    """Return the indexes of `count` videos from `start` on; all of them without `count`.

    Raises:
        InputError: the dataset does not have so many.
    """
    check_ranges(None, count=count)
    stop = len(videos) if count is None else start + count
    if not 0 <= start < stop <= len(videos):
        raise InputError(
            f"{'videos' if count is None else f'{count} videos'} from {start} on were asked for, "
            f"there are {len(videos)}",
            path=videos.path,
        )
    return range(start, stop)


def _load_sampler(config: SampleConfig) -> tuple[VideoDiffusion, str]:
    model, digest = load_known(config.model, config.device)
    if config.text_encoder is not None:
        model.give_encoder(TextEncoder(config.text_encoder, model.device))
    return model, digest


def _open_sampler(
    config: SampleConfig, data: Path, threads: int | None
) -> tuple[VideoDiffusion, VideoData]:
    """Load the model and open the dataset in a worker, which keeps them open."""
    if threads is not None:
        torch.set_num_threads(threads)
    return _load_sampler(config)[0], open_dataset(data)


def _sample_batch(
    opened: tuple[VideoDiffusion, VideoData], indexes: Sequence[int], config: SampleConfig
) -> list[bytes]:
    """Continue some videos of a dataset in one forward pass; return lossless MP4 files."""
    model, data = opened
    truths = [data.video(index) for index in indexes]
    for index, truth in zip(indexes, truths, strict=True):
        _check(model, data, index, truth)
    facts = [_known(data, index) for index in indexes] if model.uses_conditioning else []
    made = model.continue_videos(
        truths,
        indexes,
        described=model.conditioning_for(facts) if facts else None,
        seed=config.seed,
        steps=config.steps,
        batch=config.batch,
    )
    return [encode(frames, "lossless") for frames in made]


def _check(model: VideoDiffusion, data: VideoData, index: int, truth: Frames) -> None:
    """Check that the model can continue a video; name the file in errors."""
    if len(truth) < model.frames:
        raise InputError(
            f"video {index} has {len(truth)} frames, this model makes {model.frames}",
            path=data.path,
        )
    try:
        model.check(truth, model.build.condition)
    except InputError as error:
        raise InputError(error.problem, path=data.path, remedy=error.remedy) from error


def _known(data: VideoData, index: int) -> Fact:
    """Return scenario, radii and speeds of a video."""
    if data.scenario == COMBINATORIAL:
        raise InputError(NO_NUMBERS, path=data.path, remedy="give another data set, or model")
    return Fact(data.scenario, data.read_init(index, index + 1)[0])
