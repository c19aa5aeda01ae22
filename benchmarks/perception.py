"""How good perception tokens are: the codebook, and speakers with and without steps.

    python benchmarks/perception.py codebook --data DIR [--codebook FILE] [--write FILE]
    python benchmarks/perception.py speakers --data DIR --chain FILE --direct FILE [--write FILE]
    python benchmarks/perception.py curve --chain SAMPLES=FILE … --direct SAMPLES=FILE … [--write FILE]

DIR holds `photos` and `rgbd`; none of what is asked about was trained on:

* photographs: those kept out of all training; "truth" is the depth model's own map, as in the paper,
  so its row is not a measurement there but the rule of the game;
* measured: the pictures of `rgbd`, where truth is measured depth;
* rendered: new scenes with exact depth; new collections with exact numbers of things.

`curve` asks speakers that have seen more and more samples about the rendered scenes alone.

Points are placed by HardBLINK's rule. Shares are of right answers in per cent; the last line of a table
says how many questions there were and how wide the 95 % interval of its mean is.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from sightline.depth.estimator import DepthEstimator, load
from sightline.files.atomic import write_text
from sightline.files.rgbd import list_rgbd, read_sample
from sightline.perception.codebook.score import COUNTS, CodebookScore, Share, score_codebook
from sightline.perception.codebook.tokenizer import DepthTokenizer
from sightline.perception.model.loading import Speaker, load_speaker
from sightline.perception.questions import counting, depth
from sightline.perception.questions.count_sets import Counted, ask_counts, things_of
from sightline.perception.questions.markers import HARD, squash
from sightline.perception.questions.plurals import plural
from sightline.perception.questions.sets import Asked, Seen, ask_points, held_out, see
from sightline.perception.quiz.items import LETTERS, QuizItem
from sightline.perception.quiz.scoring import QuizScore, judge_depth_model, judge_speaker
from sightline.scenes.instances import find_instances
from sightline.scenes.kinds.collection import COUNTED
from sightline.scenes.make import make_scene
from sightline.types import DepthMap, Kind
from sightline.weights.cache import file_sha256

#: Of the rendered test scenes; training uses others.
SEED = 7001
#: Questions with the same number for an answer, at most.
MOST_OF_A_COUNT = 40
BATCH = 64
#: AURORA's codebook on its own pictures, 2 to 5 points, in per cent.
PAPER = (96.7, 94.3, 95.2, 96.7)


def measured(folder: Path) -> Iterator[Seen]:
    """Pictures with dense measured depth: a few points of a laser are no map to place points on."""
    for number, row in enumerate(list_rgbd(folder)):
        truth = read_sample(folder, row)
        if truth.dense:
            found = DepthMap(truth.disparity, Kind.RELATIVE_DISPARITY, truth.known)
            yield see(f"rgbd{number:03d}", truth.pixels, found)


def rendered(count: int) -> Iterator[Seen]:
    """Make new scenes with exact depth."""
    for index in range(count):
        frame = make_scene(SEED, index, width=320, height=256).frame
        yield see(f"scene{index:04d}", frame.pixels, frame.depth)


def collections(count: int) -> Iterator[Counted]:
    """Make new scenes with things to count."""
    for index in range(count):
        frame = make_scene(SEED, index, width=320, height=256, kinds=["collection"]).frame
        things = find_instances(frame.instance, frame.depth.values, frame.kinds)
        rows = [(thing.kind, thing.box, thing.pixels) for thing in things]
        yield Counted(f"scene{index:04d}", frame.pixels, things_of(320, 256, rows))


class Eyes:
    """What the eyes of a compact speaker give for pictures of questions, looked at once.

    Args:
        speaker: whose eyes look; those that it is compared with have the same.
    """

    def __init__(self, speaker: Speaker) -> None:
        self._speaker, self._seen = speaker, {}

    def __call__(self, items: Sequence[QuizItem]) -> list[np.ndarray]:
        """Return what is seen in the pictures of some questions."""
        new = [item for item in items if item.name not in self._seen]
        if new:
            shown = self._speaker.eye.look([squash(item.read()) for item in new])
            with torch.inference_mode():
                seen = self._speaker.model.model.vision_tower.look(shown).numpy()
            self._seen |= {item.name: look for item, look in zip(new, seen, strict=True)}
        return [self._seen[item.name] for item in items]


class Remembered:
    """Depth of pictures that are asked about several times, inferred once.

    Args:
        estimator: that looks at them.
    """

    def __init__(self, estimator: DepthEstimator) -> None:
        self._estimator, self._maps = estimator, {}

    def __call__(self, pixels: np.ndarray) -> DepthMap:
        """Return the depth of a picture; the caller keeps its array."""
        if id(pixels) not in self._maps:
            self._maps[id(pixels)] = self._estimator.infer(pixels)
        return self._maps[id(pixels)]


def questions(pictures: Sequence[Seen], seeds: Iterable[int] = (0,)) -> list[QuizItem]:
    """Ask about 2, 3, 4 and 5 points of every picture, several times over if wanted."""
    items = []
    for seed in seeds:
        for count in COUNTS:
            for asked in ask_points(pictures, [count], rule=HARD, seed=seed):
                items.append(_item(asked, seed))
    return items


def _item(asked: Asked, seed: int) -> QuizItem:
    count = len(asked.points)
    return QuizItem(
        f"{asked.seen.name}-{count}-{seed}",
        "depth",
        depth.NEAREST,
        (),
        LETTERS.index(asked.answer),
        asked.picture,
        {letter: (p.x, p.y) for letter, p in asked.points.items()},
        f"{count} points",
    )


def count_questions(pictures: Sequence[Counted]) -> list[QuizItem]:
    """Ask how many there are of a kind, from none to ten."""
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
            items.append(QuizItem(one.name, "count", ask, choices, number, lambda p=one.pixels: p))
    return items


def _only(one: Counted, kinds: Sequence[str]) -> Counted:
    """Leave out what stands at the border: hedges and walls are not to be counted."""
    boxes = {kind: some for kind, some in one.things.boxes.items() if kind in kinds}
    return replace(one, things=replace(one.things, boxes=boxes))


def row(label: str, score: QuizScore | None, what: str = "right") -> str:
    """One line of a table: each number of points, and the mean over them."""
    cells = []
    for count in COUNTS:
        share = None if score is None else score.share(what, f"{count} points")
        cells.append(None if share is None else 100 * share.value)
    if any(cell is None for cell in cells):
        return f"| {label} | – | – | – | – | – |"
    shown = [f"{cell:.1f}" for cell in cells]
    return f"| {label} | {' | '.join(shown)} | {np.mean(cells):.1f} |"


def depth_table(
    title: str,
    items: list[QuizItem],
    chain: Speaker,
    plain: Speaker,
    tokenizer: DepthTokenizer,
    estimator: DepthEstimator,
    clean: dict[str, np.ndarray],
) -> str:
    """Everything that can answer questions about points, on one set of them."""
    guess = [100 / count for count in COUNTS]
    unmarked = [_without_marks(item, clean) for item in items]
    eyes = Eyes(chain)
    full = judge_speaker(items, chain, tokenizer, batch=BATCH, looks=eyes)
    lines = [
        f"{title}: {len(items)} questions, per cent right.",
        "",
        "| | 2 points | 3 | 4 | 5 | mean |",
        "|---|---|---|---|---|---|",
        f"| random | {' | '.join(f'{g:.1f}' for g in guess)} | {np.mean(guess):.1f} |",
        row("direct answers, a model of equal size", judge_speaker(
            items, plain, None, steps=False, batch=BATCH, looks=eyes
        )),
        row("depth step only", judge_speaker(
            items, chain, tokenizer, steps=depth.MAP_STEP, batch=BATCH, looks=eyes
        )),
        row("full chain", full),
        row("full chain, verified", full, "verified"),
        row("its decoded maps", full, "perceived"),
        row(f"the depth model itself ({estimator.source})", judge_depth_model(
            unmarked, Remembered(estimator)
        )),
        "",
        f"95 % interval of a share of all questions: ± {100 * _half(len(items)):.1f}.",
    ]  # fmt: skip
    return "\n".join(lines)


def _without_marks(item: QuizItem, clean: dict[str, np.ndarray]) -> QuizItem:
    """Show the depth model the picture without circles."""
    pixels = clean[item.name.split("-")[0]]
    return replace(item, read=lambda: pixels)


def _half(count: int) -> float:
    low, high = Share(count // 2, count).interval
    return (high - low) / 2


def count_table(items: list[QuizItem], chain: Speaker, plain: Speaker) -> str:
    """Compare counting with boxes and without."""
    eyes = Eyes(chain)
    full = judge_speaker(items, chain, None, batch=BATCH, looks=eyes)
    bare = judge_speaker(items, plain, None, steps=False, batch=BATCH, looks=eyes)
    usual = max(Counter(item.answer for item in items).values()) / len(items)

    def share(score: QuizScore, what: str) -> str:
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
    """Format the codebook's figures."""
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
    """Measure the codebook."""
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


