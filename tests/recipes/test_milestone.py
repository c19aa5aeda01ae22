"""A milestone keeps what a run changed and gives the whole network back."""

import sys
from pathlib import Path

import pytest
import torch

from sightline.depth.checkpoints import make_network, read_checkpoint, write_checkpoint
from sightline.errors import InputError
from sightline.models.download import resolve

sys.path.insert(0, str(Path(__file__).parents[2] / "recipes" / "cpu"))
from milestone import main, pack, unpack


@pytest.fixture
def run(tmp_path):
    """Return a checkpoint that differs from `tiny` in one tensor, and that tensor's name."""
    checkpoint = read_checkpoint(resolve("tiny").path)
    state = make_network(checkpoint).state_dict()
    name = next(name for name, value in state.items() if value.ndim == 4)
    state[name] = state[name] + 0.25 * state[name].abs().max()
    write_checkpoint(tmp_path / "model.safetensors", state, checkpoint.spec)
    return tmp_path / "model.safetensors", name, state


def test_only_the_changed_tensor_is_kept(run, tmp_path):
    model, name, state = run
    assert pack(model, "tiny", tmp_path / "kept") == 1
    assert (tmp_path / "kept").stat().st_size < model.stat().st_size / 10
    assert unpack(tmp_path / "kept", tmp_path / "whole.safetensors") == 1
    found = make_network(read_checkpoint(tmp_path / "whole.safetensors")).state_dict()
    for key, value in state.items():
        if key != name:
            assert torch.equal(found[key], value), key
    torch.testing.assert_close(found[name], state[name], rtol=1e-3, atol=1e-4)


def test_another_base_is_refused(run, tmp_path, monkeypatch):
    model, _, _ = run
    pack(model, "tiny", tmp_path / "kept")
    monkeypatch.setattr("milestone.base_state", lambda _: ({}, "0" * 64))
    with pytest.raises(InputError, match="another version of tiny"):
        unpack(tmp_path / "kept", tmp_path / "whole")


def test_nothing_changed_and_another_network_are_refused(tmp_path, capsys):
    weights = resolve("tiny").path
    with pytest.raises(InputError, match="nothing to keep"):
        pack(weights, "tiny", tmp_path / "kept")
    with pytest.raises(SystemExit) as stopped:
        main(["pack", "--model", str(weights), "--base", "small", "--out", str(tmp_path / "kept")])
    assert stopped.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
