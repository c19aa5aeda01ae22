"""Perception tokens on two CPU cores: codebook, questions, what the eyes see, two speakers.

    python recipes/cpu/perception.py --data DIR --work DIR [--only STAGE ...]

DIR of `--data` holds `photos`; WORK is the folder of `python recipes/cpu`: its scenes, its indoor
scenes and its teacher's labels are used. Stop it at any time: the same command goes on. Stages:

    codebook   the depth codebook, from labels of photographs and from scenes
    questions  pictures with marked points, things to count, and their questions
    glass      small convolutions that find marked points
    looks      what the eyes give for every picture: the depth network and the glass, both frozen
    align      the projector, which learns what lies in each cell of a picture
    chain      a speaker that writes down what it perceives before it answers
    direct     one of the same size, as many samples, that is taught answers alone

`benchmarks/perception.py` measures what came out, on pictures that none of them has seen.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from sightline.depth.estimator import load
from sightline.depth.training.items import photo_items, read_pair, rgbd_items
from sightline.depth.vit_models import read_vit
from sightline.errors import InputError
from sightline.files.atomic import write_bytes
from sightline.files.pictures import read_picture
from sightline.perception.codebook.files import read_codebook, write_codebook
from sightline.perception.codebook.score import COUNTS, score_codebook
from sightline.perception.codebook.tokenizer import DepthTokenizer
from sightline.perception.model.alignment import align_projector
from sightline.perception.model.compact import (
    CompactOptions,
    build_compact,
    calm_projector,
    eye_of,
    train_tokenizer,
)
from sightline.perception.model.compact_files import write_compact
from sightline.perception.model.glass import MarkGlass, train_glass
from sightline.perception.model.lessons import Looks, RecordedSamples, by_curriculum, look_ahead
from sightline.perception.model.loading import Speaker
from sightline.perception.model.options import SpeakerOptions
from sightline.perception.model.training import train_speaker
from sightline.perception.questions import depth
from sightline.perception.questions.count_sets import Counted, counted_scenes, write_count_sets
from sightline.perception.questions.records import Record, read_llava
from sightline.perception.questions.sets import Seen, held_out, seen_of_pair, write_depth_sets
from sightline.running.log import Log
from sightline.weights.index import embedded_folder, record

#: Scenes that are asked about points, and about how many; of the rest the depth map is written.
DEPTH_SCENES, COUNT_SCENES = 3000, 4000
#: Pictures without marks whose map is written.
MAPS = 2200
#: Lists of boxes and counts that the chain learns beside depth: most of its time goes into depth.
BOXES, COUNTS_ASKED = 1000, 800
#: Steps of either speaker, and samples of each.
STEPS, BATCH = 2200, 16
#: Of these, how many the chain begins with that teach nothing but to point.
POINTING_STEPS = 700
#: Steps of the glass, and pictures that it is taught on.
GLASS_STEPS, GLASS_PICTURES = 1400, 3000
#: Steps of the projector, before either speaker learns.
ALIGN_STEPS = 800
OPTIONS = CompactOptions()


def codebook(data: Path, work: Path) -> None:
    """Train the codebook by the command that anybody can type."""
    words = [
        *("tokens", "train", "--out", str(work / "codebook"), "--steps", "2500"),
        *("--data", f"photos:{data / 'photos'}:{work / 'labels'}@4"),
        *("--data", f"pairs:{work / 'scenes'}@2", "--data", f"pairs:{work / 'indoor'}@2"),
        *("--rate", "1e-3", "--fall", "0.9", "--every", "100", "--threads", "2"),
    ]
    subprocess.run([sys.executable, "-m", "sightline", *words], check=True)


def _tokenizer(work: Path) -> DepthTokenizer:
    return DepthTokenizer(work / "codebook" / "codebook.onnx")


def _seen(data: Path, work: Path) -> Iterator[Seen]:
    """All photographs with labels, and some scenes, in a random order that is always the same."""
    photos = photo_items(data / "photos", work / "labels")
    scenes = rgbd_items(work / "scenes")[:DEPTH_SCENES]
    everything = [(f"p{number:05d}", item) for number, item in enumerate(photos)]
    everything += [(f"s{number:05d}", item) for number, item in enumerate(scenes)]
    random.Random(0).shuffle(everything)
    for name, item in everything:
        try:
            yield seen_of_pair(name, read_pair(item, 336))
        except InputError as error:
            print(f"left out: {error}", file=sys.stderr)


def _counted(work: Path) -> tuple[list[str], Iterator[Counted]]:
    """Half of the scenes to count in are indoors; names tell the halves apart."""
    halves = [
        (letter, *counted_scenes(work / folder, COUNT_SCENES // 2))
        for folder, letter in (("indoor", "i"), ("scenes", "o"))
    ]
    kinds = sorted({kind for _, some, _ in halves for kind in some})
    named = (replace(one, name=letter + one.name) for letter, _, some in halves for one in some)
    return kinds, named


def questions(data: Path, work: Path) -> None:
    """Write pictures and lists of samples."""
    out = work / "questions"
    if (out / "counting.json").is_file():
        return
    tokenizer = _tokenizer(work)
    write_depth_sets(_seen(data, work), out, tokenizer.to_text, asked_share=0.75, map_first=True)
    kinds, counted = _counted(work)
    write_count_sets(counted, kinds, out, asked_share=0.75)


def _records(work: Path) -> dict[str, list[Record]]:
    names = ("reasoning", "pointing", "generation", "boxes", "counting")
    found = {name: read_llava(work / "questions" / f"{name}.json") for name in names}
    return {**found, "generation": found["generation"][:MAPS]}


def _speaker(work: Path) -> Speaker:
    texts = (f"{r.question} {r.answer}" for some in _records(work).values() for r in some)
    plain = (text.split("<DEPTH_START>")[0].replace("<PIXEL_", "\n<PIXEL_") for text in texts)
    words = train_tokenizer(line for text in plain for line in text.splitlines())
    return build_compact(words, OPTIONS, codebook=_tokenizer(work).sha256, glass=_glass(work))


def glass(data: Path, work: Path) -> None:  # noqa: ARG001 - every stage has the same form
    """Teach the glass on pictures of the set, with other points than the questions'."""
    path = work / "glass.safetensors"
    if path.is_file():
        return
    records = read_llava(work / "questions" / "generation.json")[:GLASS_PICTURES]
    pictures = [read_picture(work / "questions" / r.image).pixels for r in records]
    _, shown = read_vit("small")
    taught, _ = train_glass(pictures, eye_of(shown, OPTIONS.side), steps=GLASS_STEPS)
    save_file(taught.state_dict(), path)


