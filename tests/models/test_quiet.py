"""Other libraries keep quiet while our own line says what is wrong."""

import sys
import warnings

import pytest
from transformers import AutoConfig
from transformers.utils import logging

from sightline.models.hub import quiet_libraries


def test_warnings_and_bars_are_gone_and_come_back(capsys):
    logger = logging.get_logger("transformers.test")
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    with quiet_libraries():
        logger.error("chatter")
        warnings.warn("soon deprecated", FutureWarning, stacklevel=1)
        assert not logging.is_progress_bar_enabled()
    assert capsys.readouterr().err == ""
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


def test_they_come_back_after_a_failure(tmp_path):
    before = logging.get_verbosity()

    def load():
        with quiet_libraries():
            AutoConfig.from_pretrained(tmp_path)

    with pytest.raises((OSError, ValueError)):
        load()
    assert logging.get_verbosity() == before


def test_what_is_not_imported_stays_so(monkeypatch):
    monkeypatch.delitem(sys.modules, "diffusers", raising=False)
    with quiet_libraries():
        pass
    assert "diffusers" not in sys.modules
