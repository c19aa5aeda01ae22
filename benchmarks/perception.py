"""Quality of perception tokens: the codebook, and VLMs with and without intermediate steps.

    python benchmarks/perception.py codebook --data DIR [--codebook FILE] [--write FILE]
    python benchmarks/perception.py vlms --data DIR --chain FILE --direct FILE [--write FILE]
    python benchmarks/perception.py curve --chain SAMPLES=FILE … --direct SAMPLES=FILE … [--write FILE]

DIR holds `photos` and `rgbd`. All test images are excluded from training:

* photographs: held-out photos; the ground truth is the depth model's own map, as in the paper, so its
  row is the reference and not a measurement;
* measured: the images of `rgbd` with measured depth;
* rendered: new scenes with exact depth, and new collections with exact counts.

`curve` evaluates VLMs after increasing numbers of training samples on the rendered scenes.

Points are placed by HardBLINK's rule. Accuracies are in percent; the last line of a table gives the
number of questions and the width of the 95 % interval of its mean.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from sightline.depth.estimator import DepthEstimator, load
from sightline.io.atomic import write_text
from sightline.io.rgbd import list_rgbd, read_sample
from sightline.models.cache import file_sha256
from sightline.perception.codebook import DepthTokenizer
from sightline.perception.codebook_training import COUNTS, CodebookScore, score_codebook
from sightline.perception.evaluation import (
    LETTERS,
    REPLACEMENTS,
    BenchmarkQuestion,
    EvaluationResult,
    Proportion,
    evaluate_depth_model,
    evaluate_vlm,
    format_replacements,
    replace_maps,
)
from sightline.perception.questions import counting, depth
from sightline.perception.questions.count_sets import AnnotatedImage, ask_counts, things_of
from sightline.perception.questions.counting import plural
from sightline.perception.questions.hardblink import HARD, squash
from sightline.perception.questions.sets import (
    DepthImage,
    MarkedImage,
    ask_points,
    depth_image,
    held_out,
)
from sightline.perception.vlm.model import PerceptionVLM, load_vlm
from sightline.scenes.generate import find_instances, make_scene
from sightline.scenes.kinds.collection import COUNTED
from sightline.types import DepthMap, Kind

#: Random seed of the rendered test scenes; training uses others.
SEED = 7001
#: Maximum number of questions with the same count.
MOST_OF_A_COUNT = 40
BATCH = 64
#: Accuracy of AURORA's codebook on its own images, 2 to 5 points, in percent.
PAPER = (96.7, 94.3, 95.2, 96.7)


def measured(folder: Path) -> Iterator[DepthImage]:
    """Yield images with dense measured depth."""
    for number, row in enumerate(list_rgbd(folder)):
        truth = read_sample(folder, row)
        if truth.dense:
            found = DepthMap(truth.disparity, Kind.RELATIVE_DISPARITY, truth.known)
            yield depth_image(f"rgbd{number:03d}", truth.pixels, found)


def rendered(count: int) -> Iterator[DepthImage]:
    """Render new scenes with exact depth."""
    for index in range(count):
        frame = make_scene(SEED, index, width=320, height=256).frame
        yield depth_image(f"scene{index:04d}", frame.pixels, frame.depth)


def collections(count: int) -> Iterator[AnnotatedImage]:
    """Render new scenes with objects to count."""
    for index in range(count):
        frame = make_scene(SEED, index, width=320, height=256, kinds=["collection"]).frame
        things = find_instances(frame.instance, frame.depth.values, frame.kinds)
        rows = [(thing.kind, thing.box, thing.pixels) for thing in things]
        yield AnnotatedImage(f"scene{index:04d}", frame.pixels, things_of(320, 256, rows))


class FeatureCacheByQuestion:
    """Cached vision-tower features of the images of questions.

    Args:
        vlm: model whose vision tower is used; models compared with it share the tower.
    """

    def __init__(self, vlm: PerceptionVLM) -> None:
        self._vlm = vlm
        self._seen: dict[str, np.ndarray] = {}

    def __call__(self, items: Sequence[BenchmarkQuestion]) -> list[np.ndarray]:
        """Return the features of the images of some questions."""
        new = [item for item in items if item.name not in self._seen]
        if new:
            shown = self._vlm.image_processor.look([squash(item.read()) for item in new])
            with torch.inference_mode():
                seen = self._vlm.model.model.vision_tower.look(shown).numpy()
            self._seen |= {item.name: look for item, look in zip(new, seen, strict=True)}
        return [self._seen[item.name] for item in items]


class CachedEstimator:
    """Depth estimator with a cache for repeated images.

    Args:
        estimator: depth estimator.
    """

    def __init__(self, estimator: DepthEstimator) -> None:
        self._estimator = estimator
        self._maps: dict[int, DepthMap] = {}

    def __call__(self, pixels: np.ndarray) -> DepthMap:
        """Return the depth of an image; the caller must keep its array."""
        if id(pixels) not in self._maps:
            self._maps[id(pixels)] = self._estimator.infer(pixels)
        return self._maps[id(pixels)]


def questions(
    pictures: Sequence[DepthImage], seeds: Iterable[int] = (0,)
) -> list[BenchmarkQuestion]:
    """Make questions about 2, 3, 4 and 5 points of every image, for each seed."""
    items = []
    for seed in seeds:
        for count in COUNTS:
            for asked in ask_points(pictures, [count], rule=HARD, seed=seed):
                items.append(_item(asked, seed))
    return items


def _item(asked: MarkedImage, seed: int) -> BenchmarkQuestion:
    count = len(asked.points)
    return BenchmarkQuestion(
        f"{asked.seen.name}-{count}-{seed}",
        "depth",
        depth.NEAREST,
        (),
        LETTERS.index(asked.answer),
        asked.picture,
        {letter: (p.x, p.y) for letter, p in asked.points.items()},
        f"{count} points",
    )


def count_questions(pictures: Sequence[AnnotatedImage]) -> list[BenchmarkQuestion]:
    """Make counting questions with answers from none to ten."""
    counted = [maker(np.random.default_rng(0)).kind for maker in COUNTED]
    kinds = sorted(kind for kind in counted)
    pictures = [_only(one, kinds) for one in pictures]
    items = []
    for one, kind in ask_counts(
        pictures, kinds, most_of_a_count=MOST_OF_A_COUNT, any_kind=True, seed=1
    ):
        number = len(one.things.boxes.get(kind, ()))
        if number <= 10:
            ask = counting.ASK_COUNT.format(plural(kind))
            choices = tuple(str(k) for k in range(11))
            read = partial(_pixels, one)
            items.append(BenchmarkQuestion(one.name, "count", ask, choices, number, read))
    return items


def _pixels(one: AnnotatedImage) -> NDArray[np.uint8]:
    return one.pixels


def _only(one: AnnotatedImage, kinds: Sequence[str]) -> AnnotatedImage:
    """Remove objects at the border: hedges and walls are not counted."""
    boxes = {kind: some for kind, some in one.things.boxes.items() if kind in kinds}
    return dataclasses.replace(one, things=dataclasses.replace(one.things, boxes=boxes))


def row(label: str, score: EvaluationResult | None, what: str = "right") -> str:
    """Format a table row: accuracy for each number of points, and the mean over them."""
    shares = [] if score is None else [score.share(what, f"{count} points") for count in COUNTS]
    cells = [100 * share.value for share in shares if share is not None]
    if len(cells) < len(COUNTS):
        return f"| {label} | – | – | – | – | – |"
    shown = [f"{cell:.1f}" for cell in cells]
    return f"| {label} | {' | '.join(shown)} | {np.mean(cells):.1f} |"


def depth_table(
    title: str,
    items: list[BenchmarkQuestion],
    chain: PerceptionVLM,
    plain: PerceptionVLM,
    tokenizer: DepthTokenizer,
    estimator: DepthEstimator,
    clean: dict[str, np.ndarray],
) -> str:
    """Evaluate all models on one set of questions about points."""
    guess = [100 / count for count in COUNTS]
    unmarked = [_without_marks(item, clean) for item in items]
    eyes = FeatureCacheByQuestion(chain)
    full = evaluate_vlm(items, chain, tokenizer, batch=BATCH, looks=eyes)
    lines = [
        f"{title}: {len(items)} questions, per cent right.",
        "",
        "| | 2 points | 3 | 4 | 5 | mean |",
        "|---|---|---|---|---|---|",
        f"| random | {' | '.join(f'{g:.1f}' for g in guess)} | {np.mean(guess):.1f} |",
        row("direct answers, a model of equal size", evaluate_vlm(
            items, plain, None, steps=False, batch=BATCH, looks=eyes
        )),
        row("depth step only", evaluate_vlm(
            items, chain, tokenizer, steps=depth.MAP_STEP, batch=BATCH, looks=eyes
        )),
        row("full chain", full),
        row("full chain, verified", full, "verified"),
        row("its decoded maps", full, "perceived"),
        row(f"the depth model itself ({estimator.source})", evaluate_depth_model(
            unmarked, CachedEstimator(estimator)
        )),
        "",
        f"95 % interval of a share of all questions: ± {100 * _half(len(items)):.1f}.",
    ]  # fmt: skip
    return "\n".join(lines)


def _without_marks(item: BenchmarkQuestion, clean: dict[str, np.ndarray]) -> BenchmarkQuestion:
    """Give the depth model the image without marks."""
    pixels = clean[item.name.split("-")[0]]
    return dataclasses.replace(item, read=lambda: pixels)


def _half(count: int) -> float:
    low, high = Proportion(count // 2, count).interval
    return (high - low) / 2


def count_table(items: list[BenchmarkQuestion], chain: PerceptionVLM, plain: PerceptionVLM) -> str:
    """Compare counting with and without boxes."""
    eyes = FeatureCacheByQuestion(chain)
    full = evaluate_vlm(items, chain, None, batch=BATCH, looks=eyes)
    bare = evaluate_vlm(items, plain, None, steps=False, batch=BATCH, looks=eyes)
    usual = max(Counter(item.answer for item in items).values()) / len(items)

    def share(score: EvaluationResult, what: str) -> str:
        found = score.share(what)
        return "–" if found is None else f"{100 * found.value:.1f}"

    return "\n".join(
        [
            f"How many, rendered collections: {len(items)} questions, 0 to 10 of a kind; "
            "per cent right.",
            "",
            "| the most frequent number | direct | chain with boxes | verified | its boxes |",
            "|---|---|---|---|---|",
            f"| {100 * usual:.1f} | {share(bare, 'right')} | {share(full, 'right')} | "
            f"{share(full, 'verified')} | {share(full, 'perceived')} |",
            "",
            f"95 % interval: ± {100 * _half(len(items)):.1f}.",
        ]
    )


def codebook_table(name: str, found: CodebookScore, milliseconds: float) -> str:
    """Format the scores of the codebook."""
    ours = " | ".join(f"{100 * found.order[c].value:.1f}" for c in COUNTS)
    asked = ", ".join(str(found.order[c].asked) for c in COUNTS)
    return "\n".join(
        [
            f"Codebook {name} on {found.pictures} photographs kept out of training; HardBLINK's rule, "
            f"{asked} questions.",
            "",
            "| order of points, per cent right | 2 points | 3 | 4 | 5 |",
            "|---|---|---|---|---|",
            f"| read from decoded maps | {ours} |",
            f"| AURORA's upper bound, its pictures | {' | '.join(map(str, PAPER))} |",
            "",
            f"Mean absolute error of decoded maps {100 * found.error:.1f} % of the range; "
            f"{100 * found.alive:.0f} % of the codes in use; encoding takes {milliseconds:.1f} ms on "
            "one core (aim ≤ 15).",
        ]
    )


def codebook(options: argparse.Namespace) -> Iterator[str]:
    """Evaluate the codebook."""
    tokenizer = DepthTokenizer(options.codebook, threads=1)
    seen = list(held_out(options.data / "photos", load("small")))
    found = score_codebook(tokenizer.encode, tokenizer.decode, seen, seeds=range(4))
    shown = seen[0].values
    times = []
    for _ in range(30):
        start = time.perf_counter()
        tokenizer.encode(shown)
        times.append(time.perf_counter() - start)
    name = f"{Path(str(options.codebook)).stem}@{tokenizer.sha256[:12]}"
    yield codebook_table(name, found, 1000 * float(np.median(times)))


def vlms(options: argparse.Namespace) -> Iterator[str]:
    """Evaluate VLMs, one table at a time."""
    tokenizer, estimator = DepthTokenizer(options.codebook), load("small")
    (chain_file,), (plain_file,) = options.chain, options.direct
    chain, plain = load_vlm(chain_file), load_vlm(plain_file)
    yield f"Chain {_file(chain_file)}, direct {_file(plain_file)}."

    def table(title: str, pictures: Iterable[DepthImage], seeds: Sequence[int] = (0,)) -> str:
        seen = list(pictures)
        clean = {one.name: one.pixels for one in seen}
        items = questions(seen, seeds)
        return depth_table(title, items, chain, plain, tokenizer, estimator, clean)

    yield table("Rendered scenes", rendered(options.scenes))
    if chain.counts:
        yield count_table(count_questions(list(collections(options.collections))), chain, plain)
    photos = held_out(options.data / "photos", estimator)
    yield table("Photographs kept out of training", photos, (0, 1))
    yield table("Measured depth", measured(options.data / "rgbd"))


def curve(options: argparse.Namespace) -> Iterator[str]:
    """Evaluate VLMs by number of training samples, on rendered scenes."""
    tokenizer = DepthTokenizer(options.codebook)
    items = questions(list(rendered(options.scenes)))
    found: dict[str, dict[int, PerceptionVLM]] = {
        how: {int(count): load_vlm(path) for count, _, path in (w.partition("=") for w in words)}
        for how, words in (("chain", options.chain), ("direct", options.direct))
    }
    eyes = FeatureCacheByQuestion(next(iter(found["chain"].values())))
    lines = [
        f"Rendered scenes: {len(items)} questions about 2 to 5 points, per cent right after so many "
        "samples.",
        "",
        "| samples | direct | chain: words | chain: verified |",
        "|---|---|---|---|",
    ]
    for samples in sorted({*found["chain"], *found["direct"]}):
        cells = ["–", "–", "–"]
        if samples in found["direct"]:
            plain = found["direct"][samples]
            bare = evaluate_vlm(items, plain, None, steps=False, batch=BATCH, looks=eyes)
            cells[0] = _mean(bare, "right")
        if samples in found["chain"]:
            full = evaluate_vlm(items, found["chain"][samples], tokenizer, batch=BATCH, looks=eyes)
            cells[1:] = _mean(full, "right"), _mean(full, "verified")
        lines.append(f"| {samples:,} | {' | '.join(cells)} |")
    yield "\n".join(lines)


def replace(options: argparse.Namespace) -> Iterator[str]:
    """Run the token-replacement test on photographs kept out of training and on rendered scenes."""
    tokenizer, estimator = DepthTokenizer(options.codebook), load("small")
    (chain_file,) = options.chain
    chain = load_vlm(chain_file)
    photos = list(islice(held_out(options.data / "photos", estimator), options.photos))
    scenes = list(rendered(options.scenes))
    for title, seen in (("Photographs kept out of training", photos), ("Rendered scenes", scenes)):
        if not seen:
            continue
        items = questions(seen)
        shown = {item.name: seen_.values for item in items for seen_ in seen
                 if item.name.startswith(f"{seen_.name}-")}  # fmt: skip
        found = replace_maps(
            items,
            chain,
            tokenizer,
            truth=_TruthInOrder([shown[item.name] for item in items]),
            batch=BATCH,
            looks=FeatureCacheByQuestion(chain),
        )
        yield "\n".join([f"{title}.", "", *format_replacements(found, REPLACEMENTS)])


class _TruthInOrder:
    """Return the known depth of the images of questions, in their order.

    Args:
        values: (336, 336) disparity of each image, near is 255.
    """

    def __init__(self, values: Sequence[NDArray[np.uint8]]) -> None:
        self._values = iter(values)

    def __call__(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:  # noqa: ARG002
        """Return the depth of the next image."""
        return next(self._values)


def _mean(score: EvaluationResult, what: str) -> str:
    """Return the mean over 2, 3, 4 and 5 points, as in the tables."""
    return row("", score, what).rsplit("|", 2)[1].strip()


def _file(path: str) -> str:
    """Return the short checksum of a file."""
    return f"`{file_sha256(Path(path))[:12]}`"


COMMANDS = {"codebook": codebook, "vlms": vlms, "curve": curve, "replace": replace}


def main() -> None:
    """Run the benchmark, print the tables, and write them if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=tuple(COMMANDS))
    parser.add_argument("--data", type=Path, help="folder with photos and rgbd")
    parser.add_argument("--codebook", default="codebook")
    parser.add_argument("--chain", nargs="+", default=[], help="VLM with steps")
    parser.add_argument("--direct", nargs="+", default=[], help="VLM trained on answers alone")
    parser.add_argument("--scenes", type=int, default=130, help="rendered test scenes")
    parser.add_argument("--photos", type=int, default=67, help="photographs of `replace`")
    parser.add_argument("--collections", type=int, default=360, help="scenes with objects to count")
    parser.add_argument("--write", type=Path, help="Markdown file to write the tables to")
    options = parser.parse_args()
    if options.what == "replace" and not options.chain:
        parser.error("replace needs --chain")
    if options.what in ("vlms", "curve") and not (options.chain and options.direct):
        parser.error(f"{options.what} needs --chain and --direct")
    if options.what != "curve" and options.data is None:
        parser.error(f"{options.what} needs --data")
    tables: list[str] = []
    for table in COMMANDS[options.what](options):
        print(table, end="\n\n", flush=True)
        tables.append(table)
        if options.write:
            write_text(options.write, "\n\n".join(tables) + "\n")


if __name__ == "__main__":
    main()
