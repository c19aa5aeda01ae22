"""A whole study, small: trained, scored, told; what is done is not done again."""

import copy
import json
import math
from dataclasses import replace

import pytest
import torch

from sightline.errors import InputError
from sightline.physics.video_metrics.frame_metrics import NotAvailable
from sightline.video_model.autoencoders.codec import PixelCodec, latent_shape
from sightline.video_model.autoencoders.files import write_codec
from sightline.video_model.autoencoders.frames import FrameCodec
from sightline.video_model.autoencoders.options import CodecTraining
from sightline.video_model.learner import transformer_for
from sightline.video_model.options import BuildOptions, VideoTraining
from sightline.video_model.studies import catalog, evaluate, run
from sightline.video_model.studies.catalog import Budget, Study, Trial
from sightline.video_model.studies.run import check_fit, run_study, trial_config, write_trial_config


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
    monkeypatch.setitem(catalog.STUDIES, "small", made)
    return made


def test_a_study_is_run_told_and_not_run_again(study, tmp_path, codec_file, monkeypatch):
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

    with monkeypatch.context() as patch:
        patch.setattr(run, "train_video_model", never)
        assert run_study("small", "cpu", tmp_path / "out", **where) == found
        (tmp_path / "out/uniform-micro-8/scores.json").unlink()
        with pytest.raises(AssertionError, match="trained again"):
            run_study("small", "cpu", tmp_path / "out", **where)
    assert run_study("small", "cpu", tmp_path / "out", **where) == found
    (tmp_path / "out/uniform-micro-8/scores.json").write_text("{}")
    with pytest.raises(InputError, match=r"scores\.json: is not the score file of a trial"):
        run_study("small", "cpu", tmp_path / "out", **where)


def never(*_, **__):
    raise AssertionError("trained again")


def test_scores_of_another_study_are_refused_before_anything_is_trained(
    study, tmp_path, codec_file, monkeypatch, codec
):
    where = {"device": "cpu", "report": lambda _: None}
    out = tmp_path / "out"
    run_study("small", "cpu", out, codec=str(codec_file), **where)
    # The second trial alone is left: the first one must be looked at before it is trained.
    (out / "uniform-micro-8/scores.json").unlink()
    monkeypatch.setattr(run, "train_video_model", never)
    other = copy.deepcopy(codec)
    torch.nn.init.ones_(other.encoder[0].bias)
    write_codec(other, tmp_path / "other.safetensors")
    with pytest.raises(InputError, match="holds a trial with other codec; choose another --out"):
        run_study("small", "cpu", out, codec=str(tmp_path / "other.safetensors"), **where)
    cost = study.budgets["cpu"]
    first = cost.trials[0]
    changes = {
        "training": replace(cost, training=replace(cost.training, steps=4)),
        "network": replace(cost, build=replace(cost.build, gain=2.0)),
        "tests": replace(cost, count=4),
        "data": replace(cost, trials=(replace(first, data=("collision",)), cost.trials[1])),
    }
    for words, changed in changes.items():
        small = replace(study, budgets={"cpu": changed})
        monkeypatch.setitem(catalog.STUDIES, "small", small)
        with pytest.raises(InputError, match=f"holds a trial with other {words}"):
            run_study("small", "cpu", out, codec=str(codec_file), **where)
    monkeypatch.setitem(catalog.STUDIES, "small", study)
    (out / "uniform-micro-4/made.json").unlink()
    with pytest.raises(InputError, match=r"scores\.json: has no record of its configuration"):
        run_study("small", "cpu", out, codec=str(codec_file), **where)


def test_a_codec_that_does_not_fit_is_named_before_training(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "train_video_model", never)
    monkeypatch.setattr(run, "train_new_codec", never)
    with pytest.raises(InputError, match="videos of 128 px: frames of 128 × 128 px, this codec ta"):
        run_study("scaling", "paper", tmp_path, codec="video", device="cpu")
    with pytest.raises(
        InputError, match="leave out --codec for one of the study's own, or give a --c"
    ):
        run_study("scaling", "paper", tmp_path, codec="video", device="cpu")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", list(catalog.STUDIES))
