"""`sightline models cards`: write the model cards as an HTML page."""

from __future__ import annotations

from pathlib import Path


def cards(*, out: Path = Path("models.html")) -> None:
    """Write the model cards as one self-contained HTML page.

    Args:
        out: output file.
    """
    from sightline.cli.models import HEADINGS
    from sightline.models.download import locate
    from sightline.models.registry import ENTRIES
    from sightline.reports.cards import Card, write_cards

    groups: dict[str, list[Card]] = {}
    for entry in ENTRIES:
        facts = {
            "License": entry.license + ("" if entry.commercial else ", not commercially"),
            "Trained on": entry.trained_on,
            "Size": entry.size_text,
            "Source": entry.source.label,
            "Checksum": entry.checksum_rule,
            "Also called": ", ".join(entry.aliases),
        }
        tag = "here" if locate(entry) is not None else ""
        card = Card(entry.name, entry.summary, facts, tag)
        groups.setdefault(HEADINGS[entry.purpose], []).append(card)
    write_cards(out, groups)
    print(out)
