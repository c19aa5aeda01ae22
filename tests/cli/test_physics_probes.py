"""`sightline physics probes`: every probe, for people and for pipes."""

import io

from rich.console import Console

from sightline.cli import main
from sightline.cli.physics_probes import show
from sightline.physics.probes import PROBES


def test_one_line_a_probe_into_a_pipe(capsys):
    assert main(["physics", "probes"]) == 0
    head, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert head[:3] == ["name", "question", "trains on"]
    assert [row[0] for row in rows] == list(PROBES)
    row = dict(zip(head, rows[0], strict=True))
    assert row["trains on"].endswith("v 1–1.25; red ball, r 0.7–1.4, v 3.75–4")
    assert row["tests on"].endswith("v 1.25–3.75")
    assert row["read by"].startswith("generated speed against true speed")
    assert all(len(row) == len(head) for row in rows)


def test_a_listing_for_people():
    console = Console(file=io.StringIO(), width=80)
    show(list(PROBES.values()), console)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    for name in PROBES:
        assert f"\n{name} " in text
    assert "trains on  uniform motion: red ball" in text
    assert text.count("Read by generated speed against true speed") == 1
    assert "sightline physics make probe:NAME --part train" in " ".join(text.split())