def speakers(options: argparse.Namespace) -> Iterator[str]:
    """Measure speakers, a table at a time."""
    tokenizer, estimator = DepthTokenizer(options.codebook), load("small")
    (chain_file,), (plain_file,) = options.chain, options.direct
    chain, plain = load_speaker(chain_file), load_speaker(plain_file)
    yield f"Chain {_file(chain_file)}, direct {_file(plain_file)}."

    def table(title: str, pictures: Iterable[Seen], seeds: Sequence[int] = (0,)) -> str:
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
    """Measure speakers after fewer and more samples, on rendered scenes."""
    tokenizer = DepthTokenizer(options.codebook)
    items = questions(list(rendered(options.scenes)))
    found: dict[str, dict[int, Speaker]] = {
        how: {
            int(count): load_speaker(path) for count, _, path in (w.partition("=") for w in words)
        }
        for how, words in (("chain", options.chain), ("direct", options.direct))
    }
    eyes = Eyes(next(iter(found["chain"].values())))
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
            bare = judge_speaker(items, plain, None, steps=False, batch=BATCH, looks=eyes)
            cells[0] = _mean(bare, "right")
        if samples in found["chain"]:
            full = judge_speaker(items, found["chain"][samples], tokenizer, batch=BATCH, looks=eyes)
            cells[1:] = _mean(full, "right"), _mean(full, "verified")
        lines.append(f"| {samples:,} | {' | '.join(cells)} |")
    yield "\n".join(lines)