def test_paper_budgets_fit_their_codecs_and_are_mirrored_unless_a_study_says_otherwise(name):
    """Everything short of training: codec of the study's own, inflated, or pixels."""
    cost = catalog.STUDIES[name].budgets["paper"]
    assert cost.codec is not None
    assert cost.size == (256 if name == "combinatorial" else 128)
    for codec in (FrameCodec(), PixelCodec()):
        check_fit(cost, codec)
        tokens = [
            transformer_for(
                latent_shape(codec, 32, cost.size), codec.stride, cost.build_of(t, codec.stride)
            ).grid
            for t in cost.trials
        ]
        assert all(math.prod(grid) <= 8192 for grid in tokens)
    for trial in cost.trials:
        assert cost.training_of(trial).flip == (name != "memorization")
        for processes in (1, 8, 32):
            options = cost.training_of(trial, processes)
            part = 256 / processes / options.accumulate
            assert part <= cost.at_once
            assert options.accumulate * processes <= 256


def test_an_unknown_study_is_named():
    with pytest.raises(InputError, match="no study is called 'scalling'; did you mean scaling"):
        run_study("scalling", "cpu", None)


def test_templates_with_a_codec_of_their_own(tmp_path, monkeypatch):
    real = catalog.STUDIES["combinatorial"]
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
        fvd=True,
    )
    monkeypatch.setattr(run, "_FRAMES", 2)
    monkeypatch.setattr(evaluate, "load_i3d", lambda: NotAvailable("FVD", "not here", "get it"))
    monkeypatch.setitem(catalog.STUDIES, "combinatorial", replace(real, budgets={"cpu": small}))
    found = run_study("combinatorial", "cpu", tmp_path, device="cpu", report=lambda _: None)
    assert found[0].startswith("6 templates: in template, FVD –, in template, SSIM 0.")
    assert "FVD: not here; run get it" in found
    assert found[1].startswith("true videos, only coded (6 templates): –, 0.")
    assert found[2].startswith("the given frame again and again (6 templates): –, 0.")
    assert (tmp_path / "codec/codec.safetensors").is_file()
    page = (tmp_path / "report.html").read_text()
    assert "data:image/png" in page
    assert "judgment of ten people" in page
    # Its own codec is compared, too.
    with monkeypatch.context() as patch:
        other = replace(small, codec=CodecTraining(steps=3, measure=1))
        patch.setitem(catalog.STUDIES, "combinatorial", replace(real, budgets={"cpu": other}))
        with pytest.raises(InputError, match="codec: holds a trial with other training"):
            run_study("combinatorial", "cpu", tmp_path, device="cpu", report=lambda _: None)


def test_results_of_another_budget_are_refused_before_a_codec_is_trained(tmp_path, monkeypatch):
    folder = tmp_path / "velocity-gap-2-3"
    cost = catalog.STUDIES["velocity-gap"].budgets["cpu"]
    trial = next(t for t in cost.trials if t.name == folder.name)
    write_trial_config(folder, trial_config(trial, cost, 64, "digest", run.SEED))
    monkeypatch.setattr(run, "train_new_codec", never)
    with pytest.raises(InputError, match="holds a trial with other data, tests, network, training"):
        run_study("velocity-gap", "paper", tmp_path, device="cpu", report=lambda _: None)


def test_pictures_of_scenes_have_the_columns_of_the_paper(make, monkeypatch):
    """FVD and LPIPS by networks that stand in for the real ones."""
    seen = []

    class Features:
        def __call__(self, clip):
            return clip.mean((0, 2, 3, 4))[None].repeat(1, 4)

    monkeypatch.setattr(evaluate, "load_i3d", Features)
    monkeypatch.setattr(evaluate, "lpips", lambda made, truth: seen.append(len(made)) or 0.25)
    truths = {}
    model = make(condition=1)
    found, film = evaluate.figures_of(model, "combinatorial:6", 3, 0, "k", "words", truths)
    assert found["lpips"] == 0.25
    assert found["fvd"] >= 0
    assert found["videos"] == 3
    assert seen == 3 * [31, 31, 31]
    assert found["still"]["psnr"] != found["psnr"] != found["coded"]["psnr"]
    assert "data:image/png" in film
    before = truths["combinatorial:6"]
    again = evaluate.figures_of(model, "combinatorial:6", 3, 0, "k", "words", truths)[0]
    assert truths["combinatorial:6"] is before
    assert again == found
    without = evaluate.figures_of(model, "combinatorial:6", 3, 0, "k", "words", {}, fvd=False)[0]
    assert "wants 500 videos" in without["fvd"]["not_available"]
    assert without["psnr"] == found["psnr"]
