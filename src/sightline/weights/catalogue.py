"""Every model sightline knows of, and how a name is looked up."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from sightline.errors import InputError
from sightline.weights.entry import Entry
from sightline.weights.index import embedded_entries
from sightline.weights.mediapipe import MEDIAPIPE
from sightline.weights.official import OFFICIAL
from sightline.weights.packages import PACKAGES

ENTRIES: tuple[Entry, ...] = (*embedded_entries(), *OFFICIAL, *MEDIAPIPE, *PACKAGES)


def find(name: str, entries: Sequence[Entry] = ENTRIES) -> Entry | None:
    """Return the entry of this name or alias, whatever the case; None when there is none."""
    return next((entry for entry in entries if entry.answers_to(name)), None)


def get(name: str, entries: Sequence[Entry] = ENTRIES) -> Entry:
    """Return the entry of this name or alias; an `InputError` with close matches if there is none."""
    entry = find(name, entries)
    if entry is None:
        raise unknown(name, entries)
    return entry


def unknown(name: str, entries: Sequence[Entry] = ENTRIES) -> InputError:
    """Make the complaint about a name that is neither a model nor a file."""
    known = [known for entry in entries for known in (entry.name, *entry.aliases)]
    close = difflib.get_close_matches(name.casefold(), known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return InputError(
        f"no model and no file is called {name!r}",
        remedy=f"{hint}`sightline models` lists the models",
    )
