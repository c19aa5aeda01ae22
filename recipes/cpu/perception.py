"""Perception tokens on two CPU cores: codebook, eyes, questions, two VLMs.

    python recipes/cpu/perception.py --data DIR --work DIR [--only STAGE ...]

DIR of `--data` holds `photos`; WORK is the folder of `python recipes/cpu`: its scenes and its indoor
scenes are used, and for the codebook its teacher's labels. Stop it at any time: the same command goes
on. Stages:

    codebook     the depth codebook, from labels of photographs and from scenes
    collections  rendered scenes with things to count
    pictures     everything that is asked about, 336 × 336 px
    network      what the depth network sees in them
    glass        small convolutions that find marked points
    finder       small convolutions that find things, by what the depth network sees
    looks        what the eyes give for every picture: depth network, codebook, both finders, all frozen
    points       questions and answers about marked points
    counts       questions and answers about how many things there are
    align        the projector, which learns what the eyes' numbers mean
    chain        a VLM that writes down what it perceives before it answers
    direct       one of the same size, as many samples, that is taught answers alone
    more_chain   the chain goes on: first points and things alone again, then whole pictures
    more_direct  the direct one goes on for as many steps
    last_chain   the chain goes on once more

Depth is what the eyes' own network sees, as in the paper; things are those of rendered scenes.
`benchmarks/perception.py` measures what came out, on pictures that none of them has seen.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from sightline.depth.estimator import load
from sightline.errors import InputError
from sightline.io.atomic import write_bytes, write_text
from sightline.io.images import PICTURE_SUFFIXES, read_picture
from sightline.models.registry import embedded_folder, record
from sightline.perception.codebook import DepthTokenizer, read_codebook, write_codebook
from sightline.perception.codebook_training import COUNTS, score_codebook
from sightline.perception.options import VLMTraining
from sightline.perception.questions import depth
from sightline.perception.questions.count_sets import (
    AnnotatedImage,
    counted_scenes,
    shares_of,
    things_of_scene,
    write_count_sets,
)
from sightline.perception.questions.hardblink import SIDE, squash
from sightline.perception.questions.records import Record, read_llava
from sightline.perception.questions.sets import (
    DepthImage,
    held_out,
    write_depth_sets,
    write_picture,
)
from sightline.perception.vlm.alignment import align_projector
from sightline.perception.vlm.compact import (
    CompactOptions,
    Detectors,
    build_compact,
    normalize_projector_output,
    standardize_projector,
    train_tokenizer,
    wrap_tokenizer,
    write_compact,
)
from sightline.perception.vlm.detectors import MarkDetector, ObjectDetector, train_mark_detector
from sightline.perception.vlm.model import PerceptionVLM
from sightline.perception.vlm.object_detector_training import Boxes, train_object_detector
from sightline.perception.vlm.training import VLMSamples, train_vlm
from sightline.perception.vlm.training_samples import (
    ConcatenatedSamples,
    FeatureCache,
    MixedSamples,
    RecordedSamples,
    ScatteredPoints,
    by_curriculum,
    cache_features,
    cache_marks,
)
from sightline.training.data.items import is_held_out
from sightline.training.logging import JsonlLog

#: Photographs and scenes that are asked about points; collections and indoor scenes that are asked
#: how many.
PHOTOS, DEPTH_SCENES, COLLECTIONS, INDOOR = 1300, 500, 3500, 300
#: How often a picture is asked about points, with others each time; and about things.
ROUNDS, COUNT_ROUNDS = 6, 4
#: A kind of thing is learned if there are so many of it.
LEAST_OF_A_KIND = 100
#: Steps of the small finders, and pictures that the glass is taught on.
GLASS_STEPS, GLASS_PICTURES, FINDER_STEPS = 1000, 3000, 2500
#: Steps of the projector, pictures of each, and pictures with strewn points among those it draws from.
ALIGN_STEPS, ALIGN_BATCH, ALIGN_POINTS = 1000, 48, 30_000
#: Steps of a vlm, and samples of each. A chain begins with strewn points and rows of things alone,
#: goes on with the paper's curriculum, both while it sees only what an answer is about (`model/focus`),
#: and ends with questions about whole pictures.
STEPS, BATCH, FIRST_STEPS, CURRICULUM_STEPS = 2200, 16, 400, 800
#: Steps that both go on for; a chain sees only what an answer is about in the first of them.
MORE_STEPS, MORE_FOCUS = 1400, 1000
#: The last steps of a chain.
LAST_STEPS, LAST_FOCUS = 900, 500
#: Steps of which a copy is kept, for the curve against samples.
KEPT = (300, 900, 1300, 1700)
#: Every so many questions are asked directly as well, and by way of the map alone.
OTHERWISE = 4
#: Points of questions; five twice, or a model hardly ever sees the last letter.
POINT_COUNTS = (2, 3, 4, 5, 5)
OPTIONS = CompactOptions()
_TOKENS = re.compile(r"<DEPTH_START>.*?<DEPTH_END>|<PIXEL_\d+>")


def codebook(data: Path, work: Path) -> None:
    """Train the codebook by the command that anybody can type."""
    _sightline(
        *("tokens", "train", "--out", str(work / "codebook"), "--steps", "2500"),
        *("--data", f"photos:{data / 'photos'}:{work / 'labels'}@4"),
        *("--data", f"pairs:{work / 'scenes'}@2", "--data", f"pairs:{work / 'indoor'}@2"),
        *("--rate", "1e-3", "--fall", "0.9", "--every", "100", "--threads", "2"),
    )


def collections(data: Path, work: Path) -> None:  # noqa: ARG001 - every stage has the same form
    """Render things to count."""
    _sightline(
        *("scenes", "make", "--count", str(COLLECTIONS), "--size", "320x256", "--seed", "4"),
        *("--kinds", "collection", "--out", str(work / "collections")),
    )


def _sightline(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "sightline", *words], check=True)


def pictures(data: Path, work: Path) -> None:
    """Write photographs, scenes and collections as squares."""
    out = work / "questions"
    if (out / "names.json").is_file():
        return
    photos = sorted(p for p in (data / "photos").rglob("*") if p.suffix.lower() in PICTURE_SUFFIXES)
    groups = {
        "p": _some([path for path in photos if not is_held_out(path.name)], PHOTOS),
        "s": sorted((work / "scenes").glob("[0-9]" * 6 + ".jpg"))[:DEPTH_SCENES],
        "c": sorted((work / "collections").glob("[0-9]" * 6 + ".jpg"))[:COLLECTIONS],
        "i": sorted((work / "indoor").glob("[0-9]" * 6 + ".jpg"))[:INDOOR],
    }
    names: dict[str, list[str]] = {group: [] for group in groups}
    for group, paths in groups.items():
        for number, path in enumerate(paths):
            try:
                pixels = squash(read_picture(path).pixels)
            except InputError as error:
                print(f"left out: {error}", file=sys.stderr)
                continue
            names[group].append(write_picture(out, f"{group}{number:05d}", pixels))
    write_text(out / "names.json", json.dumps(names))


def _some(paths: list[Path], count: int) -> list[Path]:
    return sorted(random.Random(0).sample(paths, min(count, len(paths))))


def _names(work: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads((work / "questions" / "names.json").read_text())
    return found


def glass(data: Path, work: Path) -> None:  # noqa: ARG001
    """Teach the glass on pictures with points drawn at random."""
    path = work / "glass.safetensors"
    if path.is_file():
        return
    names = [name for group in "psc" for name in _names(work)[group]]
    chosen = random.Random(0).sample(names, min(GLASS_PICTURES, len(names)))
    squares = [read_picture(work / "questions" / name).pixels for name in chosen]
    taught = train_mark_detector(
        squares, _blind().image_processor, steps=GLASS_STEPS, bfloat16=_bfloat16()
    )
    save_file(taught.state_dict(), path)


def _counted_boxes(work: Path) -> tuple[list[str], list[Boxes], list[str]]:
    """Return pictures with things, their boxes as shares of the picture, and the kinds to learn."""
    names = _names(work)
    rows: list[tuple[str, Boxes]] = []
    for group, folder in (("c", "collections"), ("i", "indoor")):
        for name in names[group]:
            things = things_of_scene(work / folder / f"{int(Path(name).stem[1:]):06d}.json")
            rows.append((name, {kind: shares_of(things, kind) for kind in things.boxes}))
    counts = Counter(kind for _, boxes in rows for kind, some in boxes.items() for _ in some)
    kinds = sorted(kind for kind, count in counts.items() if count >= LEAST_OF_A_KIND)
    return [name for name, _ in rows], [boxes for _, boxes in rows], kinds


def finder(data: Path, work: Path) -> None:  # noqa: ARG001
    """Teach the finder of things by what the depth network sees in rendered scenes."""
    path = work / "finder.safetensors"
    if path.is_file():
        return
    names, boxes, kinds = _counted_boxes(work)
    vlm = _blind()

    def shown(numbers: Sequence[int]) -> torch.Tensor:
        folder = work / "questions"
        return vlm.image_processor.look([read_picture(folder / names[k]).pixels for k in numbers])

    features, _ = _network_saw(work, "things", names)
    taught = train_object_detector(
        features, shown, boxes, kinds, steps=FINDER_STEPS, bfloat16=_bfloat16()
    )
    save_file(taught.state_dict(), path, {"kinds": json.dumps(kinds)})


def network(data: Path, work: Path) -> None:  # noqa: ARG001
    """Let the depth network see every picture, which takes longest."""
    for part, names in _parts(work).items():
        _network_saw(work, part, names)


def _parts(work: Path) -> dict[str, list[str]]:
    names = _names(work)
    return {"depth": names["p"] + names["s"], "things": names["c"] + names["i"]}


def _network_saw(work: Path, part: str, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the depth network's features and nearness of some pictures, kept in two files."""
    paths = work / f"features-{part}.npy", work / f"near-{part}.npy"
    if paths[1].is_file():
        return np.load(paths[0], mmap_mode="r"), np.load(paths[1])
    vlm = _blind()
    near: list[np.ndarray] = []
    tower = vlm.model.model.vision_tower
    for first in range(0, len(names), 16):
        some = [
            read_picture(work / "questions" / name).pixels for name in names[first : first + 16]
        ]
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=_bfloat16()):
            features, nearness = tower.features(vlm.image_processor.look(some))
        if not near:
            shape = (len(names), *features.shape[1:])
            kept = np.lib.format.open_memmap(paths[0], "w+", np.float16, shape)
        kept[first : first + len(some)] = features.half().numpy()
        near.append(nearness.half().numpy())
        if first % 160 == 0:
            print(f"saw {first + len(some)} of {len(names)} pictures", flush=True)
    kept.flush()
    np.save(paths[1], np.concatenate(near))
    return kept, np.concatenate(near)


