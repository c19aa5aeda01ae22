"""Training samples of a VLM: question sets in the order of a curriculum, with cached image features.

The vision tower of a compact VLM is frozen, and encoding an image takes as long as a training step,
so its features are computed once. `FeatureCache` is a folder of arrays, filled in order; an interrupted
run resumes. An image with drawn marks shares the features of the image without them; only the positions
of the marks are detected again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.atomic import write_text
from sightline.io.images import read_picture
from sightline.io.reading import inside, read_bytes
from sightline.perception.questions import depth
from sightline.perception.questions.counting import Shares
from sightline.perception.questions.hardblink import LETTERS, SIDE, Point
from sightline.perception.questions.records import Curriculum, Record, in_order
from sightline.perception.tokens import START
from sightline.perception.vlm.detectors import SLOTS, place_apart
from sightline.perception.vlm.model import PerceptionVLM, Picture
from sightline.perception.vlm.training import VLMSamples
from sightline.perception.vlm.vision_tower import with_points

T = TypeVar("T")

#: Features and nearness of a picture, (C, R, R) and (S, S).
Network = tuple[NDArray[np.float16], NDArray[np.float16]]


class RecordedSamples:
    """Records and their pictures.

    Args:
        rows: folder of the pictures, and record, in the order in which they are learned.
        looks: what a compact VLM's eyes gave for the pictures; None to show the pictures.
    """

    def __init__(
        self, rows: Sequence[tuple[Path, Record]], looks: FeatureCache | None = None
    ) -> None:
        self._rows, self._looks = rows, looks

    def __len__(self) -> int:
        return len(self._rows)

    def sample(self, position: int) -> tuple[Record, NDArray[Any]]:
        """Return a record with its picture, or with what the eyes gave for it."""
        folder, record = self._rows[position]
        if self._looks is not None:
            return record, self._looks.of(record.image)
        return record, read_picture(inside(folder, record.image)).pixels


class ScatteredPoints:
    """Pictures with points strewn over them, none twice the same; nobody has to draw them.

    What the glass would say of a mark is where it is, to about a pixel. So a picture can be asked about
    any of its places, and the VLM sees more of them than marks can be drawn.

    Args:
        records: of maps alone (`depth.generation`), whose pictures and maps are used.
        looks: what the eyes gave for them, without marks.
        count: of samples.
        in_steps: ask for the whole chain, not for the points alone.
        seed: of pictures and points.
    """

    def __init__(
        self,
        records: Sequence[Record],
        looks: FeatureCache,
        count: int,
        *,
        in_steps: bool = False,
        seed: int = 0,
    ) -> None:
        self._records, self._looks, self._count = records, looks, count
        self._in_steps, self._seed = in_steps, seed

    def __len__(self) -> int:
        return self._count

    def sample(self, position: int) -> tuple[Record, NDArray[Any]]:
        """Return where points are and how near, and what the eyes would have given."""
        rng = np.random.default_rng([self._seed, position])
        record = self._records[int(rng.integers(len(self._records)))]
        near = self._looks.near(record.image)
        points: dict[str, Point] = {}
        for letter in LETTERS[: int(rng.integers(2, 1 + len(LETTERS)))]:
            x, y = place_apart([(p.x, p.y) for p in points.values()], rng)
            row, column = (v * len(near) // SIDE for v in (y, x))
            points[letter] = Point(x, y, int(near[row, column]))
        told = np.zeros((len(LETTERS), 3), np.float16)
        for letter, point in points.items():
            where = (np.array([point.x, point.y]) + rng.normal(0, 0.8, 2)) / SIDE
            told[LETTERS.index(letter)] = 1, *where.clip(0, 1 - 1e-3)
        look = with_points(self._looks.of(record.image), told)
        if not self._in_steps:
            return depth.pointing(record.image, points, "pixels"), look
        tokens = record.answer[record.answer.index(START) :]
        return depth.chain(record.image, points, tokens, "pixels"), look


class MixedSamples:
    """Samples drawn at random from several sets, the same number from each.

    Args:
        parts: the sets.
        count: number of samples.
        seed: random seed.
    """

    def __init__(self, parts: Sequence[VLMSamples], count: int, seed: int = 0) -> None:
        self._parts, self._count, self._seed = parts, count, seed

    def __len__(self) -> int:
        return self._count

    def sample(self, position: int) -> tuple[Record, Picture]:
        """Return a record with its picture, or with what the eyes gave for it."""
        part = self._parts[position % len(self._parts)]
        rng = np.random.default_rng([self._seed, position])
        return part.sample(int(rng.integers(len(part))))


class ConcatenatedSamples:
    """The samples of several sets, one set after another.

    Args:
        parts: the sets in order.
    """

    def __init__(self, *parts: VLMSamples) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def sample(self, position: int) -> tuple[Record, Picture]:
        """Return a record with its picture, or with what the eyes gave for it."""
        for part in self._parts:
            if position < len(part):
                return part.sample(position)
            position -= len(part)
        raise IndexError(position)


def by_curriculum(
    atomic: Sequence[T],
    reasoning: Sequence[T],
    size: int,
    epochs: int = 10,
    seed: int = 0,
) -> list[T]:
    """Put samples into the paper's order; `size` is that of an epoch."""
    plan = Curriculum(len(atomic), len(reasoning), size, epochs)
    chosen = in_order(plan, seed)
    return [atomic[number] if first else reasoning[number] for first, number in chosen]


