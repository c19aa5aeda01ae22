"""`sightline video`: a model is trained, continues videos and is scored; mistakes are one line."""

import pytest
import torch

from sightline.cli import main
from sightline.physics.data.mp4 import decode
from sightline.physics.data.open import open_dataset
from sightline.video_model import codecs
from sightline.video_model.autoencoder.files import write_codec
from sightline.video_model.autoencoder.frames import FrameCodec
from sightline.video_model.autoencoder.options import FrameOptions
from sightline.video_model.files import read_model
from sightline.video_model.study import catalogue


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A codec, a data set, and a model that was trained for a few steps."""
    folder = tmp_path_factory.mktemp("video")
    torch.manual_seed(0)
    codec = FrameCodec(FrameOptions(channels=4, widths=(4, 6, 8))).eval()
    write_codec(codec, folder / "codec.safetensors")
    words = f"physics make uniform --out {folder}/a.slv --count 3 --size 32 --workers 1"
    assert main(words.split()) == 0
    assert main([*training(folder), "--out", str(folder / "run")]) == 0
    return folder


def training(folder):
    words = "video train --data uniform --data collision:ood@2 --size 32"
    codec = f"--codec {folder}/codec.safetensors"
    build = "--network micro --patch 1 4 4 --says video --videos 6 --sampling 2"
    pace = "--steps 4 --batch 3 --shown 1 --check uniform --validate-every 4 --device cpu"
    return f"{words} {codec} {build} {pace}".split()


def test_a_model_continues_videos_and_they_can_be_scored(folder, capsys):
    assert (folder / "run/samples/0000004.png").is_file()
    assert '"uniform"' in (folder / "run/log.jsonl").read_text()
    out = str(folder / "made")
    words = ["video", "sample", "--model", str(folder / "run"), "--data", str(folder / "a.slv")]
    assert main([*words, "--out", out, "--count", "2", "--device", "cpu"]) == 0
    first = (folder / "made/00001.mp4").read_bytes()
    with open_dataset(folder / "a.slv") as data:
        truth = data.video(1)
    made = decode(first)
    assert (made[:3] == truth[:3]).all()
    assert made.shape == truth.shape
    assert main([*words, "--out", out, "--device", "cpu"]) == 0
    assert (folder / "made/00001.mp4").read_bytes() == first
    assert "3 videos in" in capsys.readouterr().out
    score = f"physics score {out} --truth {folder}/a.slv --out {folder}/score --workers 1"
    assert main(score.split()) == 0
    assert main([*words, "--out", out, "--seed", "1", "--device", "cpu"]) == 2
    assert "holds videos of another model" in capsys.readouterr().err


def test_physics_run_takes_it_as_any_model(folder, monkeypatch, tmp_path):
    from sightline.video_model import model

    path = folder / "run/model.safetensors"
    monkeypatch.setattr(model, "mine", lambda: model.load(path, "cpu"), raising=False)
    words = f"physics run --model sightline.video_model.model:mine --data {folder}/a.slv"
    assert main([*words.split(), "--out", str(tmp_path / "x"), "--count", "1"]) == 0
    assert (tmp_path / "x/00000.mp4").is_file()


def test_the_demo_shows_and_tells(folder, tmp_path, capsys):
    out = tmp_path / "demo"
    words = f"video demo --model {folder}/run/model.safetensors --count 1 --out {out}"
    assert main(words.split()) == 0
    said = capsys.readouterr().out
    assert "in range" in said
    assert "collision" in said
    assert len(said.splitlines()) <= 24
    assert len(list(out.glob("*.mp4"))) == 6
    page = (out / "index.html").read_text()
    assert page.count("data:image/gif") == 6
    assert "<script" not in page


def test_a_codec_is_trained(tmp_path, capsys):
    words = f"video codec --out {tmp_path}/codec --data uniform --size 16 --batch 4 --steps 2"
    kind = ["--kind", "frames", "--channels", "4", "--widths", "4", "6", "8"]
    assert main([*words.split(), *kind]) == 0
    path = tmp_path / "codec/codec.safetensors"
    assert capsys.readouterr().out.strip() == str(path)
    assert codecs.find_codec(path)[0].channels == 4


def test_a_codec_of_moments_is_trained_and_a_model_in_it(tmp_path, capsys):
    words = f"video codec --out {tmp_path}/codec --data uniform --size 32 --batch 8 --steps 2"
    assert main([*words.split(), "--drawn", "8", "--measure", "2"]) == 0
    path = tmp_path / "codec/codec.safetensors"
    codec = codecs.find_codec(path)[0]
    assert (codec.kind, codec.channels, codec.stride) == ("moments", 16, 32)
    more = f"video codec --start {path} --out {tmp_path}/more --data uniform --size 32 --steps 2"
    assert main([*more.split(), "--batch", "8"]) == 0
    better = codecs.find_codec(tmp_path / "more/codec.safetensors")[0]
    assert torch.equal(better.mean, codec.mean)
    assert torch.equal(better.spread, codec.spread)
    assert not torch.equal(better.tell.weight, codec.tell.weight)
    assert main([*more.split(), "--kind", "frames"]) == 2
    assert "is no codec of moments" in capsys.readouterr().err
    words = f"video train --data uniform --videos 4 --size 32 --codec {path} --network nano"
    pace = "--patch 4 1 1 --says video --steps 2 --batch 2 --sampling 2 --shown 1 --device cpu"
    assert main([*words.split(), *pace.split(), "--out", str(tmp_path / "run")]) == 0
    assert read_model(tmp_path / "run/model.safetensors").network.options.grid == (8, 1, 1)
    words = words.replace("--size 32", "--size 64")
    assert main([*words.split(), *pace.split(), "--out", str(tmp_path / "other")]) == 2
    assert "frames of 64 × 64 px, this codec takes 32 × 32" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("video train --data unifrom --out x", "no scenario is called 'unifrom'"),
        (
            "video train --data uniform --out x --condition 32",
            "32 condition frames of videos with 32",
        ),
        ("video train --data uniform --out x --network huge", "no size is called 'huge'"),
        ("video train --data uniform --out x --patch 1 3 3", "not a multiple of the patch"),
        ("video train --data uniform --out x --batch 0", "batch must be at least 1"),
        ("video train --data uniform --out x --size 30", "no multiples of 8 px"),
        ("video study nothing", "no study is called 'nothing'"),
        ("video sample --model nothing --data a --out b", "nothing"),
        ("video demo --count 0", "count must be at least 1"),
    ],
)
def test_mistakes_are_one_line(words, said, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    codec = ["--codec", str(folder / "codec.safetensors")] if "train" in words else []
    assert main([*words.split(), *codec]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "x").exists()


def test_a_model_of_another_size_and_a_data_set_that_is_too_short(folder, tmp_path, capsys):
    words = f"physics make uniform --out {tmp_path}/b.slv --count 1 --size 64 --workers 1"
    assert main(words.split()) == 0
    sample = f"video sample --model {folder}/run --data {tmp_path}/b.slv --out {tmp_path}/c"
    assert main(sample.split()) == 2
    assert (
        "trained at 32 px, got 64 × 64; make the videos with --size 32" in capsys.readouterr().err
    )
    assert not (tmp_path / "c").exists()
    model = read_model(folder / "run/model.safetensors")
    model.frames = 40
    from sightline.video_model.files import write_model

    write_model(model, tmp_path / "long.safetensors")
    sample = f"video sample --model {tmp_path}/long.safetensors --data {folder}/a.slv"
    assert main([*sample.split(), "--out", str(tmp_path / "d")]) == 2
    assert "video 0 has 32 frames, this model makes 40" in capsys.readouterr().err


def test_every_study_is_named_in_the_help(capsys):
    assert main(["video", "study", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for name in catalogue.STUDIES:
        assert name in said
