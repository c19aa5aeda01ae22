"""`sightline video`: a model is trained, continues videos and is scored; mistakes are one line."""

import pytest
import torch

from sightline.cli import main
from sightline.physics.datasets.mp4 import decode
from sightline.physics.datasets.reader import open_dataset
from sightline.video_model import files as codecs
from sightline.video_model.autoencoders.files import write_codec
from sightline.video_model.autoencoders.frames import FrameCodec
from sightline.video_model.autoencoders.options import FrameOptions
from sightline.video_model.files import read_model, write_model
from sightline.video_model.studies import catalog


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A codec, a data set, and a model that was trained for a few steps."""
    folder = tmp_path_factory.mktemp("video")
    torch.manual_seed(0)
    codec = FrameCodec(FrameOptions(channels=4, widths=(4, 6, 8))).eval()
    write_codec(codec, folder / "codec.safetensors")
    words = f"physics make uniform --out {folder}/a.h5 --count 3 --size 32 --workers 1"
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
    words = ["video", "sample", "--model", str(folder / "run"), "--data", str(folder / "a.h5")]
    assert main([*words, "--out", out, "--count", "2", "--device", "cpu"]) == 0
    first = (folder / "made/00001.mp4").read_bytes()
    with open_dataset(folder / "a.h5") as data:
        truth = data.video(1)
    made = decode(first)
    assert (made[:3] == truth[:3]).all()
    assert made.shape == truth.shape
    assert main([*words, "--out", out, "--device", "cpu"]) == 0
    assert (folder / "made/00001.mp4").read_bytes() == first
    assert "3 videos in" in capsys.readouterr().out
    score = f"physics score {out} --truth {folder}/a.h5 --out {folder}/score --workers 1"
    assert main(score.split()) == 0
    assert main([*words, "--out", out, "--seed", "1", "--device", "cpu"]) == 2
    assert "holds videos of another model" in capsys.readouterr().err


def test_videos_of_two_models_are_not_mixed(folder, tmp_path, capsys):
    model = tmp_path / "model.safetensors"
    model.write_bytes((folder / "run/model.safetensors").read_bytes())
    words = (
        f"video sample --data {folder}/a.h5 --count 1 --device cpu --out {tmp_path}/made --model"
    )
    assert main([*words.split(), str(model)]) == 0
    # The same model by another path.
    assert main([*words.split(), str(folder / "run")]) == 0
    # Another model in the same place.
    other = read_model(model)
    torch.nn.init.normal_(other.network.last.weight)
    write_model(other, model)
    capsys.readouterr()
    assert main([*words.split(), str(model)]) == 2
    assert "holds videos of another model" in capsys.readouterr().err


def test_physics_run_takes_it_as_any_model(folder, monkeypatch, tmp_path):
    from sightline.video_model import pipeline as model

    path = folder / "run/model.safetensors"
    monkeypatch.setattr(model, "mine", lambda: model.load(path, "cpu"), raising=False)
    words = f"physics run --model sightline.video_model.pipeline:mine --data {folder}/a.h5"
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


def test_training_as_the_readme_has_it_finds_its_own_patch(tmp_path):
    words = f"video train --data uniform --out {tmp_path}/run --videos 4"
    pace = "--steps 1 --batch 2 --sampling 2 --shown 0 --network nano --device cpu"
    assert main([*words.split(), *pace.split()]) == 0
    assert read_model(tmp_path / "run/model.safetensors").network.options.patch == (4, 1, 1)


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
    assert "is not a codec of moments" in capsys.readouterr().err
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
        ("video train --data uniform --out x --check nonsense", "no scenario is called 'nonsense'"),
        (
            "video train --data uniform --out x --check combinatorial:6",
            "combinatorial:6 cannot be checked by laws of motion; give a scenario or a probe",
        ),
        (
            "video train --data uniform --out x --noise-steps 10 --sampling 20",
            "20 sampling steps of a schedule of 10; give --sampling up to 10",
        ),
        (
            "video train --data uniform --out x --seed 99999999999999999999999",
            "seed must be a number",
        ),
        ("video train --data uniform --out x --threads -3", "threads must be at least 1, got -3"),
        ("video train --data uniform --out x --threads 0", "threads must be at least 1, got 0"),
        (
            "video train --data uniform --out x --rate 1e38",
            "rate must be a number from 0 to 1, got 1e+38",
        ),
        ("video train --data uniform --out x --gain inf", "gain must be a number above 0, got inf"),
        (
            "video train --data combinatorial:6 --numbers --condition 1 --out x",
            "combinatorial videos are not described by a few numbers; train without --numbers",
        ),
        ("video codec --out x --batch 0", "a batch of 0 frames has no clip of 4; give --batch 4"),
        (
            "video codec --out x --size 60",
            "frames of 60 px: the side of a frame is a multiple of 8",
        ),
        ("video codec --out x --kind inflated", "begins with an image autoencoder; give --start"),
        ("video codec --out x --threads 0", "threads must be at least 1"),
        (
            "video codec --out x --data uniform --data combinatorial:6 --kind frames",
            "uniform is shown in and out of range, combinatorial:6 as it is",
        ),
        ("video study nothing", "no study is called 'nothing'"),
        ("video sample --model nothing --data a --out b", "nothing"),
        ("video demo --count 0", "count must be at least 1"),
    ],
)
def test_mistakes_are_one_line(words, said, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    codec = ["--codec", str(folder / "codec.safetensors")] if "video train" in words else []
    assert main([*words.split(), *codec]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "x").exists()


def test_a_model_of_another_size_and_a_data_set_that_is_too_short(folder, tmp_path, capsys):
    words = f"physics make uniform --out {tmp_path}/b.h5 --count 1 --size 64 --workers 1"
    assert main(words.split()) == 0
    sample = f"video sample --model {folder}/run --data {tmp_path}/b.h5 --out {tmp_path}/c"
    assert main(sample.split()) == 2
    error = capsys.readouterr().err
    assert "b.h5: this model was trained at 32 px, got 64 × 64; give videos" in error
    assert not (tmp_path / "c").exists()
    train = f"video train --data {tmp_path}/b.h5 --out {tmp_path}/e"
    small = f"video codec --out {tmp_path}/small --data uniform --size 32 --steps 1 --floor 0"
    assert main(small.split()) == 0
    assert main([*train.split(), "--codec", str(tmp_path / "small")]) == 2
    error = capsys.readouterr().err
    assert "b.h5: frames of 64 × 64 px, this codec takes 32 × 32; make the file with" in error
    assert main([*train.split(), "--videos", "100"]) == 2
    assert (
        "b.h5: 100 videos were asked for, it holds 1; give --videos up" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--steps 0", "0 sampling steps of a schedule of 1000; give --steps 1 to 1000"),
        ("--steps 1001", "1001 sampling steps"),
        ("--seed -1", "seed must be a number from 0"),
        ("--count 4", "4 videos from 0 on were asked for, there are 3"),
    ],
)
def test_samples_that_cannot_be_had(flags, said, folder, tmp_path, capsys):
    words = f"video sample --model {folder}/run --data {folder}/a.h5 --out {tmp_path}/d {flags}"
    assert main(words.split()) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "d").exists()


def test_a_corrected_command_takes_the_folder_of_a_failed_start(
    folder, tmp_path, monkeypatch, capsys
):
    out = ["--out", str(tmp_path / "run")]
    words = f"video train --data uniform --videos 4 --size 32 --codec {folder}/codec.safetensors"
    pace = "--network nano --patch 1 4 4 --steps 1 --batch 2 --sampling 2 --shown 0 --device cpu"

    def broken(*_):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("sightline.video_model.training.draw_noise", broken)
        assert main([*words.split(), *pace.split(), *out]) == 1
    assert not (tmp_path / "run/config.toml").exists()
    assert main([*words.split(), *pace.split(), *out, "--rate", "1e-4"]) == 0
    assert main([*words.split(), *pace.split(), *out, "--rate", "1e-3"]) == 2
    assert "holds a run with other rate" in capsys.readouterr().err


def test_every_study_is_named_in_the_help(capsys):
    assert main(["video", "study", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for name in catalog.STUDIES:
        assert name in said
