"""A model for people: frames in, frames out; files; everything that does not fit is named."""

import json
import zlib

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from sightline.errors import InputError, SightlineError
from sightline.physics.model_runner import VideoModel, continue_video
from sightline.physics.rendering import render
from sightline.physics.worlds.simulation import sample
from sightline.video_model.files import KEY, find_codec, read_model, write_model
from sightline.video_model.pipeline import load

SIZE = 32


@pytest.fixture
def truths():
    samples = sample("uniform", 3)
    return [render(samples[number], SIZE) for number in range(3)]


def test_it_is_a_video_model_of_the_testbed(make, truths):
    model = make()
    assert isinstance(model, VideoModel)
    made = continue_video(model, truths[0], 3)
    assert made.shape == truths[0].shape
    assert np.array_equal(made[:3], truths[0][:3])
    assert not np.array_equal(made[3:], truths[0][3:])
    number = zlib.crc32(np.ascontiguousarray(truths[0][:3]).tobytes())
    assert np.array_equal(made, model.continue_videos(truths[:1], [number])[0])


def test_a_video_is_the_same_in_any_batch_and_follows_from_its_number_and_seed(make, truths):
    model = make()
    together = model.continue_videos(truths, [5, 6, 7])
    apart = model.continue_videos(truths, [5, 6, 7], batch=1)
    for one, two in zip(together, apart, strict=True):
        assert np.abs(one.astype(int) - two).max() <= 1  # rounding of another batch
    assert np.array_equal(apart[1], model.continue_videos(truths[1:2], [6])[0])
    assert not np.array_equal(apart[1], model.continue_videos(truths[1:2], [8])[0])
    assert not np.array_equal(apart[1], model.continue_videos(truths[1:2], [6], seed=1)[0])
    # Only the given frames are looked at.
    cut = [truth.copy() for truth in truths]
    for video in cut:
        video[3:] = 0
    assert np.array_equal(model.continue_videos(cut, [5, 6, 7])[2], together[2])


@pytest.mark.parametrize("says", ["video", "velocity"])
def test_a_file_holds_all_of_a_model(says, make, truths, tmp_path):
    model = make(says=says)
    model.notes = {"data": ["uniform"]}
    write_model(model, tmp_path / "a.safetensors")
    write_model(model, tmp_path / "b.safetensors")
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    again = load(tmp_path / "a.safetensors", "cpu")
    assert (again.build, again.frames, again.size) == (model.build, 32, SIZE)
    assert (again.sampling, again.notes) == (3, {"data": ["uniform"]})
    for name, value in model.network.state_dict().items():
        assert torch.equal(again.network.state_dict()[name], value.half().float()), name
    one, two = (m.continue_videos(truths[:1], [1])[0].astype(int) for m in (model, again))
    assert np.abs(one - two).max() < 8  # half precision
    assert not again.network.training


def test_the_folder_of_a_run_and_the_codec_of_a_model(make, tmp_path, codec, codec_file):
    with pytest.raises(InputError, match="holds no finished model"):
        load(tmp_path)
    write_model(make(), tmp_path / "model.safetensors")
    assert load(tmp_path).size == SIZE
    found, digest = find_codec(tmp_path / "model.safetensors")
    assert torch.equal(found.encoder[0].weight, codec.encoder[0].weight.half().float())
    own, other = find_codec(str(codec_file))
    assert torch.equal(own.encoder[0].weight, codec.encoder[0].weight)
    assert len(digest) == len(other) == 64
    assert digest != other
    assert find_codec("pixels")[1] == "pixels"
    (tmp_path / "torn.safetensors").write_bytes(b"torn")
    with pytest.raises(InputError, match="damaged"):
        find_codec(tmp_path / "torn.safetensors")


def test_what_does_not_fit_is_named(make, truths):
    model = make()
    mask = np.arange(32) < 3
    with pytest.raises(InputError, match="trained with 3 condition frames, got 2; give 3"):
        model.predict(truths[0], np.arange(32) < 2, 32)
    with pytest.raises(InputError, match="only first frames"):
        model.predict(truths[0], mask[::-1], 32)
    with pytest.raises(InputError, match="makes videos of 32 frames, not of 16"):
        model.predict(truths[0][:16], mask[:16], 16)
    with pytest.raises(
        InputError, match="trained at 32 px, got 64 × 64; give videos that were made wi"
    ):
        model.predict(truths[0].repeat(2, 1).repeat(2, 2), mask, 32)
    with pytest.raises(InputError, match="2 frames cannot give 3"):
        model.continue_videos([truths[0][:2]], [0])


def damaged(path, change):
    """Write a model file again, its notes or weights changed."""
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        notes = json.loads(file.metadata()[KEY])
    state = load_file(path)
    change(notes, state)
    save_file(state, path, {KEY: json.dumps(notes)})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda notes, state: notes.update(layout=2), "of layout 2, not 1"),
        (lambda notes, state: state.pop("network.last.bias"), "last.bias is missing"),
        (
            lambda notes, state: state["network.last.bias"].fill_(torch.nan),
            r"last.bias is not finite",
        ),
        (lambda notes, state: notes.pop("build"), "notes: KeyError"),
        (lambda notes, state: notes["transformer"].update(size="tiny"), "damaged video model"),
        (lambda notes, state: notes["transformer"].update(depth=3), "not a description"),
        (lambda notes, state: notes.update(size=64), "its codec and frames make"),
        (lambda notes, state: notes.update(size=33), "no multiples of 8 px"),
        (lambda notes, state: notes.update(frames=0), r"\(frames 0\)"),
        (lambda notes, state: notes.update(frames=10**12), r"\(frames 1000000000000\)"),
        (lambda notes, state: notes.update(frames=31), "its codec and frames make"),
        (lambda notes, state: notes["transformer"].update(frames=16), "of latents"),
        (
            lambda notes, state: notes["build"].update(noise_steps=10**15),
            "noise_steps must be 2 to",
        ),
        (lambda notes, state: notes["build"].update(condition=32), "32 of 32 frames given"),
        (lambda notes, state: notes.update(sampling=1001), "1001 sampling steps of 1000"),
        (lambda notes, state: state.pop("codec.decoder.0.bias"), "damaged codec"),
    ],
)
def test_a_damaged_file(change, said, make, tmp_path):
    path = tmp_path / "model.safetensors"
    write_model(make(), path)
    damaged(path, change)
    with pytest.raises(InputError, match=said) as error:
        read_model(path)
    assert "model.safetensors" in str(error.value)


def test_other_files(tmp_path, codec_file, make):
    with pytest.raises(InputError, match="holds no video model"):
        read_model(codec_file)
    with pytest.raises(InputError, match="no such file"):
        read_model(tmp_path / "nothing.safetensors")
    (tmp_path / "torn.safetensors").write_bytes(b"torn")
    with pytest.raises(InputError, match="damaged"):
        read_model(tmp_path / "torn.safetensors")
    model = make()
    torch.nn.init.constant_(model.network.last.bias, 1e30)
    with pytest.raises(SightlineError, match="does not fit into half precision") as error:
        write_model(model, tmp_path / "large.safetensors")
    assert error.value.exit_code == 1
    assert not (tmp_path / "large.safetensors").exists()
