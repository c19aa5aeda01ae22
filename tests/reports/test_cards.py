"""Model cards: whole, escaped, in the look that all pages have."""

from __future__ import annotations

import pytest

from sightline.cli import main
from sightline.errors import InputError
from sightline.models.registry import ENTRIES
from sightline.reports.cards import Card, write_cards
from sightline.reports.templating import environment


def test_every_model_has_a_card(tmp_path, capsys):
    assert main(["models", "cards", "--out", str(tmp_path / "models.html")]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "models.html")
    page = (tmp_path / "models.html").read_text()
    assert page.count('<article class="card">') == len(ENTRIES)
    for entry in ENTRIES:
        assert f"<h3>{entry.name}" in page


def test_words_are_text_and_empty_facts_are_left_out(tmp_path):
    write_cards(tmp_path / "a.html", {"Depth": [Card("a", "b <i>&", {"Data": "", "Size": "1 MB"})]})
    page = (tmp_path / "a.html").read_text()
    assert "b &lt;i&gt;&amp;" in page
    assert "<dt>Size</dt>" in page
    assert "<dt>Data</dt>" not in page


def test_no_card_no_page(tmp_path):
    with pytest.raises(InputError, match="no model to show"):
        write_cards(tmp_path / "a.html", {"Depth": []})


@pytest.mark.parametrize("name", ["page.html", "cards.html", "score.html"])
def test_one_layout_and_one_stylesheet(name):
    """Every report extends the same base and carries no style of its own."""
    made = environment("sightline.physics.scoring")
    text, _, _ = made.loader.get_source(made, name)
    assert text.startswith('{% extends "base.html" %}')
    assert "<style" not in text
    assert "style=" not in text.replace("{{", "")
