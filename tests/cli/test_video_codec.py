"""`sightline video codec`: every kind is trained, saved and found again; a model works in each."""

import pytest
import torch

from sightline.cli import main
from sightline.models.hub import quiet_libraries
from sightline.physics.datasets.mp4 import decode
from sightline.video_model import files as codecs
from sightline.video_model.autoencoders.inflated import InflatedVae
from sightline.video_model.files import read_model

PACE = "--steps 2 --batch 2 --sampling 2 --shown 0 --device cpu"


@pytest.fixture(scope="module")
def vae(tmp_path_factory):
    """An image autoencoder of random weights, as the hub lays it out: 4 px to a latent."""
    with quiet_libraries():
        from diffusers import AutoencoderKL
    torch.manual_seed(0)
    made = AutoencoderKL(
        block_out_channels=(8, 8, 16),
        down_block_types=("DownEncoderBlock2D",) * 3,
        up_block_types=("UpDecoderBlock2D",) * 3,
        layers_per_block=1,
        norm_num_groups=4,
        latent_channels=4,
        sample_size=32,
    )
    folder = tmp_path_factory.mktemp("pipeline") / "vae"
    made.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("stride", ["1", "2"])
def test_an_image_autoencoder_is_inflated_trained_and_worked_in(vae, stride, tmp_path, capsys):
    words = f"video codec --kind inflated --start {vae} --out {tmp_path}/codec --data uniform"
    pace = f"--size 32 --batch 10 --steps 2 --measure 1 --floor 2 --frame-stride {stride}"
    assert main([*words.split(), *pace.split(), "--device", "cpu"]) == 0
    told = capsys.readouterr()
    assert told.out.strip() == f"{tmp_path}/codec/codec.safetensors"
    assert "as the paper's Table 3" in told.err
    assert told.err.splitlines()[-1].startswith("uniform ")
    found, digest = codecs.find_codec(tmp_path / "codec")
    assert isinstance(found, InflatedVae)
    assert (found.stride, found.frame_stride) == (4, int(stride))
    assert digest != codecs.find_codec(vae)[1]
    # A codec of pictures goes on as it stopped, and another one is another run.
    assert main([*words.split(), *pace.split(), "--device", "cpu"]) == 0
    assert main([*words.split(), *pace.split(), "--device", "cpu", "--blocks", "2"]) == 2
    assert "holds a run with other" in capsys.readouterr().err
    train = (
        f"video train --data uniform --videos 4 --size 32 --codec {tmp_path}/codec --network nano"
    )
    assert main([*train.split(), *PACE.split(), "--out", str(tmp_path / "run")]) == 0
    model = read_model(tmp_path / "run/model.safetensors")
    assert model.frames == 32 - (stride == "2")
    assert model.network.options.patch == (1, 8, 8)
    make = f"physics make uniform --out {tmp_path}/a.h5 --count 1 --size 32 --workers 1"
    assert main(make.split()) == 0
    sample = f"video sample --model {tmp_path}/run --data {tmp_path}/a.h5 --out {tmp_path}/made"
    assert main([*sample.split(), "--device", "cpu"]) == 0
    assert decode((tmp_path / "made/00000.mp4").read_bytes()).shape == (model.frames, 32, 32, 3)


def test_the_folder_of_an_image_autoencoder_is_a_codec_as_it_is(vae, tmp_path, capsys):
    train = f"video train --data uniform --videos 4 --size 32 --codec {vae} --network nano"
    assert main([*train.split(), *PACE.split(), "--out", str(tmp_path / "run")]) == 0
    assert isinstance(read_model(tmp_path / "run/model.safetensors").codec, InflatedVae)
    (tmp_path / "empty").mkdir()
    train = f"video train --data uniform --codec {tmp_path}/empty --out {tmp_path}/other"
    assert main(train.split()) == 2
    assert "empty: holds no config.json" in capsys.readouterr().err


def test_frames_of_combinatorial_worlds_and_of_files(tmp_path, capsys):
    make = f"physics make collision --out {tmp_path}/a.h5 --count 2 --size 32 --workers 1"
    assert main(make.split()) == 0
    kind = "--kind frames --channels 4 --widths 4 6 8 --batch 4 --steps 2 --measure 1 --floor 2"
    for name, data in (("scenes", "combinatorial:6"), ("file", f"{tmp_path}/a.h5")):
        words = f"video codec --out {tmp_path}/{name} --data {data} --size 32 {kind}"
        assert main(words.split()) == 0
        assert codecs.find_codec(tmp_path / name)[0].channels == 4
    assert "Table 3" not in capsys.readouterr().err  # no law of these is known here