class FeatureCache:
    """Vision tower features of images, in a folder.

    Args:
        folder: folder with `looks.json`, `looks.npy` and `near.npy` of `cache_features`, and the points
            of `cache_marks`, if any.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.notes = _read_notes(self.folder)
        self._rows = {name: row for row, name in enumerate(self.notes["names"])}
        self._values: NDArray[np.float16] = np.load(self.folder / "looks.npy", mmap_mode="r")
        self._near: NDArray[np.uint8] = np.load(self.folder / "near.npy", mmap_mode="r")
        marked = self.folder / "points.json"
        self._marked = json.loads(read_bytes(marked, limit=200_000_000, what="points")) if (
            marked.is_file()
        ) else {}  # fmt: skip

    def of(self, name: str) -> NDArray[np.float16]:
        """(T, D) of one picture, with the points that are marked in it."""
        seen = np.array(self._values[self._row(name)])
        if name in self._marked:
            return with_points(seen, np.array(self._marked[name], np.float16))
        return seen

    def near(self, name: str) -> NDArray[np.uint8]:
        """(S, S) depth of one picture, from the farthest (0) to the nearest (255)."""
        return np.array(self._near[self._row(name)])

    def boxes(self, name: str) -> list[Shares]:
        """Return the boxes of things that were seen in one picture, from left to right."""
        sides = self._values[self._row(name)][-SLOTS:, -4:].astype(float)
        return [(a, b, c, d) for a, b, c, d in sides.tolist() if c > 0]

    def _row(self, name: str) -> int:
        row = self._rows.get(unmarked(name))
        if row is None or row >= self.notes["done"]:
            raise InputError(f"has no features of {name!r} yet", path=self.folder)
        return row


def unmarked(name: str) -> str:
    """Return the name of the picture without marks: `images/p7-3.jpg` is `images/p7.jpg` with three."""
    path = Path(name)
    return str(path.with_name(path.stem.split("-")[0] + path.suffix))


def cache_marks(
    vlm: PerceptionVLM,
    names: Sequence[str],
    pictures: str | Path,
    folder: str | Path,
    batch: int = 64,
) -> None:
    """Detect the marked points of images and write them into a feature cache.

    Args:
        vlm: model whose mark detector is used.
        names: names of the images in `pictures`.
        pictures: folder of the images.
        folder: folder of `cache_features`.
        batch: images per batch.
    """
    names = list(dict.fromkeys(names))
    found: dict[str, list[list[float]]] = {}
    for first in range(0, len(names), batch):
        some = names[first : first + batch]
        shown = _shown(vlm, some, Path(pictures))
        with torch.inference_mode():
            points = vlm.model.model.vision_tower.mark_detector.points(shown)
        found |= dict(zip(some, points.double().round(decimals=5).tolist(), strict=True))
    write_text(Path(folder) / "points.json", json.dumps(found))


def cache_features(
    vlm: PerceptionVLM,
    names: Sequence[str],
    pictures: str | Path,
    folder: str | Path,
    *,
    before: Callable[[str], Network | None] = lambda _: None,
    batch: int = 16,
    bfloat16: bool = False,
    report: Callable[[str], None] = print,
) -> FeatureCache:
    """Encode images with the vision tower and write the features to a folder; resume if interrupted.

    Args:
        vlm: model whose vision tower is used.
        names: names of the images in `pictures`.
        pictures: folder of the images.
        folder: folder of the cache.
        before: returns the output of `DepthTower.features` for an image where it is known already.
        batch: images per batch.
        bfloat16: compute in bfloat16.
        report: receives progress as lines of text.
    """
    pictures, folder = Path(pictures), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(names))
    tower = vlm.model.model.vision_tower
    cells, channels = tower.looks
    shape = (len(names), cells, channels)
    path, path_near = folder / "looks.npy", folder / "near.npy"
    if (folder / "looks.json").is_file():
        notes = _read_notes(folder)
        if notes["names"] != names or not path.is_file():
            raise InputError(
                "holds features of other images", path=folder, remedy="use another folder"
            )
        values, depths = (np.lib.format.open_memmap(p, "r+") for p in (path, path_near))
    else:
        notes = {"names": names, "done": 0}
        values = np.lib.format.open_memmap(path, "w+", np.float16, shape)
        side = vlm.image_processor.side
        depths = np.lib.format.open_memmap(path_near, "w+", np.uint8, (len(names), side, side))
        _write_notes(folder, notes)
    for first in range(notes["done"], len(names), batch):
        some = names[first : first + batch]
        shown = _shown(vlm, some, pictures)
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            kept = [one for one in map(before, some) if one is not None]
            if len(kept) == len(some):
                features, near = (
                    torch.from_numpy(np.stack(part).astype(np.float32))
                    for part in zip(*kept, strict=True)
                )
            else:
                features, near = tower.features(shown)
            tokens = tower.tell(shown, features, near).float()
        limit = float(np.finfo(np.float16).max)
        values[first : first + len(some)] = tokens.clamp(-limit, limit).numpy()
        depths[first : first + len(some)] = (255 * near).round().byte().numpy()
        notes["done"] = first + len(some)
        if (first // batch) % 20 == 19 or notes["done"] == len(names):
            values.flush()
            depths.flush()
            _write_notes(folder, notes)
            report(f"encoded {notes['done']} of {len(names)} images")
    return FeatureCache(folder)


def _shown(vlm: PerceptionVLM, names: Sequence[str], pictures: Path) -> torch.Tensor:
    return vlm.image_processor.look([read_picture(inside(pictures, name)).pixels for name in names])


def _write_notes(folder: Path, notes: dict[str, Any]) -> None:
    write_text(folder / "looks.json", json.dumps(notes))


def _read_notes(folder: Path) -> dict[str, Any]:
    path = folder / "looks.json"
    try:
        notes = json.loads(read_bytes(path, limit=200_000_000, what="feature index"))
        return {"names": list(notes["names"]), "done": int(notes["done"])}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError("is not a feature index", path=path) from error