def _blind() -> PerceptionVLM:
    """Return a VLM whose depth network sees; nothing else of it was taught."""
    return build_compact(train_tokenizer(["?"]), OPTIONS)


def _detectors(work: Path) -> tuple[Detectors, tuple[str, ...]]:
    from safetensors import safe_open

    path = work / "finder.safetensors"
    with safe_open(path, "pt") as file:
        kinds = tuple(json.loads(file.metadata()["kinds"]))
    found = load_file(path)
    seen = Detectors(MarkDetector(), ObjectDetector(found["squeeze.weight"].shape[1], len(kinds)))
    seen.objects.load_state_dict(found)
    seen.marks.load_state_dict(load_file(work / "glass.safetensors"))
    return seen, kinds


def _vlm(work: Path, tokenizer: Any = None) -> PerceptionVLM:
    detectors, kinds = _detectors(work)
    words = train_tokenizer(["?"]) if tokenizer is None else tokenizer
    return build_compact(words, replace(OPTIONS, kinds=kinds), detectors=detectors)


def looks(data: Path, work: Path) -> None:  # noqa: ARG001
    """Look at every picture once."""
    saw: dict[str, tuple[np.ndarray, np.ndarray, int]] = {}
    for part, names in _parts(work).items():
        features, near = _network_saw(work, part, names)
        saw |= {name: (features, near, row) for row, name in enumerate(names)}

    def before(name: str) -> tuple[np.ndarray, np.ndarray]:
        features, near, row = saw[name]
        return features[row], near[row]

    cache_features(
        _vlm(work),
        list(saw),
        work / "questions",
        work / "looks",
        before=before,
        bfloat16=_bfloat16(),
    )


