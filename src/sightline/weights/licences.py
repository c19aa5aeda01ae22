"""Licences that do not allow commercial use are shown, and accepted once per model."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from sightline.errors import InputError
from sightline.files.atomic import write_text
from sightline.weights.cache import cache_folder
from sightline.weights.entry import Entry

#: Names of models, separated by commas, whose licence the user accepts.
VARIABLE = "SIGHTLINE_ACCEPT_LICENCE"


def require_accepted(entry: Entry, *, accept: bool = False) -> None:
    """Return if the model may be used; remember the acceptance when it is given now.

    Args:
        entry: the model.
        accept: the user accepts its licence with this call.

    Raises:
        InputError: commercial use is not allowed and nobody has accepted that yet.
    """
    if entry.commercial or is_accepted(entry):
        return
    if not accept and not _accepted_by_environment(entry):
        raise InputError(
            f"{entry.name} is not free for commercial use (licence: {entry.licence})",
            remedy=f"if that suits you, run `sightline models get {entry.name} --accept-licence`",
        )
    write_text(_record(entry), json.dumps({"licence": entry.licence}) + "\n")


def is_accepted(entry: Entry) -> bool:
    """Whether this licence, in these words, was accepted for this model before."""
    with contextlib.suppress(OSError, ValueError):
        record = json.loads(_record(entry).read_text(encoding="utf-8"))
        return bool(record == {"licence": entry.licence})
    return False


def _accepted_by_environment(entry: Entry) -> bool:
    names = os.environ.get(VARIABLE, "").split(",")
    return any(entry.answers_to(name.strip()) for name in names)


def _record(entry: Entry) -> Path:
    return cache_folder() / "licences" / f"{entry.name}.json"
