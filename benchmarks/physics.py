"""Making videos side by side with the released generator's method: the same run, interleaved.

    python benchmarks/physics.py [--rounds 5] [--write docs/tables/speed-physics.md]

The method of the reference is written out here: for every video a Box2D world with 320 sub-steps
(`Box2D` of PyPI), then a disc over whole frames of 128 px in NumPy; with storage, an mp4 by FFmpeg's
defaults for each into HDF5. Ours makes the same kind of samples through the package's front door. What
is printed:

* simulate and render, one core: ratio of the times for a video;
* the same with storage in HDF5: mp4 (theirs) against run-length coded videos (ours), and mp4 (ours);
* two workers against one, processes started anew each time; beside it what two programs gain that know
  nothing of each other, each making half of the videos into a file of its own: cores share their memory
  and their clock, so this is about the most that two workers can;
* parsing and all laws: videos per second.

Ratios are medians over rounds of times taken right after each other, so that a busy machine slows both;
the load of the machine is printed, and a figure taken at a load above one should not be quoted.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sightline.physics.types import Samples

SCENARIOS = ("uniform", "collision", "parabola")
SIZE = 128
FRAMES, STRIDE, SUB_STEP = 32, 10, 0.01
COLORS = np.array([(255, 0, 0), (0, 0, 255)])


def reference_motion(
    radii: np.ndarray, starts: np.ndarray, velocities: np.ndarray, gravity: float
) -> np.ndarray:
    """Step a Box2D world and return (32, balls, 2) positions."""
    from Box2D import b2World

    world = b2World(gravity=(0, gravity), doSleep=False)
    balls = []
    for radius, start, velocity in zip(radii, starts, velocities, strict=True):
        place, speed = tuple(map(float, start)), tuple(map(float, velocity))
        ball = world.CreateDynamicBody(position=place, linearVelocity=speed)
        ball.CreateCircleFixture(radius=float(radius), density=1, restitution=1.0)
        balls.append(ball)
    states = []
    for step in range(FRAMES * STRIDE):
        world.Step(SUB_STEP, 15, 20)
        if step % STRIDE == 0:
            states.append([np.array(ball.position) for ball in balls])
    return np.array(states)


def reference_frames(positions: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Draw soft discs over whole frames: (32, 128, 128, 3) uint8."""
    x, y = np.meshgrid(np.linspace(0, 1, SIZE), np.linspace(0, 1, SIZE))
    frames = np.ones((len(positions), SIZE, SIZE, 3), np.uint8) * 255
    for ball, radius in enumerate(radii):
        right = x - positions[:, ball, 0, None, None] / 10
        up = y - positions[:, ball, 1, None, None] / 10
        square = (radius / 10) ** 2
        mask = np.clip((square - (right**2 + up**2)) / (square * 0.03), 0, 1)[..., None]
        frames = (1 - mask) * frames + mask * COLORS[ball]
    return frames.astype(np.uint8)[:, ::-1]


def reference_videos(scenario: str, samples: Samples) -> list[np.ndarray]:
    """Make the videos of samples as the released generator does."""
    gravity = -2.5 if scenario == "parabola" else 0.0
    videos = []
    for motion in (samples[index] for index in range(len(samples))):
        positions = reference_motion(
            motion.sizes, motion.positions[0], motion.velocities[0], gravity
        )
        videos.append(reference_frames(positions, motion.sizes))
    return videos


def reference_mp4(frames: np.ndarray) -> np.ndarray:
    """Encode a video with FFmpeg's defaults, as imageio does."""
    import av

    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width = stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1
        for frame in frames:
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    return np.frombuffer(buffer.getvalue(), np.uint8)


def reference_file(scenario: str, samples: Samples, path: Path) -> None:
    """Make videos and store them as one shard of the reference."""
    import h5py

    videos = reference_videos(scenario, samples)
    with h5py.File(path, "w") as file:
        file["position_streams"] = samples.positions
        file["init_streams"] = samples.init
        streams = file.create_dataset(
            "video_streams", (len(videos),), h5py.vlen_dtype(np.dtype("uint8"))
        )
        for index, frames in enumerate(videos):
            streams[index] = reference_mp4(frames)


