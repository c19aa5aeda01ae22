"""Model cards as one page: what each model is for, its license, its data, where it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sightline.errors import InputError
from sightline.io.atomic import write_bytes
from sightline.reports.templating import environment


@dataclass(frozen=True, slots=True)
class Card:
    """What is told of one model.

    Attributes:
        name: what the user types.
        summary: one line.
        facts: what is known, by name, in the order to show; empty ones are left out.
        tag: a word beside the name, such as "here"; or empty.
    """

    name: str
    summary: str
    facts: Mapping[str, str]
    tag: str = ""


def write_cards(
    path: str | Path, groups: Mapping[str, Sequence[Card]], *, title: str = "Models"
) -> None:
    """Write a page of cards.

    Args:
        path: the `.html` file.
        groups: cards by the heading that they stand under.
        title: title of the page.
    """
    if not any(groups.values()):
        raise InputError("no model to show", path=path)
    text = environment().get_template("cards.html").render(title=title, groups=groups)
    write_bytes(path, text.encode())
