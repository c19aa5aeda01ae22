"""A whole study, small: trained, scored, told; what is done is not done again."""

import json

import pytest
import torch

from sightline.errors import InputError
from sightline.video_model.autoencoder.files import write_codec
from sightline.video_model.autoencoder.options import CodecTraining
from sightline.video_model.options import BuildOptions, VideoTraining
from sightline.video_model.study import catalogue, run
from sightline.video_model.study.parts import Budget, Study, Trial
from sightline.video_model.study.run import run_study


@pytest.fixture
def study(monkeypatch):
    tests = (("in range", "uniform"), ("out of range", "uniform:ood"))
    trials = tuple(
        Trial(f"uniform-micro-{count}", f"{count} videos", ("uniform",), tests, "micro", count)
        for count in (4, 8)
    )
    training = VideoTraining(steps=3, batch=2, sampling=2, shown=0)
    small = Budget(trials, 32, BuildOptions(patch=(1, 4, 4), says="video"), training, 3)
    made = Study("small", "A title", "Fig. 0", "Why?", "that", "scaling", {"cpu": small})
    monkeypatch.setitem(catalogue.STUDIES, "small", made)
    return made


def test_a_study_is_run_told_and_not_run_again(study, tmp_path, codec_file, monkeypatch, codec):
    lines = []
    where = {"codec": str(codec_file), "device": "cpu", "report": lines.append}
    found = run_study("small", "cpu", tmp_path / "out", **where)
    assert found[-1] == str(tmp_path / "out/report.html")
    assert any("uniform, from micro with 4 videos to micro with 8" in line for line in found)
    page = (tmp_path / "out/report.html").read_text()
    assert "A title" in page
    assert "Fig. 0" in page
    assert page.count("<svg") >= 6
    score = json.loads((tmp_path / "out/uniform-micro-4/scores.json").read_text())
    assert len(score["tests"]["in range"]["init"]) == 3

    def never(*_, **__):
        raise AssertionError("trained again")

    with monkeypatch.context() as patch:
        patch.setattr(run, "train_video_model", never)
        assert run_study("small", "cpu", tmp_path / "out", **where) == found
        (tmp_path / "out/uniform-micro-8/scores.json").unlink()
        with pytest.raises(AssertionError, match="trained again"):
            run_study("small", "cpu", tmp_path / "out", **where)
    assert run_study("small", "cpu", tmp_path / "out", **where) == found
    # Another codec is another study.
    torch.nn.init.zeros_(codec.encoder[0].bias)
    write_codec(codec, tmp_path / "other.safetensors")
    (tmp_path / "out/uniform-micro-8/scores.json").write_text("{}")
    with pytest.raises(InputError, match="is no score of a trial"):
        run_study("small", "cpu", tmp_path / "out", **where)


def test_an_unknown_study_is_named():
    with pytest.raises(InputError, match="no study is called 'scalling'; did you mean scaling"):
        run_study("scalling", "cpu", None)


def test_templates_with_a_codec_of_their_own(tmp_path, monkeypatch):
    from dataclasses import replace

    real = catalogue.STUDIES["combinatorial"]
    cost = real.budgets["cpu"]
    trial = replace(cost.trials[0], network="micro", videos=3)
    small = replace(
        cost,
        trials=(trial,),
        size=32,
        count=2,
        build=replace(cost.build, patch=(4, 4, 4)),
        training=VideoTraining(steps=2, batch=2, sampling=2, shown=0),
        codec=CodecTraining(steps=2, measure=1),
    )
    monkeypatch.setattr(run, "_FRAMES", 2)
    monkeypatch.setitem(catalogue.STUDIES, "combinatorial", replace(real, budgets={"cpu": small}))
    found = run_study("combinatorial", "cpu", tmp_path, device="cpu", report=lambda _: None)
    assert found[0].startswith("6 templates: in template, PSNR ")
    assert (tmp_path / "codec/codec.safetensors").is_file()
    assert "data:image/png" in (tmp_path / "report.html").read_text()
