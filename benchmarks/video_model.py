"""Training steps side by side with diffusers' Latte, a video diffusion transformer: interleaved.

    python benchmarks/video_model.py [--rounds 5] [--network mini] [--patch 4] [--batch 16]
                                     [--write docs/tables/speed-video.md]

Both get the same latents (32 frames of 8 × 8, 8 channels, and as many given frames and a mask beside
the noise), the same patches and so the same tokens, as many blocks of the same width and heads, batch,
precision and optimiser; a step is forward, backward and AdamW. Latte's blocks take turns between space
and time; ours look at the whole video (full), or take turns as well (factorised). What is printed:

* milliseconds of a step, and the ratio of Latte's to ours: medians over rounds of times taken one after
  the other, so that a busy machine slows all;
* the share of the measured peak of float32 matrix products that our step reaches, counting the products
  of linear layers and attention three times (forward, and backward twice);
* milliseconds for a video from noise, with 20 steps of sampling.

The load of the machine is printed; a figure taken at a load above one should not be quoted.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from sightline.files.atomic import write_text
from sightline.video_model.diffusion.draws import draw_noise
from sightline.video_model.diffusion.sampling import sample
from sightline.video_model.diffusion.schedule import make_schedule
from sightline.video_model.learner import Learner
from sightline.video_model.options import BuildOptions
from sightline.video_model.transformer.condition import first_frames
from sightline.video_model.transformer.network import VideoTransformer
from sightline.video_model.transformer.options import TransformerOptions
from sightline.weights.quiet import quiet_libraries

FRAMES, SIDE, CHANNELS, GIVEN = 32, 8, 8, 3
SAMPLING = 20


def ours(network: str, patch: int, attention: str) -> VideoTransformer:
    """Build our transformer."""
    options = TransformerOptions(
        *(FRAMES, SIDE, SIDE, CHANNELS, (1, patch, patch), network), attention=attention
    )
    return VideoTransformer(options)


def latte(network: VideoTransformer) -> nn.Module:
    """Build diffusers' Latte with as many blocks, of the same width and heads, on the same tokens."""
    with quiet_libraries():
        from diffusers import LatteTransformer3DModel
    size = network.options.build
    return LatteTransformer3DModel(
        num_attention_heads=size.heads,
        attention_head_dim=size.width // size.heads,
        in_channels=2 * CHANNELS + 1,
        out_channels=CHANNELS,
        num_layers=size.depth // 2,  # pairs of a block in space and one in time
        attention_bias=True,
        sample_size=SIDE,
        patch_size=network.options.patch[1],
        activation_fn="gelu",
        num_embeds_ada_norm=1000,
        norm_type="ada_norm_single",
        norm_elementwise_affine=False,
        caption_channels=1,  # a caption of one number, for it wants one; no block looks at it
        video_length=FRAMES,
    )


class LatteLearner(nn.Module):
    """Latte and the same loss as ours."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        self.gammas = make_schedule()

    def forward(self, video: Tensor, noise: Tensor, t: Tensor, _: None) -> Tensor:
        """Return the mean loss."""
        from sightline.video_model.diffusion.loss import noisy_and_target, velocity_loss

        condition = first_frames(video, GIVEN)
        noisy, target = noisy_and_target(video, noise, t, self.gammas)
        mask = condition.given[:, None, :, None, None].to(noisy).expand(-1, 1, -1, SIDE, SIDE)
        seen = torch.cat([noisy, condition.video, mask], dim=1)
        caption = torch.zeros(len(seen), 1, 1)
        said = self.network(seen, timestep=t, encoder_hidden_states=caption).sample
        return velocity_loss(said, target, condition.given).mean()


def stepper(learner: nn.Module, batch: int) -> Callable[[], None]:
    """Return a function that takes one training step."""
    optimiser = torch.optim.AdamW(learner.parameters(), lr=1e-4)
    generator = torch.Generator().manual_seed(0)
    shape = (batch, CHANNELS, FRAMES, SIDE, SIDE)
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
    best = float("inf")
    for _ in range(6):
        begin = time.perf_counter()
        torch.mm(a, b)
        best = min(best, time.perf_counter() - begin)
    return 2 * side**3 / best


def timed(work: Callable[[], object]) -> float:
    """Return seconds."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


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


def measure(network: str, patch: int, batch: int, rounds: int) -> list[str]:
    """Measure everything; return lines of a table."""
    full, factorised = (ours(network, patch, kind) for kind in ("full", "factorised"))
    theirs = latte(full)
    build = BuildOptions()
    steps = {
        "Latte (diffusers)": stepper(LatteLearner(theirs), batch),
        "ours, factorised": stepper(Learner(factorised, GIVEN, build), batch),
        "ours, full": stepper(Learner(full, GIVEN, build), batch),
    }
    networks = dict(zip(steps, (theirs, factorised, full), strict=True))
    times: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(rounds + 1):
        for name, step in steps.items():
            seconds = timed(step)
            if number:  # the first round warms up
                times[name].append(seconds)
    peak = gemm_peak()
    lines = [
        f"Network {network}, {FRAMES} frames of {(SIDE // patch) ** 2} tokens, batch {batch}, float32, "
        f"{torch.get_num_threads()} thread(s); {platform.processor() or platform.machine()}, load "
        f"{os.getloadavg()[0]:.1f}, torch {torch.__version__}; peak {peak / 1e9:.0f} GFLOP/s.",
        "",
        "| | weights | ms a step | Latte's time over it | share of the peak | ms to sample a video |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, seconds in times.items():
        pairs = zip(times["Latte (diffusers)"], seconds, strict=True)
        ratio = statistics.median(a / b for a, b in pairs)
        middle, net = statistics.median(seconds), networks[name]
        weights = sum(p.numel() for p in net.parameters())
        share = sampled = ""
        if isinstance(net, VideoTransformer):
            share = f"{step_flops(net, batch) / middle / peak:.0%}"
            sampled = f"{1000 * sampling_time(net, batch):.0f}"
        row = [name, f"{weights:,}", f"{1000 * middle:.0f}", f"{ratio:.2f}", share, sampled]
        lines.append(f"| {' | '.join(row)} |")
    return lines


def main() -> None:
    """Measure and print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--network", default="mini")
    parser.add_argument("--patch", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    torch.manual_seed(0)
    text = "\n".join(measure(chosen.network, chosen.patch, chosen.batch, chosen.rounds)) + "\n"
    print(text)
    if chosen.write:
        write_text(chosen.write, text)


if __name__ == "__main__":
    main()