def _seen(work: Path) -> Iterator[DepthImage]:
    """All photographs and some scenes, in a random order that is always the same."""
    seen, names = FeatureCache(work / "looks"), _names(work)
    everything = names["p"] + names["s"]
    random.Random(0).shuffle(everything)
    for name in everything:
        near = cv2.resize(seen.near(name), (SIDE, SIDE), interpolation=cv2.INTER_NEAREST)
        pixels = read_picture(work / "questions" / name).pixels
        yield DepthImage(Path(name).stem, pixels, np.asarray(near, np.uint8), near >= 0)


def _counted(work: Path, kinds: Sequence[str]) -> Iterator[AnnotatedImage]:
    """Pictures with things of some kinds, by the names of their squares."""
    for folder, letter, most in (("collections", "c", COLLECTIONS), ("indoor", "i", INDOOR)):
        for one in counted_scenes(work / folder, most)[1]:
            boxes = {kind: some for kind, some in one.things.boxes.items() if kind in kinds}
            name = f"{letter}{int(one.name):05d}"
            yield replace(one, name=name, things=replace(one.things, boxes=boxes))


def points(data: Path, work: Path) -> None:  # noqa: ARG001
    """Write pictures with marks, and questions about them."""
    out = work / "questions"
    if (work / "looks" / "points.json").is_file():
        return
    tokenizer = DepthTokenizer()
    written = write_depth_sets(
        _seen(work),
        out,
        tokenizer.to_text,
        asked_share=1.0,
        counts=POINT_COUNTS,
        map_first=True,
        rounds=ROUNDS,
        spelling="pixels",
    )
    marked = [one.image for one in written.pointing]
    cache_marks(_vlm(work), marked, out, work / "looks")