def _glass(work: Path) -> MarkGlass:
    found = MarkGlass()
    found.load_state_dict(load_file(work / "glass.safetensors"))
    return found


def looks(data: Path, work: Path) -> None:  # noqa: ARG001
    """Look at every picture once."""
    names = [record.image for some in _records(work).values() for record in some]
    look_ahead(_speaker(work), names, work / "questions", work / "looks", bfloat16=_has_bfloat16())


def align(data: Path, work: Path) -> None:  # noqa: ARG001
    """Teach the projector, which both speakers begin with."""
    path = work / "projector.safetensors"
    if path.is_file():
        return
    found = _records(work)
    records = [r for r in found["reasoning"] if depth.STEPS in r.question]
    records += found["generation"]
    speaker, seen = _speaker(work), Looks(work / "looks")
    some = [torch.from_numpy(seen.of(r.image)[None]).float() for r in records[::97][:64]]
    calm_projector(speaker, some)
    samples = RecordedSamples([(work / "questions", r) for r in records], seen)
    align_projector(speaker, samples, steps=ALIGN_STEPS, bfloat16=_has_bfloat16())
    save_file(speaker.model.model.multi_modal_projector.state_dict(), path)


def _train(work: Path, name: str, records: list[Record]) -> None:
    speaker, seen = _speaker(work), Looks(work / "looks")
    projector = load_file(work / "projector.safetensors")
    speaker.model.model.multi_modal_projector.load_state_dict(projector)
    samples = RecordedSamples([(work / "questions", r) for r in records], seen)
    out = work / name
    options = SpeakerOptions(
        batch=BATCH,
        rate=1e-3,
        projector_rate=1e-3,
        weight_decay=0.01,
        save_every=100,
        longest=700,
        bfloat16=_has_bfloat16(),
    )
    train_speaker(speaker, samples, out, options, data={"samples": len(records)})
    write_compact(speaker, out / "speaker.safetensors", OPTIONS)
    print(out / "speaker.safetensors")


def chain(data: Path, work: Path) -> None:  # noqa: ARG001
    """Teach pointing, perceiving, then more and more of reasoning (the paper's curriculum)."""
    found = _records(work)
    atomic = found["generation"] + found["pointing"] + found["boxes"][:BOXES]
    reasoning = _in_threes(found["reasoning"]) + _in_twos(found["counting"][: 2 * COUNTS_ASKED])
    random.Random(1).shuffle(atomic)
    random.Random(2).shuffle(reasoning)
    flat = [record for group in reasoning for record in group]
    chosen = random.Random(4)
    first = [chosen.choice(found["pointing"]) for _ in range(POINTING_STEPS * BATCH)]
    size = (STEPS - POINTING_STEPS) * BATCH // 10
    _train(work, "chain", first + by_curriculum(atomic, flat, size))


def direct(data: Path, work: Path) -> None:  # noqa: ARG001
    """Teach answers alone, for as many samples."""
    found = _records(work)
    records = [r for r in found["reasoning"] + found["counting"] if r.task == "direct"]
    chosen = random.Random(3)
    _train(work, "direct", [chosen.choice(records) for _ in range(STEPS * BATCH)])


def _in_threes(records: list[Record]) -> list[list[Record]]:
    return [records[k : k + 3] for k in range(0, len(records), 3)]


def _in_twos(records: list[Record]) -> list[list[Record]]:
    return [records[k : k + 2] for k in range(0, len(records), 2)]


def _has_bfloat16() -> bool:
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
        note=f"{Log(run / 'log.jsonl').rows()[-1]['step']} steps; photographs kept out of training: "
        f"order of 2/3/4/5 points {order} %, error {100 * found.error:.1f} %, "
        f"{100 * found.alive:.0f} % of the codes in use",
    )


def publish_speaker(data: Path, work: Path) -> None:  # noqa: ARG001
    """Enter the speaker with steps among the embedded models."""
    path = embedded_folder() / "speaker.safetensors"
    write_bytes(path, (work / "chain" / path.name).read_bytes())
    last = Log(work / "chain" / "log.jsonl").rows()[-1]
    record(
        "speaker",
        path.name,
        None,
        purpose="language",
        summary="answers which point is nearest and how many, in steps",
        trained_on="photographs with depth by small, rendered scenes",
        note=f"{last['step']} steps of {BATCH}, loss {last['loss']:.3f}; docs/tables/perception.md",
    )


PUBLISHERS = {"codebook": publish_codebook, "speaker": publish_speaker}
STAGES = {f.__name__: f for f in (codebook, questions, glass, looks, align, chain, direct)}


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
