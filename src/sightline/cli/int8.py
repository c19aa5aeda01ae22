"""`sightline models int8 MODEL --pictures DIR`: quantize a model to int8."""

from __future__ import annotations

import sys
from pathlib import Path

from sightline.errors import InputError


def int8(
    model: str, /, *, pictures: Path, out: Path, size: int | None = None, most: int = 64
) -> None:
    """Quantize a model to int8; the result is written only if its accuracy passes the gate.

    Args:
        model: name of a model or path of a weight file.
        pictures: folder of photographs; every second one is used for calibration, the others for
            evaluation.
        out: output file (.xml, with .bin beside it), for use with --model.
        size: shorter side of the network's input in pixels. Default: the model's own.
        most: maximum number of images, evenly spread over the folder.
    """
    if most < 2:
        raise InputError(
            f"most must be at least 2, got {most}", remedy="one calibrates, another judges"
        )
    from sightline.depth.quantization import make_int8
    from sightline.io.images import read_picture
    from sightline.io.inputs import expand

    found = [source.path for source in expand([pictures], recursive=True) if not source.is_video]
    chosen = found[:: max(1, len(found) // most)][:most]
    verdict = make_int8(model, [read_picture(path).pixels for path in chosen], out, size=size)
    sys.stdout.write(
        f"{out}: Spearman {verdict.spearman:.4f}, deviation {verdict.relative_deviation:.2%} "
        f"from float32 on {verdict.pictures} pictures\n"
    )
