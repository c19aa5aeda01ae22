"""VLMs learn; stopping changes nothing; several processes learn as one does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from sightline.errors import InputError
from sightline.perception.codebook import DepthCodebook
from sightline.perception.options import LoraOptions, VLMTraining
from sightline.perception.questions import counting, depth
from sightline.perception.questions.hardblink import Point
from sightline.perception.tokens import CODES, LENGTH, to_text
from sightline.perception.vlm.lora import add_lora
from sightline.perception.vlm.model import load_vlm
from sightline.perception.vlm.processing import NOT_LEARNED, concluded, make_token_batch
from sightline.perception.vlm.training import VLMObjective, train_vlm

from .helpers import Few

CODEBOOK = "ab" * 32


def quiet(_):
    pass


def adapted(hub_folder, dropout=0.1):
    torch.manual_seed(3)
    return add_lora(load_vlm(hub_folder), LoraOptions(4, 8, dropout), CODEBOOK)


def learned(vlm):
    return {n: p.detach().clone() for n, p in vlm.model.named_parameters() if p.requires_grad}


def test_the_loss_falls_and_the_rest_stays(hub_folder, tmp_path):
    vlm = adapted(hub_folder)
    frozen = {n: p.clone() for n, p in vlm.model.named_parameters() if not p.requires_grad}
    options = VLMTraining(batch=3, rate=2e-2, projector_rate=1e-3, save_every=20, validate_every=20)
    train_vlm(vlm, Few(180), tmp_path, options, report=quiet)
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [20, 40, 60]
    assert rows[-1]["loss"] < 0.9 * rows[0]["loss"]
    now = dict(vlm.model.named_parameters())
    assert all(torch.equal(value, now[name]) for name, value in frozen.items())


def test_stopped_and_resumed_equals_unbroken(hub_folder, tmp_path):
    options = VLMTraining(batch=2, rate=1e-2, save_every=2, validate_every=2)
    whole = adapted(hub_folder)
    train_vlm(whole, Few(12), tmp_path / "whole", options, report=quiet)

    class Cut(Few):
        def sample(self, position):
            if position >= 8:
                raise RuntimeError("power cut")
            return super().sample(position)

    with pytest.raises(RuntimeError, match="power cut"):
        train_vlm(adapted(hub_folder), Cut(12), tmp_path / "cut", options, report=quiet)
    second = adapted(hub_folder)
    train_vlm(second, Few(12), tmp_path / "cut", options, report=quiet)
    ours = learned(second)
    assert all(torch.equal(value, ours[name]) for name, value in learned(whole).items())
    logs = [(tmp_path / name / "log.jsonl").read_text() for name in ("whole", "cut")]
    assert logs[0] == logs[1]
    with pytest.raises(InputError, match="other rate"):
        train_vlm(second, Few(12), tmp_path / "cut", VLMTraining(batch=2, rate=3e-2), report=quiet)


def test_only_answers_are_learned(hub_folder):
    chat = adapted(hub_folder).chat
    lesson = make_token_batch(chat, [("long question here", "(A)"), ("q", "(B)")])
    assert chat.read(lesson.labels[0][lesson.labels[0] != NOT_LEARNED]) == "(A)"
    said = lesson.labels[1][lesson.labels[1] != NOT_LEARNED]
    assert chat.read(said) == "(B)"
    assert int(said[-1]) == chat.tokenizer.eos_token_id
    assert int((lesson.input_ids[0] == chat.image).sum()) == chat.patches == 4
    assert lesson.attention_mask[1].sum() < lesson.attention_mask[0].sum()
    with pytest.raises(InputError, match="at most 10"):
        make_token_batch(chat, [("q", "(A)")], longest=10)
    with pytest.raises(InputError, match="must not contain"):
        chat.prompt("what is <image>?")


def test_only_compact_vlms_have_something_to_focus_on(hub_folder, tmp_path):
    with pytest.raises(InputError, match="only a compact VLM"):
        train_vlm(
            adapted(hub_folder), Few(4), tmp_path, VLMTraining(batch=2, focus=1), report=print
        )


def test_what_an_answer_concludes_stands_behind_what_it_perceived():
    points = {"A": Point(10, 20, 30), "B": Point(200, 120, 230)}
    chain = depth.chain("a.jpg", points, to_text(np.zeros((10, 10), int))).answer
    assert concluded(chain) == chain.split("<DEPTH_END>\n")[1]
    assert concluded(chain).startswith("A=11 A11\nB=89 B89")
    counted = counting.listing_chain("a.jpg", "cup", [(0.1, 0.1, 0.3, 0.4)], ["cup"]).answer
    assert concluded(counted) == "\n".join(counted.splitlines()[-2:])
    assert concluded("Boxes of cups:\nSo the number of cups is 0").startswith("So the number")
    assert concluded("(A)") == "(A)"


def test_a_conclusion_may_count_more_than_what_leads_to_it(hub_folder):
    chat = adapted(hub_folder).chat
    turns = [("q", "first line\n(A)"), ("q", "first line\n(A)")]
    lesson = make_token_batch(chat, turns, conclusions=[8.0, 1.0])
    learned = lesson.labels[0] != NOT_LEARNED
    weighty = lesson.weights[0] == 8
    assert chat.read(lesson.labels[0][weighty]) == "(A)"
    assert (lesson.weights[0][learned & ~weighty] == 1).all()
    assert (lesson.weights[1] == 1).all()
    assert (make_token_batch(chat, turns).weights == 1).all()


def test_reconstruction_is_nothing_where_the_codes_are_right(hub_folder):
    vlm = adapted(hub_folder)
    torch.manual_seed(0)
    codebook = DepthCodebook()
    learner = VLMObjective(vlm, codebook, 1.0)
    record, _ = Few(3, long=True).sample(1)
    lesson = make_token_batch(vlm.chat, [(record.question, record.answer), ("q", "(A)")])
    labels = lesson.labels[:, 1:]
    vocabulary = len(vlm.chat.tokenizer)
    right = torch.nn.functional.one_hot(labels.clamp(min=0), vocabulary) * 1e4
    assert float(learner._rebuilt(right.float(), labels)) == pytest.approx(0, abs=1e-8)
    loose = torch.zeros(*labels.shape, vocabulary, requires_grad=True)
    wrong = learner._rebuilt(loose, labels)
    assert float(wrong.detach()) > 0
    wrong.backward()
    moved = loose.grad.abs().sum((0, 1)).nonzero()[:, 0]
    assert set(moved.tolist()) <= set(vlm.vocabulary.codes)
    assert (loose.grad.abs().sum(-1) > 0).sum() == LENGTH
    assert not any(p.requires_grad for p in codebook.parameters())
    assert len(vlm.vocabulary.codes) == CODES


def test_reconstruction_counts_in_the_loss(hub_folder, tmp_path):
    torch.manual_seed(0)
    codebook = DepthCodebook()
    options = VLMTraining(batch=3, reconstruction=1e6)
    train_vlm(
        adapted(hub_folder, 0), Few(3, long=True), tmp_path / "a", options,
        codebook=codebook, report=quiet,
    )  # fmt: skip
    train_vlm(
        adapted(hub_folder, 0), Few(3, long=True), tmp_path / "b", VLMTraining(batch=3),
        report=quiet,
    )  # fmt: skip
    with_, without = (
        json.loads((tmp_path / name / "log.jsonl").read_text())["loss"] for name in "ab"
    )
    assert with_ > without
    with pytest.raises(InputError, match="needs depth tokens"):
        train_vlm(adapted(hub_folder), Few(3), tmp_path / "c", options, report=quiet)


def test_bad_options(hub_folder, tmp_path):
    for wrong in ({"batch": 0}, {"rate": float("nan")}, {"warmup": 2.0}, {"clip": -1}):
        with pytest.raises(InputError):
            VLMTraining(**wrong)
    with pytest.raises(InputError, match="do not fill"):
        train_vlm(adapted(hub_folder), Few(3), tmp_path, VLMTraining(), report=quiet)


SCRIPT = """
import sys
from pathlib import Path
import torch
sys.path.insert(0, {tests!r})
from helpers import Few
from sightline.training.distributed import join_processes
from sightline.perception.vlm.lora import add_lora
from sightline.perception.vlm.model import load_vlm
from sightline.perception.options import LoraOptions, VLMTraining
from sightline.perception.vlm.training import train_vlm
torch.set_num_threads(1)
torch.manual_seed(3)
vlm = add_lora(load_vlm({hub!r}), LoraOptions(4, 8, 0.0), "ab" * 32)
with join_processes("cpu") as ours:
    options = VLMTraining(batch=4, rate=1e-2, save_every=1, validate_every=1)
    train_vlm(vlm, Few(16), Path({out!r}), options, distributed=ours)
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
