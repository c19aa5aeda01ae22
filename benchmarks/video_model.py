"""Training steps side by side with diffusers' Latte, a video diffusion transformer: interleaved.

    python benchmarks/video_model.py [--rounds 5] [--network mini] [--patch 4] [--batch 16] [--moments]
                                     [--threads 1] [--compile] [--write docs/tables/speed-video.md]
    python benchmarks/video_model.py --steps 1 2 5 10 20 50 [--count 64]
                                     [--write docs/tables/video-steps.md]

Both get the same latents: 32 frames of 8 × 8, 8 channels; with `--moments` 32 vectors of 16 numbers,
four to a token, as the studies have them. Beside the noise stand as many given frames and a mask.
Patches and so tokens are the same, and so are blocks, width, heads, batch and precision; a step is
forward, backward and AdamW. Latte's blocks take turns between space and time; ours look at the whole
video (full), or take turns as well (factorised). The reference is Latte in a plain loop, with AdamW as
it comes. Ours has what our training has: AdamW in one pass (fused) and, in rows of their own, a step
that is compiled (`--compile`, as `sightline video train --compile`). Latte is measured with each of
these as well, so that what the network does can be told from what the loop does. What is printed:

* milliseconds of a step; the ratio of plain Latte's to it, and of Latte's with the same settings:
  medians over rounds of times taken one after the other, so that a busy machine slows all;
* the share of the measured peak of float32 matrix products that our step reaches, counting the products
  of linear layers and attention three times (forward, and backward twice);
* milliseconds for a video from noise, with 20 steps of sampling; with `--moments` those to code a video
  of 64 px, too.

With one thread, times are those that the process had on its core, so that waiting for others does not
count; what they do to caches and clock does. So the load of the machine is printed, and a figure taken
at a load above one should not be quoted without it.

`--steps` measures something else: the velocity error of the embedded model with so many steps of
sampling, on videos in range of a seed that no training has.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from sightline.files.atomic import write_text
from sightline.video_model.autoencoder.codec import encode_bytes
from sightline.video_model.codecs import find_codec
from sightline.video_model.compiling import why_not
from sightline.video_model.data import open_videos
from sightline.video_model.diffusion.draws import draw_noise
from sightline.video_model.diffusion.sampling import sample
from sightline.video_model.diffusion.schedule import make_schedule
from sightline.video_model.learner import Learner
from sightline.video_model.model import EMBEDDED, load_known
from sightline.video_model.options import BuildOptions
from sightline.video_model.scoring import mean_of, spec_of, take_all
from sightline.video_model.transformer.condition import first_frames
from sightline.video_model.transformer.network import VideoTransformer
from sightline.video_model.transformer.options import TransformerOptions
from sightline.weights.quiet import quiet_libraries

FRAMES, GIVEN = 32, 3
SAMPLING = 20

#: Videos in range that steps of sampling are measured on.
WORLDS, SEED = ("uniform", "collision", "parabola"), 77


@dataclass(frozen=True)
class Shape:
    """Latents and tokens.

    Attributes:
        side: rows and columns of latents.
        channels: of a latent.
        patch: frames, rows and columns of a token.
    """

    side: int
    channels: int
    patch: tuple[int, int, int]

    @property
    def latents(self) -> tuple[int, int, int, int]:
        """Channels, frames, rows and columns."""
        return self.channels, FRAMES, self.side, self.side

    @property
    def tokens(self) -> int:
        """Tokens of a video."""
        return FRAMES // self.patch[0] * (self.side // self.patch[1]) ** 2


def ours(network: str, shape: Shape, attention: str) -> VideoTransformer:
    """Build our transformer."""
    options = TransformerOptions(
        *(FRAMES, shape.side, shape.side, shape.channels, shape.patch, network),
        attention=attention,
    )
    return VideoTransformer(options)


def latte(network: VideoTransformer) -> nn.Module:
    """Build diffusers' Latte with as many blocks, of the same width and heads, on the same tokens.

    It has no patches of time: frames of a token are channels to it.
    """
    with quiet_libraries():
        from diffusers import LatteTransformer3DModel
    size, options = network.options.build, network.options
    time = options.patch[0]
    return LatteTransformer3DModel(
        num_attention_heads=size.heads,
        attention_head_dim=size.width // size.heads,
        in_channels=time * (2 * options.channels + 1),
        out_channels=time * options.channels,
        num_layers=size.depth // 2,  # pairs of a block in space and one in time
        attention_bias=True,
        sample_size=options.height,
        patch_size=options.patch[1],
        activation_fn="gelu",
        num_embeds_ada_norm=1000,
        norm_type="ada_norm_single",
        norm_elementwise_affine=False,
        caption_channels=1,  # a caption of one number, for it wants one; no block looks at it
        video_length=FRAMES // time,
    )


class LatteLearner(nn.Module):
    """Latte and the same loss as ours."""

    def __init__(self, network: nn.Module, shape: Shape) -> None:
        super().__init__()
        self.network, self.time, self.side = network, shape.patch[0], shape.side
        self.gammas = make_schedule()

    def forward(self, video: Tensor, noise: Tensor, t: Tensor, _: None) -> Tensor:
        """Return the mean loss."""
        from sightline.video_model.diffusion.loss import noisy_and_target, velocity_loss

        condition = first_frames(video, GIVEN)
        noisy, target = noisy_and_target(video, noise, t, self.gammas)
        mask = condition.given[:, None, :, None, None].to(noisy)
        mask = mask.expand(-1, 1, -1, self.side, self.side)
        seen = torch.cat([noisy, condition.video, mask], dim=1)
        if self.time > 1:
            seen = seen.unflatten(2, (-1, self.time)).transpose(2, 3).flatten(1, 2)
        caption = torch.zeros(len(seen), 1, 1)
        said = self.network(seen, timestep=t, encoder_hidden_states=caption).sample
        if self.time > 1:
            said = said.unflatten(1, (-1, self.time)).transpose(2, 3).flatten(2, 3)
        return velocity_loss(said, target, condition.given).mean()


def stepper(
    learner: nn.Module, batch: int, latents: tuple[int, ...], *, plain: bool = False
) -> Callable[[], None]:
    """Return a function that takes one training step, with AdamW as it comes or in one pass."""
    optimiser = torch.optim.AdamW(learner.parameters(), lr=1e-4, fused=None if plain else True)
    generator = torch.Generator().manual_seed(0)
    shape = (batch, *latents)
    video, noise = (torch.randn(shape, generator=generator) for _ in range(2))
    t = torch.randint(0, 1000, (batch,), generator=generator)

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        learner(video, noise, t, None).backward()
        optimiser.step()

    return step


def step_flops(network: VideoTransformer, batch: int) -> float:
    """Count multiplications and additions of a step: linear layers and attention, three times."""
    frames, rows, columns = network.options.grid
    size, tokens = network.options.build, frames * rows * columns
    seen = tokens if network.options.attention == "full" else (rows * columns + frames) / 2
    linear = 12 * size.width**2 + 2 * seen * size.width
    return 3 * 2 * batch * tokens * size.depth * linear


def gemm_peak(side: int = 1536) -> float:
    """Measure the best rate of a float32 matrix product, in FLOP/s."""
    a, b = (torch.randn(side, side) for _ in range(2))
    return 2 * side**3 / min(timed(lambda: torch.mm(a, b)) for _ in range(6))


def timed(work: Callable[[], object]) -> float:
    """Return seconds: of this process on its core with one thread, of the clock with several."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    begin = clock()
    work()
    return clock() - begin


