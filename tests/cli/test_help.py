"""`--help` of every command and subcommand: plain sentences, real defaults, no Python reprs."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from sightline.cli import build
from sightline.cli.help import TidyHelp

APP = build()
#: Python objects printed as they are, instead of the value a user would type.
REPR = re.compile(
    r"<class|<function|PosixPath\(|Config\(|Options\(|default: (None|True|False)\b"
    r"|default: [A-Z]\w*\.[A-Z]|default: [\[('\"]"
)
#: First words of a text that is not a noun phrase or an imperative sentence.
FRAGMENT = re.compile(r"(that|which|of|to|how|whether|what|is|over|by)\b", re.IGNORECASE)


def chains(app=APP, chain=()):
    """Yield the words of every command and subcommand."""
    yield chain
    for name in app:
        if not name.startswith("-"):
            yield from chains(app[name], (*chain, name))


def entries(chain):
    """Return the name, the choices and the printed text of every row of a command's help."""
    found = []

    class Collect(TidyHelp):
        def print_panel(self, _console, _options, panel):
            found.extend(panel.entries)

    formatter, APP.help_formatter = APP.help_formatter, Collect()
    try:
        APP.help_print(list(chain), console=Console(file=io.StringIO()))
    finally:
        APP.help_formatter = formatter
    return [
        (
            " ".join(entry.names) or entry.positional_label,
            entry.choices or (),
            entry.description.primary_renderable.plain,
        )
        for entry in found
    ]


def shown(chain, width=100):
    stream = io.StringIO()
    APP.help_print(list(chain), console=Console(file=stream, width=width))
    return stream.getvalue()


CHAINS = list(chains())
IDS = [" ".join(chain) or "sightline" for chain in CHAINS]


def test_every_command_is_walked():
    assert len(CHAINS) >= 30


@pytest.mark.parametrize("chain", CHAINS, ids=IDS)
def test_help_has_no_reprs(chain):
    assert not REPR.search(shown(chain, 400))


@pytest.mark.parametrize("chain", CHAINS, ids=IDS)
def test_every_text_is_a_sentence(chain):
    rows = entries(chain)
    assert rows or chain == ("physics", "probes")
    for name, choices, text in rows:
        assert text[:1].isupper(), (name, text)
        assert text.endswith((".", ")")), (name, text)
        assert "\n" not in text, (name, text)
        assert not FRAGMENT.match(text), (name, text)
        first = re.match(r"[\w-]+", text)
        assert first is None or first[0].lower() not in choices, (name, text)


@pytest.mark.parametrize("chain", CHAINS, ids=IDS)
def test_every_command_has_a_summary(chain):
    usage, summary, *_ = [line for line in shown(chain).splitlines() if line.strip()]
    assert usage.startswith("Usage: sightline")
    assert summary[0].isupper(), summary
