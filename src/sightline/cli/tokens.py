"""`sightline tokens encode|decode|train`: depth maps as tokens of a language model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from sightline.cli.config_file import ConfigFile
from sightline.errors import InputError
from sightline.perception.options import CodebookOptions

if TYPE_CHECKING:
    from sightline.types import DepthMap

app = App(name="tokens", help="Convert depth maps to tokens and back.")


@app.command
def encode(
    picture: Annotated[Path, Parameter(name="INPUT")],
    /,
    *,
    depth: Annotated[bool, Parameter(negative="")] = False,
    model: str = "default",
    codebook: str = "codebook",
) -> None:
    """Print the 102 tokens of the depth of an image, or of a depth map.

    A `.npz` or 16-bit `.png` written by Sightline is read as depth; for any other image, depth is
    estimated.

    Args:
        picture: image or depth map.
        depth: read the input as depth: an `.exr` written by Sightline, or a gray image where near is
            bright.
        model: depth model for images.
        codebook: registry name or file of the codebook.
    """
    from sightline.perception.codebook import DepthTokenizer

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
    """Decode 102 tokens to a gray image of the depth, near is bright.

    Args:
        tokens: text, a file that contains it, or - for standard input. Text around the tokens is
            ignored.
        out: PNG file to write.
        size: width x height of the image, such as 640x480; default: 320x320.
        codebook: registry name or file of the codebook.
        force: overwrite an existing file.
    """
    from sightline.cli.targets import check_target
    from sightline.perception.codebook import DepthTokenizer, write_map

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
    config: ConfigFile = None,  # noqa: ARG001 - read before the command runs
    options: Annotated[CodebookOptions, Parameter(name="*")] = CodebookOptions(),  # noqa: B008
) -> None:
    """Train a codebook; an interrupted run resumes with the same command.

    Args:
        data: SET:FOLDER@SHARE as for `sightline train teacher`, repeatable; only depth is used.
        out: folder of the run: checkpoint, log, and at the end codebook.onnx.
        config: TOML file with options.
        options: training options.
    """
    from sightline.perception.codebook import SIDE, write_codebook
    from sightline.perception.codebook_training import train_codebook
    from sightline.training.data.sources import open_sources
    from sightline.training.signals import stop_on_signals

    sources = open_sources(data, SIDE, notify=_tell)
    with stop_on_signals() as stop:
        codebook = train_codebook(
            sources, out, options, report=_tell, data={"data": data}, stop=stop
        )
    write_codebook(codebook, out / "codebook.onnx")
    print(out / "codebook.onnx")


def _depth_of(path: Path, model: str, *, given: bool) -> DepthMap:
    from sightline.io.depth_files import is_depth_file, read_depth
    from sightline.perception.codebook import read_gray

    if is_depth_file(path) or (given and path.suffix.lower() == ".exr"):
        return read_depth(path)
    if given:
        return read_gray(path)
    if path.suffix.lower() == ".exr":
        raise InputError("may be a depth map", path=path, remedy="add --depth if it is")
    from sightline.depth.estimator import load

    return load(model).infer(path)


def _size(text: str) -> tuple[int, int]:
    from sightline.io.reading import MAX_PIXELS
    from sightline.scenes.config import parse_size

    width, height = parse_size(text)
    if min(width, height) < 1 or width * height > MAX_PIXELS:
        raise InputError(
            f"--size must be from 1x1 to {MAX_PIXELS / 1e6:.0f} million pixels, got {text}"
        )
    return width, height


def _text_of(tokens: str) -> str:
    from sightline.io.reading import read_bytes
    from sightline.perception.tokens import START

    if START in tokens:
        return tokens
    if tokens == "-":
        return sys.stdin.read(1_000_000)
    raw = read_bytes(Path(tokens), limit=1_000_000, what="text with depth tokens")
    return raw.decode("utf-8", "replace")


def _tell(line: str) -> None:
    print(line, file=sys.stderr)