def sampling_time(network: VideoTransformer, batch: int) -> float:
    """Return seconds for a video from noise."""
    shape = network.options.shape
    network.eval()
    noise = draw_noise(0, range(batch), shape)
    condition = first_frames(noise, GIVEN)
    gammas = make_schedule()
    seconds = timed(
        lambda: sample(network, noise, condition, gammas, steps=SAMPLING, keep=condition.keep)
    )
    return seconds / batch


def coding_time(batch: int) -> float:
    """Return seconds to code a video of 64 px by the embedded codec of moments."""
    codec, _ = find_codec(EMBEDDED)
    truths = open_videos("uniform", 64, count=batch)
    planes = [torch.from_numpy(truths.video(number))[None] for number in range(batch)]
    encode_bytes(codec, planes[0])
    return timed(lambda: [encode_bytes(codec, video) for video in planes]) / batch


def measure_steps(steps: Sequence[int], count: int) -> list[str]:
    """Measure the error of the embedded model over steps of sampling; return lines of a table."""
    model, digest = load_known(device="cpu")
    lines = [
        f"Embedded model ({digest[:12]}), {count} videos in range of each world, seed {SEED}; mean "
        "|v − v̂| in units/s.",
        "",
        f"| steps | {' | '.join(WORLDS)} |",
        "|---:|" + "---:|" * len(WORLDS),
    ]
    for number in steps:
        specs = [spec_of(world, count, model.size, SEED) for world in WORLDS]
        cells = [f"{mean_of(take_all(model, spec, steps=number)):.3f}" for spec in specs]
        lines.append(f"| {number} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


@dataclass(frozen=True)
class Row:
    """What is measured.

    Attributes:
        name: in the table.
        network: Latte, or ours.
        step: takes one training step.
        alike: name of Latte's row with the same settings.
    """

    name: str
    network: nn.Module
    step: Callable[[], None]
    alike: str


PLAIN, FUSED = "Latte (diffusers), plain loop", "Latte, fused AdamW"


def rows_of(network: str, shape: Shape, batch: int, *, compiling: bool) -> list[Row]:
    """Return all that is measured, each with a network of its own."""

    def ours_of(kind: str) -> Learner:
        return Learner(ours(network, shape, kind), GIVEN, BuildOptions())

    def latte_of() -> LatteLearner:
        return LatteLearner(latte(ours(network, shape, "full")), shape)

    def row(
        name: str, learner: Learner | LatteLearner, *, plain: bool = False, fast: bool = False
    ) -> Row:
        run = torch.compile(learner, dynamic=False) if fast else learner
        step = stepper(run, batch, shape.latents, plain=plain)
        alike = f"{FUSED}, compiled" if fast else PLAIN if plain else FUSED
        return Row(name, learner.network, step, alike)

    rows = [
        row(PLAIN, latte_of(), plain=True),
        row(FUSED, latte_of()),
        row("ours, factorised", ours_of("factorised")),
        row("ours, full", ours_of("full")),
    ]
    if compiling:
        rows += [
            row(f"{FUSED}, compiled", latte_of(), fast=True),
            row("ours, factorised, compiled", ours_of("factorised"), fast=True),
            row("ours, full, compiled", ours_of("full"), fast=True),
        ]
    return rows


def measure(
    network: str, shape: Shape, batch: int, rounds: int, *, compiling: bool = False
) -> list[str]:
    """Measure everything; return lines of a table."""
    rows = rows_of(network, shape, batch, compiling=compiling)
    times: dict[str, list[float]] = {row.name: [] for row in rows}
    for number in range(rounds + 2):
        for row in rows:
            one = timed(row.step)
            if number > 1:  # the first rounds warm up and compile
                times[row.name].append(one)
    peak, threads = gemm_peak(), torch.get_num_threads()
    lines = [
        f"Network {network}, {shape.tokens} tokens a video, batch {batch}, float32, "
        f"{threads} thread{'' if threads == 1 else 's'}; "
        f"{platform.processor() or platform.machine()}, load "
        f"{os.getloadavg()[0]:.1f}, torch {torch.__version__}; peak {peak / 1e9:.0f} GFLOP/s.",
        "",
        "| | weights | ms a step | plain Latte's time over it | Latte's alike over it | "
        "share of the peak | ms to sample a video |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        seconds = times[row.name]
        ratios = [
            statistics.median(a / b for a, b in zip(times[name], seconds, strict=True))
            for name in (PLAIN, row.alike)
        ]
        middle = statistics.median(seconds)
        weights = sum(p.numel() for p in row.network.parameters())
        share = sampled = ""
        if isinstance(row.network, VideoTransformer):
            share = f"{step_flops(row.network, batch) / middle / peak:.0%}"
            sampled = f"{1000 * sampling_time(row.network, batch):.0f}"
        cells = [f"{weights:,}", f"{1000 * middle:.1f}", *(f"{ratio:.2f}" for ratio in ratios)]
        lines.append(f"| {' | '.join([row.name, *cells, share, sampled])} |")
    if shape.side == 1:
        coded = 1000 * coding_time(batch)
        lines += ["", f"A video of 64 px is coded in {coded:.1f} ms (moments, one at a time)."]
    return lines


def main() -> None:
    """Measure and print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--network", default="mini")
    parser.add_argument("--patch", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--moments", action="store_true")
    parser.add_argument("--steps", type=int, nargs="+")
    parser.add_argument("--count", type=int, default=64)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    torch.manual_seed(0)
    if chosen.steps:
        lines = measure_steps(chosen.steps, chosen.count)
    else:
        side = (1, chosen.patch, chosen.patch)
        shape = Shape(1, 16, (4, 1, 1)) if chosen.moments else Shape(8, 8, side)
        if chosen.compile and (problem := why_not(torch.device("cpu"))) is not None:
            raise SystemExit(f"cannot compile here: {problem}")
        lines = measure(
            *(chosen.network, shape, chosen.batch, chosen.rounds), compiling=chosen.compile
        )
    text = "\n".join(lines) + "\n"
    print(text)
    if chosen.write:
        write_text(chosen.write, text)


if __name__ == "__main__":
    main()