def counts(data: Path, work: Path) -> None:  # noqa: ARG001
    """Write questions about how many there are of the kinds that the finder knows."""
    out = work / "questions"
    if (out / "counting.json").is_file():
        return
    _, kinds = _detectors(work)
    write_count_sets(
        _counted(work, kinds),
        kinds,
        out,
        asked_share=1.0,
        any_kind=True,
        rounds=COUNT_ROUNDS,
        seen=FeatureCache(work / "looks").boxes,
    )


def _records(work: Path) -> dict[str, list[Record]]:
    names = ("reasoning", "pointing", "generation", "boxes", "counting")
    return {name: read_llava(work / "questions" / f"{name}.json") for name in names}


def _taught(work: Path) -> tuple[PerceptionVLM, FeatureCache]:
    """Return a VLM with the words of all questions, and the looks it learns from."""
    path = work / "tokenizer.json"
    if not path.is_file():
        texts = (f"{r.question}\n{r.answer}" for some in _records(work).values() for r in some)
        lines = {line for text in texts for line in _TOKENS.sub("\n", text).splitlines()}
        train_tokenizer(sorted(lines)).backend_tokenizer.save(str(path))
    tokenizer = wrap_tokenizer(Tokenizer.from_file(str(path)))
    return _vlm(work, tokenizer), FeatureCache(work / "looks")


def align(data: Path, work: Path) -> None:  # noqa: ARG001
    """Teach the projector that the chain begins with."""
    path = work / "projector.safetensors"
    if path.is_file():
        return
    found = _records(work)
    vlm, seen = _taught(work)
    _calm(vlm, seen, found["pointing"] + found["counting"])
    things = _pictured(work, found["counting"], seen)
    points = ScatteredPoints(found["generation"], seen, ALIGN_POINTS, in_steps=True)
    samples = ConcatenatedSamples(points, things)
    align_projector(vlm, samples, steps=ALIGN_STEPS, batch=ALIGN_BATCH, bfloat16=_bfloat16())
    normalize_projector_output(vlm, _few(seen, found["pointing"] + found["counting"]))
    save_file(vlm.model.model.multi_modal_projector.state_dict(), path)


def _calm(vlm: PerceptionVLM, seen: FeatureCache, records: Sequence[Record]) -> None:
    standardize_projector(vlm, _few(seen, records))


