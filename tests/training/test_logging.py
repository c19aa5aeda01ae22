"""Logs of a run."""

import sys
import types
from pathlib import Path

import pytest

from sightline.errors import InputError
from sightline.training.logging import JsonlLog, open_loggers, progress_line


def test_a_log_drops_what_the_checkpoint_has_not_seen(tmp_path):
    log = JsonlLog(tmp_path / "log.jsonl")
    for step in (2, 4, 6):
        log.add({"step": step})
    with log.path.open("a") as file:
        file.write('{"step": 8, "lo')  # cut short by a kill
    log.drop_after(4)
    assert [row["step"] for row in log.rows()] == [2, 4]
    log.path.write_text('nonsense\n{"step": 1}\n')
    with pytest.raises(InputError, match="line 1 is not JSON"):
        log.rows()


def fake_tensorboard(monkeypatch, said):
    class Writer:
        def __init__(self, folder):
            said.append(Path(folder).name)

        def add_scalar(self, name, value, step):
            said.append((name, value, step))

        def close(self):
            said.append("closed")

    module = types.ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)


def test_tensorboard_where_it_is_installed(tmp_path, monkeypatch):
    said = []
    fake_tensorboard(monkeypatch, said)
    (logger,) = open_loggers(tmp_path, None)
    logger.add({"step": 4, "loss": 0.5})
    logger.close()
    assert said == ["tensorboard", ("loss", 0.5, 4), "closed"]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert open_loggers(tmp_path, None) == []


def test_weights_and_biases_on_request(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(InputError, match="wandb is not installed"):
        open_loggers(tmp_path, "project")
    said = []
    run = types.SimpleNamespace(
        log=lambda values, step: said.append((values, step)), finish=lambda: said.append("finished")
    )
    module = types.ModuleType("wandb")
    module.init = lambda project, name, dir: said.append((project, name)) or run
    monkeypatch.setitem(sys.modules, "wandb", module)
    (logger,) = open_loggers(tmp_path, "project")
    logger.add({"step": 4, "loss": 0.5})
    logger.close()
    assert said == [("project", tmp_path.name), ({"loss": 0.5}, 4), "finished"]


def test_the_progress_line_averages_recent_losses():
    line = progress_line(30, 90, [9.0] * 10 + [1.0] * 20, 2.0)
    assert line == "step 30/90  loss 1.0000  2.00 s a step  2 min left"
