"""Speakers learn; stopping changes nothing; several processes learn as one does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from sightline.errors import InputError
from sightline.perception.codebook.network import CODES, LENGTH, DepthCodebook
from sightline.perception.codebook.words import to_text
from sightline.perception.model.adapting import adapt
from sightline.perception.model.loading import load_speaker
from sightline.perception.model.options import AdaptOptions, SpeakerOptions
from sightline.perception.model.speech import NOT_LEARNT, concluded, make_lesson
from sightline.perception.model.training import SpeakerLearner, train_speaker
from sightline.perception.questions import depth, scanning
from sightline.perception.questions.markers import Point

from .helpers import Few

CODEBOOK = "ab" * 32


def quiet(_):
    pass


def adapted(hub_folder, dropout=0.1):
    torch.manual_seed(3)
    return adapt(load_speaker(hub_folder), AdaptOptions(4, 8, dropout), CODEBOOK)


def learnt(speaker):
    return {n: p.detach().clone() for n, p in speaker.model.named_parameters() if p.requires_grad}


def test_the_loss_falls_and_the_rest_stays(hub_folder, tmp_path):
    speaker = adapted(hub_folder)
    frozen = {n: p.clone() for n, p in speaker.model.named_parameters() if not p.requires_grad}
    options = SpeakerOptions(batch=3, rate=2e-2, projector_rate=1e-3, save_every=20)
    train_speaker(speaker, Few(180), tmp_path, options, report=quiet)
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [20, 40, 60]
    assert rows[-1]["loss"] < 0.9 * rows[0]["loss"]
    now = dict(speaker.model.named_parameters())
    assert all(torch.equal(value, now[name]) for name, value in frozen.items())


def test_stopped_and_resumed_equals_unbroken(hub_folder, tmp_path):
    options = SpeakerOptions(batch=2, rate=1e-2, save_every=2)
    whole = adapted(hub_folder)
    train_speaker(whole, Few(12), tmp_path / "whole", options, report=quiet)

    class Cut(Few):
        def sample(self, position):
            if position >= 8:
                raise RuntimeError("power cut")
            return super().sample(position)

    with pytest.raises(RuntimeError, match="power cut"):
        train_speaker(adapted(hub_folder), Cut(12), tmp_path / "cut", options, report=quiet)
    second = adapted(hub_folder)
    train_speaker(second, Few(12), tmp_path / "cut", options, report=quiet)
    ours = learnt(second)
    assert all(torch.equal(value, ours[name]) for name, value in learnt(whole).items())
    logs = [(tmp_path / name / "log.jsonl").read_text() for name in ("whole", "cut")]
    assert logs[0] == logs[1]
    with pytest.raises(InputError, match="other rate"):
        train_speaker(
            second, Few(12), tmp_path / "cut", SpeakerOptions(batch=2, rate=3e-2), report=quiet
        )


def test_only_answers_are_learnt(hub_folder):
    writing = adapted(hub_folder).writing
    lesson = make_lesson(writing, [("long question here", "(A)"), ("q", "(B)")])
    assert writing.read(lesson.labels[0][lesson.labels[0] != NOT_LEARNT]) == "(A)"
    said = lesson.labels[1][lesson.labels[1] != NOT_LEARNT]
    assert writing.read(said) == "(B)"
    assert int(said[-1]) == writing.tokenizer.eos_token_id
    assert int((lesson.input_ids[0] == writing.image).sum()) == writing.patches == 4
    assert lesson.attention_mask[1].sum() < lesson.attention_mask[0].sum()
    with pytest.raises(InputError, match="at most 10"):
        make_lesson(writing, [("q", "(A)")], longest=10)
    with pytest.raises(InputError, match="must not contain"):
        writing.prompt("what is <image>?")


def test_only_compact_speakers_have_something_to_focus_on(hub_folder, tmp_path):
    with pytest.raises(InputError, match="only a compact speaker"):
        train_speaker(
            adapted(hub_folder), Few(4), tmp_path, SpeakerOptions(batch=2, focus=1), report=print
        )


def test_what_an_answer_concludes_stands_behind_what_it_perceived():
    points = {"A": Point(10, 20, 30), "B": Point(200, 120, 230)}
    chain = depth.chain("a.jpg", points, to_text(np.zeros((10, 10), int))).answer
    assert concluded(chain) == chain.split("<DEPTH_END>\n")[1]
    assert concluded(chain).startswith("A=11 A11\nB=89 B89")
    counted = scanning.chain("a.jpg", "cup", [(0.1, 0.1, 0.3, 0.4)], ["cup"]).answer
    assert concluded(counted) == "\n".join(counted.splitlines()[-2:])
    assert concluded("Boxes of cups:\nSo the number of cups is 0").startswith("So the number")
    assert concluded("(A)") == "(A)"


def test_a_conclusion_may_count_more_than_what_leads_to_it(hub_folder):
    writing = adapted(hub_folder).writing
    turns = [("q", "first line\n(A)"), ("q", "first line\n(A)")]
    lesson = make_lesson(writing, turns, conclusions=[8.0, 1.0])
    learnt = lesson.labels[0] != NOT_LEARNT
    weighty = lesson.weights[0] == 8
    assert writing.read(lesson.labels[0][weighty]) == "(A)"
    assert (lesson.weights[0][learnt & ~weighty] == 1).all()
    assert (lesson.weights[1] == 1).all()
    assert (make_lesson(writing, turns).weights == 1).all()


def test_reconstruction_is_nothing_where_the_codes_are_right(hub_folder):
    speaker = adapted(hub_folder)
    torch.manual_seed(0)
    codebook = DepthCodebook()
    learner = SpeakerLearner(speaker, codebook, 1.0)
    record, _ = Few(3, long=True).sample(1)
    lesson = make_lesson(speaker.writing, [(record.question, record.answer), ("q", "(A)")])
    labels = lesson.labels[:, 1:]
    vocabulary = len(speaker.writing.tokenizer)
    right = torch.nn.functional.one_hot(labels.clamp(min=0), vocabulary) * 1e4
    assert float(learner._rebuilt(right.float(), labels)) == pytest.approx(0, abs=1e-8)
    loose = torch.zeros(*labels.shape, vocabulary, requires_grad=True)
    wrong = learner._rebuilt(loose, labels)
    assert float(wrong.detach()) > 0
    wrong.backward()
    moved = loose.grad.abs().sum((0, 1)).nonzero()[:, 0]
    assert set(moved.tolist()) <= set(speaker.vocabulary.codes)
    assert (loose.grad.abs().sum(-1) > 0).sum() == LENGTH
    assert not any(p.requires_grad for p in codebook.parameters())
    assert len(speaker.vocabulary.codes) == CODES


def test_reconstruction_counts_in_the_loss(hub_folder, tmp_path):
    torch.manual_seed(0)
    codebook = DepthCodebook()
    options = SpeakerOptions(batch=3, reconstruction=1e6)
    train_speaker(
        adapted(hub_folder, 0), Few(3, long=True), tmp_path / "a", options,
        codebook=codebook, report=quiet,
    )  # fmt: skip
    train_speaker(
        adapted(hub_folder, 0), Few(3, long=True), tmp_path / "b", SpeakerOptions(batch=3),
        report=quiet,
    )  # fmt: skip
    with_, without = (
        json.loads((tmp_path / name / "log.jsonl").read_text())["loss"] for name in "ab"
    )
    assert with_ > without
    with pytest.raises(InputError, match="needs depth tokens"):
        train_speaker(adapted(hub_folder), Few(3), tmp_path / "c", options, report=quiet)


def test_bad_options(hub_folder, tmp_path):
    for wrong in ({"batch": 0}, {"rate": float("nan")}, {"warmup": 2.0}, {"clip": -1}):
        with pytest.raises(InputError):
            SpeakerOptions(**wrong)
    with pytest.raises(InputError, match="do not fill"):
        train_speaker(adapted(hub_folder), Few(3), tmp_path, SpeakerOptions(), report=quiet)


SCRIPT = """
import sys
from pathlib import Path
import torch
sys.path.insert(0, {tests!r})
from helpers import Few
from sightline.depth.training.processes import team
from sightline.perception.model.adapting import adapt
from sightline.perception.model.loading import load_speaker
from sightline.perception.model.options import AdaptOptions, SpeakerOptions
from sightline.perception.model.training import train_speaker
torch.set_num_threads(1)
torch.manual_seed(3)
speaker = adapt(load_speaker({hub!r}), AdaptOptions(4, 8, 0.0), "ab" * 32)
with team("cpu") as ours:
    train_speaker(speaker, Few(16), Path({out!r}), SpeakerOptions(batch=4, rate=1e-2, save_every=1),
                  team=ours)
"""


def test_two_processes_learn_as_one_does(hub_folder, tmp_path):
    losses = []
    for name, count in (("one", 1), ("two", 2)):
        path = tmp_path / f"{name}.py"
        path.write_text(
            SCRIPT.format(
                tests=str(Path(__file__).parent), hub=str(hub_folder), out=str(tmp_path / name)
            )
        )
        launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(count)]
        done = subprocess.run(
            [*launch, str(path)],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        rows = (tmp_path / name / "log.jsonl").read_text().splitlines()
        losses.append([json.loads(row)["loss"] for row in rows])
    assert len(losses[0]) == 4
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3)
