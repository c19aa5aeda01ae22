"""Networks that are told sentences: by themselves, or by a frozen encoder from a folder."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from sightline.errors import InputError
from sightline.video_model.conditioning import Fact, TextEncoder
from sightline.video_model.data import open_mixture
from sightline.video_model.files import read_model
from sightline.video_model.options import BuildOptions, VideoTraining
from sightline.video_model.training import train_video_model

PACE = {"batch": 4, "warm_up": 2, "save_every": 3, "validate_every": 6, "shown": 1, "sampling": 2}


def train(out, codec, text, encoder=None, words=("collision",), **options):
    return train_video_model(
        open_mixture(words, 32, count=8),
        codec,
        out,
        BuildOptions(network="nano", patch=(1, 4, 4), says="video", text=text),
        VideoTraining(
            **({"steps": 6, "flip": True, "device": "cpu", "rate": 1e-2} | PACE | options)
        ),
        report=lambda _: None,
        encoder=encoder,
    )


def told(model, *speeds):
    return model.conditioning_for([Fact("collision", np.array([1.0, 1.2, v, 1.5])) for v in speeds])


def continued(model, speed):
    video = np.full((32, 32, 32, 3), 255, np.uint8)
    return model.continue_videos([video], [0], described=told(model, speed))[0]


def test_a_network_learns_to_read_and_says_something_else_of_other_words(tmp_path, codec):
    before = train(tmp_path / "short", codec, "words", steps=1)
    model = train(tmp_path / "run", codec, "words", steps=12)
    reader, old = model.network.reader, before.network.reader
    assert not torch.equal(reader.table.weight, old.table.weight)
    assert (continued(model, 1.0) != continued(model, 3.98)).any()
    assert (continued(model, 1.0) == continued(model, 1.001)).all()  # the same words
    again = read_model(tmp_path / "run/model.safetensors")
    assert again.build.text == "words"
    assert again.uses_conditioning
    assert torch.equal(told(again, 2.0).text, told(model, 2.0).text)


def test_a_broken_run_with_words_ends_with_the_same_bytes(tmp_path, codec):
    train(tmp_path / "a", codec, "words")
    # As if killed after the checkpoint of step 3.
    from sightline.video_model import training

    real, seen = training.draw_noise, []

    def plug(seed, numbers, shape):
        seen.append(numbers[0])
        if numbers[0] == 16:
            raise OSError("the plug was pulled")
        return real(seed, numbers, shape)

    training.draw_noise = plug
    try:
        with pytest.raises(OSError, match="plug"):
            train(tmp_path / "b", codec, "words")
    finally:
        training.draw_noise = real
    train(tmp_path / "b", codec, "words")
    one, two = (tmp_path / run / "model.safetensors" for run in "ab")
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("kind", ["t5", "clip"])
def test_a_frozen_encoder_from_a_folder(tmp_path, codec, kind, save_encoder):
    folder = save_encoder(tmp_path / kind, kind)
    encoder = TextEncoder(folder)
    assert encoder.channels == 16
    one, there = encoder.encode(["a red ball", "a ball moves to the left at 2.50"])
    assert one.shape == (2, 16, 16)
    assert there.sum(1).tolist() == [3, 11]
    alone = encoder.encode(["a red ball"])[0]
    assert torch.equal(alone[0, :3], one[0, :3])  # in whatever batch
    model = train(tmp_path / "run", codec, "encoder", encoder, steps=12)
    assert model.network.reader is None
    assert (continued(model, 1.0) != continued(model, 3.98)).any()
    written = read_model(tmp_path / "run/model.safetensors")
    with pytest.raises(InputError, match=r"none is given; give the folder .* --text-encoder"):
        told(written, 1.0)
    written.give_encoder(TextEncoder(folder))
    assert torch.equal(told(written, 1.0).text, told(model, 1.0).text)
    (folder / "tokenizer_config.json").write_text("{}")
    with pytest.raises(InputError, match="trained with another one"):
        written.give_encoder(replace_digest(encoder, folder))


def replace_digest(encoder, folder):
    from sightline.video_model import conditioning as text_encoder

    encoder.digest = text_encoder._digest(folder)
    return encoder


def test_bad_input_is_one_clear_line(tmp_path, codec):
    with pytest.raises(
        InputError, match=r"is not the folder of a text encoder: config\.json is missing"
    ):
        TextEncoder(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "t5"}))
    with pytest.raises(InputError, match="cannot be read as a text encoder"):
        TextEncoder(tmp_path)
    with pytest.raises(InputError, match="--text encoder and --text-encoder FOLDER go together"):
        train(tmp_path / "run", codec, "encoder")
    with pytest.raises(InputError, match="combinatorial videos are not described"):
        train(tmp_path / "run", codec, "words", words=("combinatorial:6",))
    with pytest.raises(InputError, match="text is none, words or encoder"):
        BuildOptions(text="speech")
    assert not (tmp_path / "run").exists()


def test_numbers_and_words_together(make):
    model = make(numbers=True, text="words")
    both = told(model, 1.0, 2.0)
    assert both.numbers.shape == (2, 4)
    assert both.text.shape == both.words.shape == (2, 48)
    assert both.some(1, 2).text.shape == (1, 48)
    assert replace(model.network.options, text=0, vocabulary=0).text == 0
    with pytest.raises(InputError, match="needs channels"):
        replace(model.network.options, text=0)