def our_videos(scenario: str, count: int) -> None:
    """Simulate and render; each video is whole in memory before the next."""
    from sightline.physics.rendering import Canvas
    from sightline.physics.worlds.simulation import sample

    samples = sample(scenario, count, mode="exact")
    canvas = Canvas(SIZE)
    for index in range(count):
        canvas.paint(samples[index])


def our_file(scenario: str, count: int, path: Path, workers: int = 1, video: str = "rle") -> None:
    """Simulate, render and store."""
    from sightline.physics.datasets.making import iter_make_dataset
    from sightline.physics.datasets.spec import DataSpec

    spec = DataSpec(scenario, count, size=SIZE, video=video)
    for _ in iter_make_dataset(spec, path, workers=workers, force=True):
        pass


def interleaved(
    contenders: dict[str, Callable[[], object]], rounds: int, warm_up: int = 1
) -> dict[str, list[float]]:
    """Time each contender once per round, in turn; rounds to warm up do not count."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(warm_up + rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            if number >= warm_up:
                times[name].append(time.perf_counter() - start)
    return times


def against_reference(
    scenario: str, scratch: Path, rounds: int, few: int, many: int
) -> dict[str, float]:
    """Return seconds for a video, and ratios to the reference, of making and of storing."""
    from sightline.physics.worlds.simulation import sample

    samples = sample(scenario, few)
    theirs, ours, mp4s = scratch / "theirs.h5", scratch / "ours.h5", scratch / "mp4.h5"
    times = interleaved(
        {
            "reference": lambda: reference_videos(scenario, samples),
            "ours": lambda: our_videos(scenario, many),
            "reference stored": lambda: reference_file(scenario, samples, theirs),
            "ours stored": lambda: our_file(scenario, many, ours),
            "ours as mp4": lambda: our_file(scenario, few, mp4s, video="standard"),
        },
        rounds,
    )
    counts = {"ours": many, "ours stored": many}
    each = {name: [t / counts.get(name, few) for t in taken] for name, taken in times.items()}

    def ratio(peer: str, name: str) -> float:
        return statistics.median(a / b for a, b in zip(each[peer], each[name], strict=True))

    return {
        **{name: statistics.median(taken) for name, taken in each.items()},
        "made": ratio("reference", "ours"),
        "stored": ratio("reference stored", "ours stored"),
        "mp4": ratio("reference stored", "ours as mp4"),
    }


def two_programs(path: Path, count: int, video: str) -> None:
    """Let two processes that share nothing make half of the videos each, into files of their own."""
    context = multiprocessing.get_context("spawn")
    halves = [path.with_stem(f"{path.stem}-{half}") for half in "ab"]
    running = [
        context.Process(target=our_file, args=("uniform", count // 2, half, 1, video))
        for half in halves
    ]
    for process in running:
        process.start()
    for process in running:
        process.join()
        assert process.exitcode == 0
    for half in halves:
        half.unlink()


def two_workers(scratch: Path, rounds: int, count: int) -> dict[str, tuple[float, float]]:
    """Return how much faster than one are two workers, and two programs; their start included."""
    counts = {"rle": count, "standard": count // 50}
    found = {}
    for name, videos in counts.items():
        path = scratch / f"{name}.h5"
        times = interleaved(
            {
                "one": partial(our_file, "uniform", videos, path, 1, name),
                "two": partial(our_file, "uniform", videos, path, 2, name),
                "programs": partial(two_programs, path, videos, name),
            },
            rounds,
            warm_up=0,
        )
        path.unlink()

        def over_one(other: str, times: dict[str, list[float]] = times) -> float:
            return statistics.median(a / b for a, b in zip(times["one"], times[other], strict=True))

        found[name] = over_one("two"), over_one("programs")
    return found


def judged_per_second(rounds: int, count: int) -> float:
    """Return how many videos a second are parsed and judged by all laws."""
    from sightline.physics.laws import check_laws
    from sightline.physics.rendering import render_samples
    from sightline.physics.tracking import parse, prior_of
    from sightline.physics.worlds.simulation import sample

    work = []
    for scenario in SCENARIOS:
        samples = sample(scenario, count // len(SCENARIOS))
        videos = render_samples(samples, SIZE)
        work += [(scenario, samples[index], video) for index, video in enumerate(videos)]

    def run() -> None:
        for scenario, motion, frames in work:
            check_laws(parse(frames, prior=prior_of(motion)), motion, scenario)

    times = interleaved({"laws": run}, rounds)["laws"]
    return len(work) / statistics.median(times)


def table(
    found: dict[str, dict[str, float]], workers: dict[str, tuple[float, float]], laws: float
) -> str:
    """Format the findings as Markdown."""
    from importlib.metadata import version

    versions = ", ".join(f"{name} {version(name)}" for name in ("Box2D", "numpy", "numba", "h5py"))
    load = os.getloadavg()[0]
    rows = ["| | aim | " + " | ".join(found) + " |", "|---|---|" + "---|" * len(found)]

    def row(label: str, aim: str, form: Callable[[dict[str, float]], str]) -> None:
        rows.append(f"| {label} | {aim} | " + " | ".join(form(f) for f in found.values()) + " |")

    row("simulate and render", "≥ 200×", lambda f: f"{f['made']:.0f}×")
    row("… one video, reference", "", lambda f: f"{f['reference'] * 1e3:.1f} ms")
    row("… one video, ours", "", lambda f: f"{f['ours'] * 1e6:.0f} µs")
    row(
        "and store: ours lossless (run-length coded), reference mp4 in HDF5",
        "≥ 80×",
        lambda f: f"{f['stored']:.0f}×",
    )
    row("… one video, reference", "", lambda f: f"{f['reference stored'] * 1e3:.1f} ms")
    row("… one video, ours", "", lambda f: f"{f['ours stored'] * 1e6:.0f} µs")
    row("and store: both mp4 in HDF5", "", lambda f: f"{f['mp4']:.1f}×")
    return "\n".join(
        [
            f"32 frames of {SIZE} px, speed over the released generator's method, one core; {versions}"
            f", {platform.machine()}, {os.cpu_count()} cores, load {load:.1f}.",
            "",
            *rows,
            "",
            f"Two workers over one (aim ≥ 1.8×): {workers['rle'][0]:.2f}× run-length coded, "
            f"{workers['standard'][0]:.2f}× as mp4; two programs that share nothing: "
            f"{workers['rle'][1]:.2f}× and {workers['standard'][1]:.2f}×.",
            f"Parsing and all laws, one core (aim ≥ 400): {laws:.0f} videos/s.",
        ]
    )


def main() -> None:
    """Measure, print the table, and write it if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--few", type=int, default=20, help="videos of the slow ones in a round")
    parser.add_argument("--many", type=int, default=2000, help="videos of the fast ones in a round")
    parser.add_argument("--shared", type=int, default=200_000, help="videos for two workers")
    parser.add_argument("--judged", type=int, default=300, help="videos for all laws")
    parser.add_argument("--write", type=Path, help="Markdown file to write the table to")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        found = {
            scenario: against_reference(
                scenario, scratch, options.rounds, options.few, options.many
            )
            for scenario in SCENARIOS
        }
        workers = two_workers(scratch, min(options.rounds, 2), options.shared)
    laws = judged_per_second(options.rounds, options.judged)
    text = table(found, workers, laws) + "\n"
    print(text, end="")
    if options.write:
        from sightline.io.atomic import write_text

        write_text(options.write, text)


if __name__ == "__main__":
    main()
