"""The VLM that comes with the package, asked about a photograph that comes with it."""

import json
from collections import Counter

import numpy as np
import pytest
from PIL import Image

import sightline
from sightline.cli import main
from sightline.errors import InputError
from sightline.examples import example_photograph
from sightline.io.images import read_picture
from sightline.perception.codebook import DepthTokenizer
from sightline.perception.questions.counting import plural
from sightline.perception.vlm.model import load_vlm
from sightline.scenes.generate import find_instances, make_scene

#: The table behind the cup, and the saucer in front of it.
POINTS = {"A": (60, 40), "B": (330, 330)}
WORDS = ["--points", *(f"{letter}={x},{y}" for letter, (x, y) in POINTS.items())]


@pytest.fixture(scope="module")
def loaded():
    return load_vlm("perception-vlm"), DepthTokenizer()


def ask(loaded, question, points=None, **settings):
    vlm, tokenizer = loaded
    return sightline.ask(
        example_photograph(), question, points, model=vlm, codebook=tokenizer, **settings
    )


def test_the_saucer_is_nearer_than_the_table_behind_it(loaded):
    reply = ask(loaded, "which is nearest?", POINTS)
    assert reply.final == "B"
    assert reply.answer.perceived == "B"
    assert set(reply.answer.own_places) == {"A", "B"}
    seen = np.array([reply.answer.own_places[letter] for letter in "AB"])
    placed = np.array([reply.answer.places[letter] for letter in "AB"])
    assert np.abs(seen - placed).max() < 336 / 10
    assert set(reply.answer.own_values) == {"A", "B"}


def test_letters_do_not_decide(loaded):
    swapped = {"A": POINTS["B"], "B": POINTS["A"]}
    assert ask(loaded, "which is nearest?", swapped).final == "A"


def test_its_map_is_of_the_picture(loaded):
    drawn = ask(loaded, "depth map").answer.decoded
    found = sightline.load("small").infer(example_photograph())
    small = Image.fromarray(found.values).resize((10, 10), Image.Resampling.BOX)
    cells = drawn.reshape(10, 32, 10, 32).mean((1, 3))
    assert np.corrcoef(cells.ravel(), np.asarray(small).ravel())[0, 1] > 0.8


def test_it_names_the_things_of_a_rendered_scene_and_counts_them(loaded):
    vlm, tokenizer = loaded
    off = []
    for index in range(4):
        frame = make_scene(7101, index, width=320, height=256, kinds=["collection"]).frame
        things = find_instances(frame.instance, frame.depth.values, frame.kinds)
        known = set(vlm.model.config.vision_config.kinds)
        kind, count = Counter(t.kind for t in things if t.kind in known).most_common(1)[0]
        question = f"how many {plural(kind)} are there?"
        reply = sightline.ask(frame.pixels, question, model=vlm, codebook=tokenizer)
        boxes = reply.answer.boxes
        assert "counts in photos are guesses" in reply.to_dict()["caution"]
        assert reply.final == len(boxes) == [k for k, _ in reply.answer.named].count(plural(kind))
        off.append(abs(reply.final - count))
        found = [t for t in things if t.kind == kind]
        hits = [any(_inside(box, t.box, reply) for t in found) for box in boxes]
        assert np.mean(hits) > 0.6
    assert np.mean(off) <= 2


def _inside(box, wanted, reply):
    """Whether the middle of what was said lies in a box."""
    left, top, right, bottom = reply.in_pixels(box)
    return (
        wanted[0] <= (left + right) / 2 <= wanted[2]
        and wanted[1] <= (top + bottom) / 2 <= wanted[3]
    )


def test_it_does_not_pretend_to_count_what_it_does_not_know(loaded):
    with pytest.raises(InputError, match="not trained to count cats") as caught:
        ask(loaded, "how many cats are there?")
    assert "it knows bags, balls" in str(caught.value)


def test_the_command_line_needs_no_model(tmp_path, capsys):
    picture = tmp_path / "answer.png"
    words = ["ask", str(example_photograph()), "which is nearest?", *WORDS]
    assert main([*words, "--picture", str(picture), "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["answer"] == "B"
    assert not captured.err
    assert read_picture(picture).pixels.std() > 10


def test_a_model_of_another_trade():
    with pytest.raises(InputError, match="small is a model for depth, not for language"):
        load_vlm("small")


def test_the_demo_asks(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--only", "ask"]) == 0
    assert "Answer: C" in capsys.readouterr().out
    assert (tmp_path / "demo" / "ask.png").is_file()
