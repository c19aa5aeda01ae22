"""`sightline models cards`: every model on one page to read."""

from __future__ import annotations

from pathlib import Path


def cards(*, out: Path = Path("models.html")) -> None:
    """Write the model cards as one page that needs nothing else.

    Args:
        out: the page.
    """
    from sightline.cli.models import HEADINGS
    from sightline.report.cards import Card, write_cards
    from sightline.weights.catalogue import ENTRIES
    from sightline.weights.store import locate

    groups: dict[str, list[Card]] = {}
    for entry in ENTRIES:
        facts = {
            "Licence": entry.licence + ("" if entry.commercial else ", not commercially"),
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
