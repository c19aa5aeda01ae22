"""Training speed beside diffusers' Latte, a video diffusion transformer, measured interleaved.

    python benchmarks/video_model.py [--rounds 5] [--network mini] [--patch 4] [--batch 16] [--moments]
                                     [--threads 1] [--compile] [--write docs/tables/speed-video.md]
    python benchmarks/video_model.py --steps 1 2 5 10 20 50 [--count 64]
                                     [--write docs/tables/video-steps.md]

Both networks get the same latents: 32 frames of 8 × 8 with 8 channels; with `--moments` 32 vectors
of 16 values, four per token, as in the studies; concatenated with condition frames and a mask.
Tokens, blocks, width, heads, batch and precision are equal; a step is forward, backward and AdamW.
Latte alternates between attention in space and time; ours attends to the whole video (full), or
alternates as well (factorized). The reference is Latte in a plain loop with default AdamW. Ours
uses what our training
uses: fused AdamW and, in separate rows, a compiled step (`--compile`). Latte is measured with each of
these, too, to separate the network from the loop. Printed are:

* milliseconds per step, and the ratios of plain Latte's and of equally configured Latte's time to it:
  medians over interleaved rounds, so that a busy machine slows all;
* the share of the measured float32 matrix-product peak that our step reaches, counting linear
  layers and attention three times (forward, and backward twice);
* milliseconds to sample a video with 20 steps; with `--moments` also to encode a video of 64 px.

With one thread, CPU times of the process are reported, so waiting for other processes does not
count, but their effect on caches and clock does. The load of the machine is printed; do not quote
figures measured at a load above one without it.

`--steps` instead measures the velocity error of the embedded model by number of sampling steps, on
videos in range of a seed that no training uses.
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
from typing import cast

import torch
from torch import Tensor, nn

from sightline.io.atomic import write_text
from sightline.models.hub import quiet_libraries
from sightline.video_model.autoencoders.codec import encode_bytes
from sightline.video_model.compiling import why_not
from sightline.video_model.data import open_videos
from sightline.video_model.diffusion import draw_noise, make_schedule, sample
from sightline.video_model.files import find_codec
from sightline.video_model.learner import VideoObjective
from sightline.video_model.options import EMBEDDED, Attention, BuildOptions, TransformerOptions
from sightline.video_model.pipeline import load_known
from sightline.video_model.scoring import mean_of, score_model, spec_of
from sightline.video_model.transformer import VideoTransformer, first_frames

FRAMES, GIVEN = 32, 3
SAMPLING = 20

#: Worlds and seed of the sampling-step measurement.
WORLDS, SEED = ("uniform", "collision", "parabola"), 77


@dataclass(frozen=True)
class Shape:
    """Latent shape and patch.

    Attributes:
        side: rows and columns of latents.
        channels: channels of a latent.
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


def ours(network: str, shape: Shape, attention: Attention) -> VideoTransformer:
    """Build our transformer."""
    options = TransformerOptions(
        frames=FRAMES,
        height=shape.side,
        width=shape.side,
        channels=shape.channels,
        patch=shape.patch,
        size=network,
        attention=attention,
    )
    return VideoTransformer(options)


