"""The file of a codec: it comes back as it was, and anything else is named."""

import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load, save_file
from torch import nn

from sightline.errors import InputError
from sightline.video_model.autoencoders.codec import PixelCodec
from sightline.video_model.autoencoders.files import KEY, read_codec, write_codec
from sightline.video_model.autoencoders.frames import FrameCodec
from sightline.video_model.autoencoders.inflated import InflatedVae
from sightline.video_model.autoencoders.options import FrameOptions, InflatedOptions


@pytest.fixture(scope="module")
def codec():
    torch.manual_seed(0)
    made = FrameCodec(FrameOptions(channels=3, widths=(4, 6, 8))).eval()
    made.measure([torch.rand(2, 3, 2, 16, 16)])
    return made


@pytest.fixture
def path(codec, tmp_path):
    write_codec(codec, tmp_path / "codec.safetensors")
    return tmp_path / "codec.safetensors"


def notes_of(path):
    with safe_open(path, "pt") as file:
        return json.loads(file.metadata()[KEY])


def rewrite(path, state=None, **notes):
    """Write a file again with something changed."""
    changed = notes_of(path) | notes
    save_file(load(path.read_bytes()) if state is None else state, path, {KEY: json.dumps(changed)})


def test_frames_come_back_bit_for_bit(codec, path):
    back = read_codec(path)
    assert isinstance(back, FrameCodec)
    assert back.options == codec.options
    assert not back.training
    for name, value in codec.state_dict().items():
        assert torch.equal(value, back.state_dict()[name]), name
    video = torch.rand(1, 3, 2, 16, 16)
    assert torch.equal(back.encode(video), codec.encode(video))
    assert all(p.requires_grad for p in back.parameters()), "training can go on"


def test_the_header_says_what_it_is(codec, path):
    notes = notes_of(path)
    assert notes["kind"] == "frames"
    assert notes["options"] == {"channels": 3, "widths": [4, 6, 8]}
    assert notes["statistics"]["mean"] == codec.mean.tolist()
    assert notes["statistics"]["spread"] == codec.spread.tolist()
    assert "mean" not in load(path.read_bytes()), "one truth"


def test_the_same_codec_gives_the_same_bytes(codec, path, tmp_path):
    write_codec(codec, tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def test_an_inflated_one_needs_no_other_folder(make_vae, tmp_path):
    codec = InflatedVae(make_vae(), InflatedOptions(blocks=2, frame_stride=2)).eval()
    for module in codec.modules():
        if isinstance(module, nn.Conv3d):
            nn.init.normal_(module.weight, std=0.1)
    write_codec(codec, tmp_path / "codec.safetensors")
    back = read_codec(tmp_path / "codec.safetensors")
    assert isinstance(back, InflatedVae)
    video = torch.rand(1, 3, 3, 16, 16)
    assert torch.equal(back.encode(video), codec.encode(video))
    assert back.options == codec.options


def test_pixels_have_a_file_too(tmp_path):
    write_codec(PixelCodec(), tmp_path / "codec.safetensors")
    assert isinstance(read_codec(tmp_path / "codec.safetensors"), PixelCodec)


def test_files_that_are_none(path, tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_codec(tmp_path / "nothing.safetensors")
    with pytest.raises(InputError, match="no such file"):
        read_codec(tmp_path)
    other = tmp_path / "other.safetensors"
    save_file({"weight": torch.zeros(1)}, other)
    with pytest.raises(InputError, match="holds no codec of videos"):
        read_codec(other)
    torch.save({"weight": torch.zeros(1)}, other)
    with pytest.raises(InputError, match="not a safetensors file"):
        read_codec(other)
    other.write_bytes(b"")
    with pytest.raises(InputError, match="not a safetensors file"):
        read_codec(other)
    whole = path.read_bytes()
    for length in (6, 100, len(whole) - 10):
        other.write_bytes(whole[:length])
        with pytest.raises(InputError, match="damaged"):
            read_codec(other)


@pytest.mark.parametrize(
    ("notes", "words"),
    [
        ({"layout": 2}, "of layout 2, not 1; use another version"),
        ({"kind": "music"}, "no codec is of the kind 'music'"),
        ({"options": {"channels": 0}}, "channels must be at least 1"),
        ({"options": {"depth": 1}}, "damaged codec .its notes: TypeError"),
        ({"options": {"channels": 4, "widths": [4, 6, 8]}}, r"is \(.*expected \("),
        ({"options": {"channels": 3, "widths": [4, 6, 900_000]}}, r"is \(.*expected \("),
        ({"statistics": {"mean": [0, 0, 0]}}, "damaged codec .its notes: KeyError"),
        ({"statistics": {"mean": [0, 0], "spread": [1, 1, 1]}}, r"mean is \(2,\), expected \(3,\)"),
        ({"statistics": {"mean": [0, 0, 0], "spread": [1, 0, 1]}}, "spread that is not positive"),
        ({"statistics": {"mean": [0, 0, float("nan")], "spread": [1, 1, 1]}}, "mean is not finite"),
    ],
)
def test_notes_that_do_not_fit(path, notes, words):
    rewrite(path, **notes)
    with pytest.raises(InputError, match=words) as caught:
        read_codec(path)
    assert str(path) in str(caught.value)


def test_weights_that_do_not_fit(path):
    state = load(path.read_bytes())
    name = "decoder.0.weight"
    rewrite(path, {n: v for n, v in state.items() if n != name})
    with pytest.raises(InputError, match=f"{name} is missing"):
        read_codec(path)
    rewrite(path, state | {"extra": torch.zeros(1)})
    with pytest.raises(InputError, match="extra does not belong there"):
        read_codec(path)
    rewrite(path, state | {name: torch.full_like(state[name], float("inf"))})
    with pytest.raises(InputError, match=f"{name} is not finite"):
        read_codec(path)
