"""`sightline models int8 MODEL --pictures DIR`: a faster version, if it says the same."""

from __future__ import annotations

import sys
from pathlib import Path

from sightline.errors import InputError


def int8(
    model: str, /, *, pictures: Path, out: Path, size: int | None = None, most: int = 64
) -> None:
    """Quantise a model to int8; it is kept only if it passes the gate.

    Args:
        model: name of a model or a weight file.
        pictures: folder of real photographs; every second one calibrates, the others judge.
        out: file to write (.xml, with .bin beside it); use it with --model.
        size: shorter side of the network's input in pixels; default: what the model was made for.
        most: use at most so many pictures, evenly spread over the folder.
    """
    if most < 2:
        raise InputError(
            f"most must be at least 2, got {most}", remedy="one calibrates, another judges"
        )
    from sightline.batch.inputs import expand
    from sightline.depth.int8 import make_int8
    from sightline.files.pictures import read_picture

    found = [source.path for source in expand([pictures], recursive=True) if not source.is_video]
    chosen = found[:: max(1, len(found) // most)][:most]
    verdict = make_int8(model, [read_picture(path).pixels for path in chosen], out, size=size)
    sys.stdout.write(
        f"{out}: Spearman {verdict.spearman:.4f}, deviation {verdict.relative_deviation:.2%} "
        f"from float32 on {verdict.pictures} pictures\n"
    )
