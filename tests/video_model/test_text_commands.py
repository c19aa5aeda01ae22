"""`sightline video … --text`: trained with sentences, sampled with them, and mistakes are one line."""

import pytest
import torch

from sightline.cli import main
from sightline.video_model.autoencoders.files import write_codec
from sightline.video_model.autoencoders.frames import FrameCodec
from sightline.video_model.autoencoders.options import FrameOptions
from sightline.video_model.options import BuildOptions, VideoTraining
from sightline.video_model.studies import catalog
from sightline.video_model.studies.catalog import Budget, Study, Trial


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(0)
    codec = FrameCodec(FrameOptions(channels=4, widths=(4, 6, 8))).eval()
    write_codec(codec, tmp_path / "codec.safetensors")
    words = f"physics make collision --out {tmp_path}/a.h5 --count 2 --size 32 --workers 1"
    assert main(words.split()) == 0
    return tmp_path


def training(folder, *more):
    words = (
        f"video train --data collision --size 32 --codec {folder}/codec.safetensors --network nano"
    )
    pace = "--patch 1 4 4 --says video --videos 4 --sampling 2 --steps 3 --batch 2 --shown 1"
    return [*words.split(), *pace.split(), "--device", "cpu", *more]


def sampling(folder, model, out, *more):
    words = f"video sample --data {folder}/a.h5 --device cpu --model {folder}/{model} --out"
    return [*words.split(), str(folder / out), *more]


def test_words_that_a_network_reads_by_itself(folder, capsys):
    assert main(training(folder, "--text", "words", "--out", str(folder / "run"))) == 0
    assert main(sampling(folder, "run", "made")) == 0
    assert (folder / "made/00001.mp4").is_file()
    assert main(training(folder, "--text", "encoder", "--out", str(folder / "other"))) == 2
    assert "--text encoder and --text-encoder FOLDER go together" in capsys.readouterr().err
    assert not (folder / "other").exists()


def test_an_encoder_from_a_folder(folder, save_encoder, capsys):
    encoder = str(save_encoder(folder / "t5", "t5"))
    more = ("--text", "encoder", "--text-encoder", encoder, "--out", str(folder / "run"))
    assert main(training(folder, *more)) == 0
    capsys.readouterr()
    assert main(sampling(folder, "run", "made")) == 2
    assert "none is given; give the folder" in capsys.readouterr().err
    assert main(sampling(folder, "run", "made", "--text-encoder", encoder)) == 0
    assert (folder / "made/00001.mp4").is_file()
    assert main(sampling(folder, "run", "else", "--text-encoder", str(folder))) == 2
    assert "is not the folder of a text encoder" in capsys.readouterr().err


def test_a_study_tells_the_same_in_words(folder, save_encoder, monkeypatch, capsys):
    tests = (("in range", "collision"), ("out of range", "collision:ood"))
    trials = (
        Trial("frames", "frames alone", ("collision",), tests, "nano", 4),
        Trial("text", "and words", ("collision",), tests, "nano", 4, text=True),
    )
    training = VideoTraining(steps=2, batch=2, sampling=2, shown=0)
    small = Budget(trials, 32, BuildOptions(patch=(1, 4, 4), says="video"), training, 2)
    made = Study("small", "A title", "Fig. 0", "Why?", "that", "conditions", {"cpu": small})
    monkeypatch.setitem(catalog.STUDIES, "small", made)
    words = f"video study small --codec {folder}/codec.safetensors --device cpu --out".split()
    assert main([*words, str(folder / "read")]) == 0
    assert "and words: " in capsys.readouterr().out
    encoder = str(save_encoder(folder / "clip", "clip"))
    assert main([*words, str(folder / "read"), "--text-encoder", encoder]) == 2
    assert "holds a trial with other network" in capsys.readouterr().err
    assert main([*words, str(folder / "told"), "--text-encoder", encoder]) == 0
    assert '"text_encoder"' in (folder / "told/text/made.json").read_text()
    assert '"text_encoder"' not in (folder / "told/frames/made.json").read_text()
    wrong = f"video study scaling --out {folder}/x --text-encoder {encoder}".split()
    assert main(wrong) == 2
    assert "the study scaling uses no sentences" in capsys.readouterr().err
