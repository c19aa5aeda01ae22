"""Embedded models: `embedded/index.json` lists them, `record` writes it.

```json
{"default": "tiny",
 "models": [{"name": "tiny", "file": "tiny.onnx", "bytes": 1, "sha256": "…", "summary": "…",
             "purpose": "depth", "license": "Apache-2.0", "trained_on": "…", "aliases": [], "spec": {},
             "int8_gate": null, "parts": [], "history": [{"sha256": "…", "note": "…"}]}]}
```

`parts` are files that belong to the model beside `file`, each with its checksum: the `.bin` of
OpenVINO's own format, and the same weights as safetensors, for torch and for training on. The
command that trains or exports a model calls `record`, which computes sizes and checksums.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import write_text
from sightline.models.cache import file_sha256
from sightline.models.entry import Embedded, Format, Int8Gate, ModelEntry, ModelSpec, Purpose
from sightline.models.known_models import MEDIAPIPE, OFFICIAL, PACKAGES

INDEX = "index.json"

_FORMATS: dict[str, Format] = {".onnx": "onnx", ".safetensors": "safetensors"}

#: All embedded files together, in [B]: a package index takes files of at most 100 MB.
SIZE_LIMIT = 95 * 10**6


def embedded_folder() -> Path:
    """Return the folder of the embedded models inside the installed package."""
    return Path(str(resources.files("sightline.models"))) / "embedded"


def embedded_entries(folder: Path | None = None) -> tuple[ModelEntry, ...]:
    """Return the entries of the embedded models; the default one has the alias `default`."""
    folder = folder or embedded_folder()
    index = _read(folder)
    try:
        return tuple(_entry(model, index.get("default")) for model in index["models"])
    except (KeyError, TypeError, InputError) as error:
        raise SightlineError(f"{folder / INDEX}: not an index of models ({error!r})") from error


def record(
    name: str,
    file: str,
    spec: ModelSpec | None,
    *,
    purpose: Purpose = "depth",
    summary: str,
    trained_on: str,
    note: str,
    license: str = "Apache-2.0",
    aliases: tuple[str, ...] = (),
    int8_gate: Int8Gate | None = None,
    default: bool = False,
    folder: Path | None = None,
) -> None:
    """Add a model file of the embedded folder to the index, or update its entry.

    Args:
        name: name of the model.
        file: file name inside the folder; size and checksum are taken from it, and from the `.bin`
            or `.safetensors` file beside it.
        spec: spec of a depth network.
        purpose: purpose, such as `depth`.
        summary: one line for the listing.
        trained_on: training data.
        note: changes and quality of this version, stored in the entry's history.
        license: SPDX identifier; embedded models are always free for commercial use.
        aliases: other names; `default` is not one of them.
        int8_gate: gate result of the int8 version, passed or not.
        default: whether it becomes the default model.
        folder: folder of the index; default: that of the installed package.
    """
    folder = folder or embedded_folder()
    path = folder / file
    if not path.is_file():
        raise InputError("no such model file", path=path)
    index = _read(folder)
    old: dict[str, Any] = next((m for m in index["models"] if m["name"] == name), {})
    digest = file_sha256(path)
    model = {
        "name": name,
        "file": file,
        "bytes": path.stat().st_size,
        "sha256": digest,
        "summary": summary,
        "purpose": purpose,
        "license": license,
        "trained_on": trained_on,
        "aliases": list(aliases),
        "spec": None if spec is None else json.loads(spec.to_json()),
        "int8_gate": None if int8_gate is None else asdict(int8_gate),
        "parts": _parts(path),
        "history": [*_others(old, digest), {"sha256": digest, "note": note}],
    }
    others = [other for other in index["models"] if other["name"] != name]
    index["models"] = sorted([*others, model], key=lambda item: str(item["name"]))
    if default or (index["default"] is None and purpose == "depth"):
        index["default"] = name
    write_text(folder / INDEX, json.dumps(index, indent=1, ensure_ascii=False) + "\n")


def forget(name: str, folder: Path | None = None) -> None:
    """Remove a model and its files from the index, if present."""
    folder = folder or embedded_folder()
    index = _read(folder)
    for model in [model for model in index["models"] if model["name"] == name]:
        index["models"].remove(model)
        write_text(folder / INDEX, json.dumps(index, indent=1, ensure_ascii=False) + "\n")
        for part in (model, *model["parts"]):
            (folder / part["file"]).unlink(missing_ok=True)


def _others(model: dict[str, Any], digest: str) -> list[dict[str, str]]:
    """Return the history of a model without the entry of these weights."""
    return [version for version in model.get("history", []) if version["sha256"] != digest]


def _parts(path: Path) -> list[dict[str, Any]]:
    """Describe the further files of a model; an `.xml` file requires its `.bin` file."""
    weights = path.with_suffix(".bin" if path.suffix == ".xml" else ".safetensors")
    if weights == path:
        return []
    if not weights.is_file():
        if path.suffix == ".xml":
            raise InputError("no such model file", path=weights)
        return []
    return [{"file": weights.name, "bytes": weights.stat().st_size, "sha256": file_sha256(weights)}]


def _read(folder: Path) -> dict[str, Any]:
    path = folder / INDEX
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"default": None, "models": []}
    except (OSError, ValueError) as error:
        raise SightlineError(
            f"{path}: cannot be read ({error}); install sightline again"
        ) from error
    if not isinstance(index, dict) or not isinstance(index.get("models"), list):
        raise SightlineError(f"{path}: not an index of models; install sightline again")
    return index


def _entry(model: dict[str, Any], default: str | None) -> ModelEntry:
    gate, spec = model["int8_gate"], model["spec"]
    aliases = tuple(model["aliases"])
    return ModelEntry(
        name=model["name"],
        summary=model["summary"],
        purpose=model["purpose"],
        license=model["license"],
        commercial=True,
        bytes=model["bytes"],
        sha256=model["sha256"],
        trained_on=model["trained_on"],
        source=Embedded(model["file"]),
        format=_FORMATS.get(Path(model["file"]).suffix, "openvino"),
        spec=None if spec is None else ModelSpec(**spec),
        int8_gate=None if gate is None else Int8Gate(**gate),
        aliases=("default", *aliases) if model["name"] == default else aliases,
        parts_bytes=sum(p["bytes"] for p in model["parts"] if p["file"].endswith(".bin")),
    )


#: All models of the registry: embedded ones first, then models of other authors.
ENTRIES: tuple[ModelEntry, ...] = (*embedded_entries(), *OFFICIAL, *MEDIAPIPE, *PACKAGES)


def find(name: str, entries: Sequence[ModelEntry] = ENTRIES) -> ModelEntry | None:
    """Return the entry of this name or alias, ignoring case; None if there is none."""
    return next((entry for entry in entries if entry.answers_to(name)), None)


def get(name: str, entries: Sequence[ModelEntry] = ENTRIES) -> ModelEntry:
    """Return the entry of this name or alias; an `InputError` with close matches if there is none."""
    entry = find(name, entries)
    if entry is None:
        raise unknown(name, entries)
    return entry


def unknown(name: str, entries: Sequence[ModelEntry] = ENTRIES) -> InputError:
    """Return the error for a name that is neither a model nor a file."""
    known = [known for entry in entries for known in (entry.name, *entry.aliases)]
    close = difflib.get_close_matches(name.casefold(), known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return InputError(
        f"no model and no file is called {name!r}",
        remedy=f"{hint}`sightline models` lists the models",
    )