def _mean(score: QuizScore, what: str) -> str:
    """Return the mean over 2, 3, 4 and 5 points, as in the tables."""
    return row("", score, what).rsplit("|", 2)[1].strip()


def _file(path: str) -> str:
    """Return the checksum by which a file is known."""
    return f"`{file_sha256(Path(path))[:12]}`"


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("codebook", "speakers", "curve"))
    parser.add_argument("--data", type=Path, help="folder with photos and rgbd")
    parser.add_argument("--codebook", default="codebook")
    parser.add_argument("--chain", nargs="+", default=[], help="speaker with steps")
    parser.add_argument("--direct", nargs="+", default=[], help="one that was taught answers alone")
    parser.add_argument("--scenes", type=int, default=130, help="rendered test scenes")
    parser.add_argument("--collections", type=int, default=360, help="with things to count")
    parser.add_argument("--write", type=Path, help="Markdown file to write the tables to")
    options = parser.parse_args()
    if options.what != "codebook" and not (options.chain and options.direct):
        parser.error(f"{options.what} needs --chain and --direct")
    if options.what != "curve" and options.data is None:
        parser.error(f"{options.what} needs --data")
    tables: list[str] = []
    for table in {"codebook": codebook, "speakers": speakers, "curve": curve}[options.what](
        options
    ):
        print(table, end="\n\n", flush=True)
        tables.append(table)
        if options.write:
            write_text(options.write, "\n\n".join(tables) + "\n")


if __name__ == "__main__":
    main()
