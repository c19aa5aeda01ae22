"""`sightline tokens encode|decode|train`: depth maps as the words of a language model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from sightline.errors import InputError
from sightline.perception.codebook.options import CodebookOptions

if TYPE_CHECKING:
    from sightline.types import DepthMap

app = App(name="tokens", help="Depth maps as tokens, and tokens as depth maps.")


@app.command
def encode(
    picture: Annotated[Path, Parameter(name="INPUT")],
    /,
    *,
    depth: Annotated[bool, Parameter(negative="")] = False,
    model: str = "default",
    codebook: str = "codebook",
) -> None:
    """Print the 102 tokens of a picture's depth, or of a depth map.

    A `.npz` or 16-bit `.png` that Sightline wrote is taken as depth; any other picture is looked at by
    a depth model first.

    Args:
        picture: a photograph, or a depth map.
        depth: what is given is depth: an `.exr` that Sightline wrote, or a grey picture, where bright
            is near.
        model: depth model for photographs.
        codebook: registry name or file of the codebook.
    """
    from sightline.perception.codebook.tokenizer import DepthTokenizer

    tokenizer = DepthTokenizer(codebook)
    print(tokenizer.to_text(_depth_of(picture, model, given=depth)))


@app.command
def decode(
    tokens: Annotated[str, Parameter(name="TOKENS", allow_leading_hyphen=True)],
    /,
    *,
    out: Path,
    size: str | None = None,
    codebook: str = "codebook",
    force: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Turn 102 tokens back into a grey picture of the depth, bright is near.

    Args:
        tokens: the text, a file that holds it, or - for the standard input. Words around the map do not
            matter.
        out: PNG file to write.
        size: width x height of the picture, such as 640x480; 320x320 as it is decoded by default.
        codebook: registry name or file of the codebook.
        force: write over a file that is there.
    """
    from sightline.cli.targets import check_target
    from sightline.perception.codebook.pictures import write_map
    from sightline.perception.codebook.tokenizer import DepthTokenizer

    check_target(out, "--out", force=force, suffix=".png")
    wanted = None if size is None else _size(size)
    decoded = DepthTokenizer(codebook).from_text(_text_of(tokens))
    write_map(out, decoded, wanted)
    print(out)


@app.command
def train(
    *,
    data: Annotated[list[str], Parameter(negative=())],
    out: Path,
    options: Annotated[CodebookOptions, Parameter(name="*")] = CodebookOptions(),  # noqa: B008
) -> None:
    """Train a codebook of your own; stop it at any time, the same command goes on.

    Args:
        data: SET:FOLDER@SHARE as for `sightline train teacher`, several times; only depth is used.
        out: folder of the run: checkpoint, log, and at the end codebook.onnx.
        options: everything else; one flag per field.
    """
    from sightline.depth.training.data import open_sources
    from sightline.perception.codebook.files import write_codebook
    from sightline.perception.codebook.network import SIDE
    from sightline.perception.codebook.training import train_codebook

    sources = open_sources(data, SIDE, notify=_tell)
    codebook = train_codebook(sources, out, options, report=_tell, data={"data": data})
    write_codebook(codebook, out / "codebook.onnx")
    print(out / "codebook.onnx")


def _depth_of(path: Path, model: str, *, given: bool) -> DepthMap:
    from sightline.files.depth_files import is_depth_file, read_depth
    from sightline.perception.codebook.pictures import read_grey

    if is_depth_file(path) or (given and path.suffix.lower() == ".exr"):
        return read_depth(path)
    if given:
        return read_grey(path)
    if path.suffix.lower() == ".exr":
        raise InputError("may be a depth map", path=path, remedy="add --depth if it is")
    from sightline.depth.estimator import load

    return load(model).infer(path)


def _size(text: str) -> tuple[int, int]:
    from sightline.files.reading import MAX_PIXELS
    from sightline.scenes.spec import parse_size

    width, height = parse_size(text)
    if min(width, height) < 1 or width * height > MAX_PIXELS:
        raise InputError(
            f"--size must be from 1x1 to {MAX_PIXELS / 1e6:.0f} million pixels, got {text}"
        )
    return width, height


def _text_of(tokens: str) -> str:
    from sightline.files.reading import read_bytes
    from sightline.perception.codebook.words import START

    if START in tokens:
        return tokens
    if tokens == "-":
        return sys.stdin.read(1_000_000)
    raw = read_bytes(Path(tokens), limit=1_000_000, what="text with depth tokens")
    return raw.decode("utf-8", "replace")


def _tell(line: str) -> None:
    print(line, file=sys.stderr)