def latte(network: VideoTransformer) -> nn.Module:
    """Build diffusers' Latte with equal blocks, width, heads and tokens.

    It has no temporal patches: frames of a token become channels.
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
    """Latte with the same loss as ours."""

    def __init__(self, network: nn.Module, shape: Shape) -> None:
        super().__init__()
        self.network, self.time, self.side = network, shape.patch[0], shape.side
        self.gammas = make_schedule()

    def forward(self, video: Tensor, noise: Tensor, t: Tensor, _: None) -> Tensor:
        """Return the mean loss."""
        from sightline.video_model.diffusion import noisy_and_target, velocity_loss

        condition = first_frames(video, GIVEN)
        noisy, target = noisy_and_target(video, noise, t, self.gammas)
        mask = condition.given[:, None, :, None, None].to(noisy)
        mask = mask.expand(-1, 1, -1, self.side, self.side)
        seen = torch.cat([noisy, condition.video, mask], dim=1)
        if self.time > 1:
            seen = torch.unflatten(seen, 2, (-1, self.time)).transpose(2, 3).flatten(1, 2)
        caption = torch.zeros(len(seen), 1, 1)
        said = self.network(seen, timestep=t, encoder_hidden_states=caption).sample
        if self.time > 1:
            said = said.unflatten(1, (-1, self.time)).transpose(2, 3).flatten(2, 3)
        return velocity_loss(said, target, condition.given).mean()


def stepper(
    learner: nn.Module, batch: int, latents: tuple[int, ...], *, plain: bool = False
) -> Callable[[], None]:
    """Return a function that takes one training step, with default or fused AdamW."""
    optimizer = torch.optim.AdamW(learner.parameters(), lr=1e-4, fused=None if plain else True)
    generator = torch.Generator().manual_seed(0)
    shape = (batch, *latents)
    video, noise = (torch.randn(shape, generator=generator) for _ in range(2))
    t = torch.randint(0, 1000, (batch,), generator=generator)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        learner(video, noise, t, None).backward()
        optimizer.step()

    return step


def step_flops(network: VideoTransformer, batch: int) -> float:
    """Count the floating-point operations of a step: linear layers and attention, three times."""
    frames, rows, columns = network.options.grid
    size, tokens = network.options.build, frames * rows * columns
    seen = tokens if network.options.attention == "full" else (rows * columns + frames) / 2
    linear = 12 * size.width**2 + 2 * seen * size.width
    return 3 * 2 * batch * tokens * size.depth * linear


def gemm_peak(side: int = 1536) -> float:
    """Measure the peak rate of a float32 matrix product, in FLOP/s."""
    a, b = (torch.randn(side, side) for _ in range(2))
    return 2 * side**3 / min(timed(lambda: torch.mm(a, b)) for _ in range(6))


def timed(work: Callable[[], object]) -> float:
    """Return seconds: CPU time with one thread, wall time with several."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    begin = clock()
    work()
    return clock() - begin


def sampling_time(network: VideoTransformer, batch: int) -> float:
    """Return seconds to sample a video."""
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
    """Return seconds to encode a 64 px video by the embedded codec of moments."""
    codec, _ = find_codec(EMBEDDED)
    truths = open_videos("uniform", 64, count=batch)
    planes = [torch.from_numpy(truths.video(number))[None] for number in range(batch)]
    encode_bytes(codec, planes[0])
    return timed(lambda: [encode_bytes(codec, video) for video in planes]) / batch


def measure_steps(steps: Sequence[int], count: int) -> list[str]:
    """Measure the error of the embedded model by sampling steps; return table lines."""
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
        cells = [f"{mean_of(score_model(model, spec, steps=number)):.3f}" for spec in specs]
        lines.append(f"| {number} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


@dataclass(frozen=True)
class Row:
    """Measured configuration.

    Attributes:
        name: label in the table.
        network: Latte or our network.
        step: takes one training step.
        alike: label of Latte's row with the same settings.
    """

    name: str
    network: nn.Module
    step: Callable[[], None]
    alike: str


PLAIN, FUSED = "Latte (diffusers), plain loop", "Latte, fused AdamW"


def rows_of(network: str, shape: Shape, batch: int, *, compiling: bool) -> list[Row]:
    """Return all configurations, each with its own network."""

    def ours_of(kind: Attention) -> VideoObjective:
        return VideoObjective(ours(network, shape, kind), GIVEN, BuildOptions())

    def latte_of() -> LatteLearner:
        return LatteLearner(latte(ours(network, shape, "full")), shape)

    def row(
        name: str,
        learner: VideoObjective | LatteLearner,
        *,
        plain: bool = False,
        fast: bool = False,
    ) -> Row:
        run = cast(nn.Module, torch.compile(learner, dynamic=False)) if fast else learner
        step = stepper(run, batch, shape.latents, plain=plain)
        alike = f"{FUSED}, compiled" if fast else PLAIN if plain else FUSED
        return Row(name, learner.network, step, alike)

    rows = [
        row(PLAIN, latte_of(), plain=True),
        row(FUSED, latte_of()),
        row("ours, factorized", ours_of("factorized")),
        row("ours, full", ours_of("full")),
    ]
    if compiling:
        rows += [
            row(f"{FUSED}, compiled", latte_of(), fast=True),
            row("ours, factorized, compiled", ours_of("factorized"), fast=True),
            row("ours, full, compiled", ours_of("full"), fast=True),
        ]
    return rows


def measure(
    network: str, shape: Shape, batch: int, rounds: int, *, compiling: bool = False
) -> list[str]:
    """Measure all configurations; return table lines."""
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
    """Run the benchmark, print the table, and write it if requested."""
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
