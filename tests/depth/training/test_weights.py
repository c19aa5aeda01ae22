"""The mean of trainings."""

import pytest
import torch
from safetensors.torch import load_file

from sightline.cli import main
from sightline.depth.checkpoints import write_checkpoint
from sightline.depth.compact import CompactDepth, compact_spec
from sightline.depth.training.weights import average_models
from sightline.errors import InputError
from sightline.types import Kind


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    paths = []
    for seed in range(3):
        torch.manual_seed(seed)
        paths.append(folder / f"{seed}.safetensors")
        write_checkpoint(paths[-1], CompactDepth().state_dict(), compact_spec())
    return paths


def test_it_is_the_mean(models, tmp_path, capsys):
    out = tmp_path / "mean.safetensors"
    assert main(["train", "mean", *map(str, models), "--out", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    parts, mean = [load_file(path) for path in models], load_file(out)
    for name, value in mean.items():
        expected = torch.stack([part[name].float() for part in parts]).mean(0)
        if value.is_floating_point():
            torch.testing.assert_close(value, expected)


def test_what_has_no_mean(models, tmp_path):
    with pytest.raises(InputError, match="two models or more"):
        average_models(models[:1], tmp_path / "a.safetensors")
    torch.manual_seed(0)
    other = compact_spec(Kind.METRIC_DEPTH, 10.0)
    write_checkpoint(tmp_path / "metric.safetensors", CompactDepth().state_dict(), other)
    with pytest.raises(InputError, match=r"is read in another way than .*kind, max_depth"):
        average_models([models[0], tmp_path / "metric.safetensors"], tmp_path / "b.safetensors")
    assert not (tmp_path / "b.safetensors").exists()
    with pytest.raises(InputError, match=r"written as \.safetensors"):
        average_models(models, tmp_path / "b.pth")