def _few(seen: FeatureCache, records: Sequence[Record]) -> list[torch.Tensor]:
    step = max(1, len(records) // 96)
    return [torch.from_numpy(seen.of(r.image)[None]).float() for r in records[::step]]


def _train(
    work: Path,
    name: str,
    samples: VLMSamples,
    vlm: PerceptionVLM,
    *,
    steps: int,
    focus: int = 0,
    rate: float = 1.5e-3,
) -> None:
    out = work / name
    options = VLMTraining(
        batch=len(samples) // steps,
        rate=rate,
        projector_rate=rate / 1.5,
        weight_decay=0.01,
        conclusion=8.0,
        focus=focus,
        save_every=100,
        longest=700,
        precision="auto",
    )
    size = replace(OPTIONS, kinds=tuple(vlm.model.config.vision_config.kinds))

    def keep(step: int) -> None:
        if step in KEPT:
            write_compact(vlm, out / f"vlm-{step}.safetensors", size)

    train_vlm(vlm, samples, out, options, data={"samples": len(samples)}, on_save=keep)
    write_compact(vlm, out / "vlm.safetensors", size)
    print(out / "vlm.safetensors")


def chain(data: Path, work: Path) -> None:  # noqa: ARG001
    """Teach where to look, then perceiving, then more and more of reasoning, as the paper."""
    found, chosen = _records(work), random.Random(1)
    vlm, seen = _taught(work)
    strewn = ScatteredPoints(found["generation"], seen, FIRST_STEPS * BATCH)
    rows = _pictured(work, [r for r in found["counting"] if r.task == "chain"], seen)
    first = MixedSamples([strewn, rows], FIRST_STEPS * BATCH, seed=1)
    atomic = [found["generation"] + found["pointing"], found["boxes"]]
    reasoning = [_asked_in_steps(found["reasoning"], 3), _asked_in_steps(found["counting"], 2)]
    asked = _mixed(reasoning, chosen)
    learned = by_curriculum(_mixed(atomic, chosen), asked, CURRICULUM_STEPS * BATCH // 10)
    rest = (STEPS - FIRST_STEPS - CURRICULUM_STEPS) * BATCH
    samples = ConcatenatedSamples(first, _pictured(work, learned + asked[-rest:], seen))
    projector = load_file(work / "projector.safetensors")
    vlm.model.model.multi_modal_projector.load_state_dict(projector)
    focus = FIRST_STEPS + CURRICULUM_STEPS
    _train(work, "chain", samples, vlm, steps=STEPS, focus=focus)


def _pictured(work: Path, records: Sequence[Record], seen: FeatureCache) -> RecordedSamples:
    return RecordedSamples([(work / "questions", record) for record in records], seen)


def _asked_in_steps(records: list[Record], ways: int) -> list[Record]:
    """Keep the chain of every question, and some of its other ways: direct, by the map alone."""
    kept = []
    for number, first in enumerate(range(0, len(records), ways)):
        kept.append(records[first + 1])
        others = (records[first], *records[first + 2 : first + ways])
        kept += [one for k, one in enumerate(others) if number % OTHERWISE == 2 * k]
    return kept


def _mixed(parts: Sequence[list[Record]], chosen: random.Random) -> list[Record]:
    """Draw as many samples as a run has, in turns from each part: about depth, about how many."""
    return [chosen.choice(parts[k % len(parts)]) for k in range(STEPS * BATCH)]


def direct(data: Path, work: Path) -> None:  # noqa: ARG001
    """Teach answers alone, for as many steps; labels of perception, as the projector's, it has none."""
    found = _records(work)
    parts = [[r for r in found[name] if r.task == "direct"] for name in ("reasoning", "counting")]
    vlm, seen = _taught(work)
    _calm(vlm, seen, [record for part in parts for record in part])
    samples = _pictured(work, _mixed(parts, random.Random(3)), seen)
    _train(work, "direct", samples, vlm, steps=STEPS)


def more_chain(data: Path, work: Path) -> None:  # noqa: ARG001
    """Compare more values, of points strewn anew, and count more things; then whole pictures again."""
    _once_more(work, "chain", "more_chain", MORE_STEPS, MORE_FOCUS, seed=2)


def last_chain(data: Path, work: Path) -> None:  # noqa: ARG001
    """Do the same once more."""
    _once_more(work, "more_chain", "last_chain", LAST_STEPS, LAST_FOCUS, seed=3)


def _once_more(work: Path, before: str, name: str, steps: int, focus: int, seed: int) -> None:
    found, chosen = _records(work), random.Random(seed)
    vlm, seen = _taught(work)
    chains = {
        name: _pictured(work, [r for r in found[name] if _in_steps(r)], seen)
        for name in ("reasoning", "counting")
    }
    strewn = ScatteredPoints(found["generation"], seen, 100_000, in_steps=True, seed=seed)
    kinds: list[VLMSamples] = [strewn, chains["reasoning"], chains["counting"], chains["counting"]]
    first = MixedSamples(kinds, focus * BATCH, seed=seed)
    # Perceiving alone is among them, or it is forgotten.
    reasoning = [_asked_in_steps(found["reasoning"], 3), _asked_in_steps(found["counting"], 2)]
    alone = [found["generation"] + found["pointing"], found["boxes"]]
    whole = _mixed([*reasoning, *alone], chosen)[: (steps - focus) * BATCH]
    samples = ConcatenatedSamples(first, _pictured(work, whole, seen))
    _go_on(vlm, work / before)
    _train(work, name, samples, vlm, steps=steps, focus=focus, rate=1e-3)


def _in_steps(record: Record) -> bool:
    return record.task == "chain" and depth.MAP_STEP not in record.question


def more_direct(data: Path, work: Path) -> None:  # noqa: ARG001
    """Teach the direct VLM answers alone for as many steps more."""
    found = _records(work)
    parts = [[r for r in found[name] if r.task == "direct"] for name in ("reasoning", "counting")]
    vlm, seen = _taught(work)
    samples = _pictured(work, _mixed(parts, random.Random(4))[: MORE_STEPS * BATCH], seen)
    _go_on(vlm, work / "direct")
    _train(work, "more_direct", samples, vlm, steps=MORE_STEPS, rate=1e-3)


def _go_on(vlm: PerceptionVLM, run: Path) -> None:
    """Give a VLM the weights that an earlier run ended with."""
    own = dict(vlm.model.named_parameters())
    for name, value in torch.load(run / "checkpoint.pt", weights_only=True)["model"].items():
        own[name].data.copy_(value)


def _bfloat16() -> bool:
    return bool(torch.cpu._is_avx512_bf16_supported())


def publish_codebook(data: Path, work: Path) -> None:
    """Enter the codebook among the embedded models, with what it scores in its history."""
    run = work / "codebook"
    network = read_codebook(run / "codebook.onnx")
    path = embedded_folder() / "codebook.onnx"
    write_codebook(network, path)
    tokenizer = DepthTokenizer(path, threads=1)
    seen = list(held_out(data / "photos", load("small")))
    found = score_codebook(tokenizer.encode, tokenizer.decode, seen, seeds=range(4))
    order = "/".join(f"{100 * found.order[count].value:.1f}" for count in COUNTS)
    record(
        "codebook",
        path.name,
        None,
        purpose="tokens",
        summary="depth maps as 100 tokens out of 128, after AURORA",
        trained_on="depth of photographs by small, rendered scenes",
        note=f"{JsonlLog(run / 'log.jsonl').rows()[-1]['step']} steps; "
        "photographs kept out of training: "
        f"order of 2/3/4/5 points {order} %, error {100 * found.error:.1f} %, "
        f"{100 * found.alive:.0f} % of the codes in use",
    )


def publish_vlm(data: Path, work: Path) -> None:  # noqa: ARG001
    """Enter the VLM with steps among the embedded models."""
    path = embedded_folder() / "perception-vlm.safetensors"
    write_bytes(path, (work / "last_chain" / path.name).read_bytes())
    last = JsonlLog(work / "last_chain" / "log.jsonl").rows()[-1]
    record(
        "perception-vlm",
        path.name,
        None,
        purpose="language",
        summary="answers in steps which point is nearest and how many there are",
        trained_on="photographs with depth by small, rendered scenes",
        note=f"{STEPS + MORE_STEPS + last['step']} steps of {BATCH}, loss {last['loss']:.3f}; "
        "docs/tables/perception.md",
    )


PUBLISHERS = {"codebook": publish_codebook, "vlm": publish_vlm}
STAGES = {
    f.__name__: f
    for f in (
        *(codebook, collections, pictures, network, glass, finder, looks),
        *(points, counts, align, chain, direct, more_chain, more_direct, last_chain),
    )
}


def main() -> None:
    """Read the options and run the stages in order."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with photos")
    parser.add_argument("--work", type=Path, required=True, help="folder of `python recipes/cpu`")
    parser.add_argument("--only", nargs="+", choices=sorted(STAGES), help="stages to run")
    parser.add_argument("--publish", choices=sorted(PUBLISHERS), help="put it into the package")
    options = parser.parse_args()
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if options.publish:
        PUBLISHERS[options.publish](options.data, options.work)
        return
    for name, stage in STAGES.items():
        if not options.only or name in options.only:
            print(f"\n{name}: {(stage.__doc__ or '').splitlines()[0]}", flush=True)
            stage(options.data, options.work)


if __name__ == "__main__":
    main()
