"""Recognize weight files by content, and store ONNX weights as float32, float16 or int8.

Computation is always float32: each compressed tensor is followed by the nodes that decompress it.
Int8 storage is for matrices and kernels only, with one scale per output channel chosen so that the
largest weight of the channel is 127. An int8 file is a quarter of the float32 file, and its weights
are off by at most 0.4 % of their channel's largest.
"""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.atomic import write_bytes

#: A safetensors header longer than this is no header.
LARGEST_HEADER = 100_000_000


#: What JSON that is no safetensors header may make its reader stumble over: wrong types, offsets
#: beyond any number, brackets nested without end.
NOT_A_HEADER = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)


class FileKind(StrEnum):
    """The kinds of weight file that some part of Sightline can read."""

    TORCH = "torch"
    SAFETENSORS = "safetensors"
    ONNX = "onnx"
    OPENVINO = "openvino"


#: How other things that end up as `--model` begin, and what to call them.
STRANGERS: tuple[tuple[bytes, str], ...] = (
    (b"GGUF", "a GGUF language model"),
    (b"\x89HDF", "an HDF5 file (Keras weights)"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x93NUMPY", "a numpy array"),
    (b"%PDF", "a PDF document"),
)

#: Tags of the second field of an ONNX file, after the format's version (0x08, number).
ONNX_SECOND_FIELDS = b"\x12\x1a\x22\x28\x32\x3a\x42\x72"


def file_kind(path: str | Path) -> FileKind:
    """Return the kind of a weight file; anything else is an `InputError` that names what it is."""
    path = Path(path)
    head = _head(path)
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype html", b"<html")):
        raise InputError(
            "a web page, not a model: the download failed", path=path, remedy="download it again"
        )
    if text.startswith(b"version https://git-lfs"):
        raise InputError(
            "a git-lfs pointer, not the model itself", path=path, remedy="run `git lfs pull`"
        )
    if text.startswith((b"<?xml", b"<net")) and b"<net" in head:
        return FileKind.OPENVINO
    if head.startswith(b"PK"):
        return _zip_kind(path)
    for magic, words in STRANGERS:
        if head.startswith(magic):
            raise _not_a_model(words, path)
    if head[4:8] == b"TFL3":
        raise _not_a_model("a TensorFlow Lite model", path)
    # First: the length of its header may begin as a pickle does.
    if head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= LARGEST_HEADER:
        return FileKind.SAFETENSORS
    if head[:1] == b"\x80":
        return FileKind.TORCH
    if head[:1] == b"\x08" and head[2:3] in [bytes([tag]) for tag in ONNX_SECOND_FIELDS]:
        return FileKind.ONNX
    raise _not_a_model("neither a torch checkpoint, nor safetensors, nor ONNX", path)


def is_graph(path: str | Path) -> bool:
    """Whether OpenVINO runs this weight file as it is (ONNX, its own format); torch reads the rest."""
    return file_kind(path) in (FileKind.ONNX, FileKind.OPENVINO)


def safetensors_header(path: str | Path) -> dict[str, Any]:
    """Return a safetensors file's header: tensor names to dtype, shape and offsets, `__metadata__`.

    Also checks that the file is as long as its header says.
    """
    path = Path(path)
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        raw = file.read(length)
    if len(raw) < length:
        raise _truncated(path)
    try:
        header: dict[str, Any] = json.loads(raw)
        ends = [int(v["data_offsets"][1]) for k, v in header.items() if k != "__metadata__"]
    except NOT_A_HEADER as error:
        raise InputError(
            "a damaged safetensors file", path=path, remedy="download it again"
        ) from error
    if path.stat().st_size < 8 + length + max(ends, default=0):
        raise _truncated(path)
    return header


def _head(path: Path) -> bytes:
    """Return the first bytes of a file that is there, readable and not empty."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputError(
                "a folder, not a model file", path=path, remedy="name the file inside it"
            )
        if not stat.S_ISREG(mode):  # a pipe would keep us waiting
            raise InputError("not a regular file", path=path, remedy="name a model file")
        with path.open("rb") as file:
            head = file.read(512)
    except FileNotFoundError as error:
        raise InputError("no such file", path=path, remedy="check the name") from error
    except OSError as error:
        raise InputError(f"could not be read ({error.strerror})", path=path) from error
    if not head:
        raise InputError("an empty file", path=path, remedy="download it again")
    return head


def _zip_kind(path: Path) -> FileKind:
    """Tell a torch checkpoint from other zip archives, and a whole one from a half."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile as error:
        raise _truncated(path) from error
    if any("/code/" in name for name in names):
        raise _not_a_model("a TorchScript program, not weights", path)
    if not any(name.endswith("data.pkl") for name in names):
        raise _not_a_model("a zip archive without weights", path)
    return FileKind.TORCH


def _truncated(path: Path) -> InputError:
    return InputError("truncated: the end is missing", path=path, remedy="download it again")


def _not_a_model(words: str, path: Path) -> InputError:
    return InputError(
        f"{words}, not a depth network",
        path=path,
        remedy="see `sightline models` for what there is",
    )


Store = Literal["full", "half", "bytes"]

#: What is appended to the name of a tensor that is stored as float16, or as int8 with its scales.
HALF_SUFFIX = ".half"
BYTES_SUFFIX = ".bytes"
SCALE_SUFFIX = ".scale"

#: Smaller tensors stay float32: biases, norms and layer scales are where float16 hurts (the scales
#: fall below its normal range) and weigh next to nothing.
SHRINK_FROM = 1024

#: Operators whose second input is a matrix or a kernel, and which of its axes the outputs are.
_OUTPUTS = {"MatMul": -1, "Conv": 0, "ConvTranspose": 1}


def write_graph(model: Any, path: str | Path, notes: Mapping[str, str], store: Store) -> None:
    """Write an `onnx.ModelProto` with notes in its metadata: the same graph gives the same bytes."""
    if store != "full":
        _shrink(model, store)
    for key, value in notes.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    write_bytes(path, model.SerializeToString(deterministic=True))


def _shrink(model: Any, store: Store) -> None:
    """Store large float32 tensors in fewer bytes, each followed by what turns it back."""
    from onnx import TensorProto, helper, numpy_helper

    graph = model.graph
    axes = {
        node.input[1]: _OUTPUTS[node.op_type] for node in graph.node if node.op_type in _OUTPUTS
    }
    back, scales = [], []
    for tensor in graph.initializer:
        if tensor.data_type != TensorProto.FLOAT or len(tensor.dims) < 2:
            continue
        values, name = numpy_helper.to_array(tensor), tensor.name
        if values.size < SHRINK_FROM:
            continue
        if store == "bytes" and name in axes:
            stored, scale = to_int8(values, axes[name])
            tensor.CopyFrom(numpy_helper.from_array(stored, name + BYTES_SUFFIX))
            scales.append(numpy_helper.from_array(scale, name + SCALE_SUFFIX))
            wide = name + ".wide"
            back += [
                _cast(helper, tensor.name, wide, TensorProto.FLOAT),
                helper.make_node("Mul", [wide, name + SCALE_SUFFIX], [name], name=f"{name}.scaled"),
            ]
        elif np.abs(values).max() <= np.finfo(np.float16).max:
            half = values.astype(np.float16)
            tensor.CopyFrom(numpy_helper.from_array(half, name + HALF_SUFFIX))
            back.append(_cast(helper, tensor.name, name, TensorProto.FLOAT))
    graph.initializer.extend(scales)
    nodes = [*back, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def to_int8(values: NDArray[np.float32], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return bytes and their scales, which have as many axes; `axis` is that of the outputs."""
    others = tuple(k for k in range(values.ndim) if k != axis % values.ndim)
    scale = np.abs(values).max(axis=others, keepdims=True) / 127
    scale = np.where(scale > 0, scale, 1).astype(np.float32)
    return np.rint(values / scale).astype(np.int8), scale


def _cast(helper: Any, given: str, wanted: str, kind: int) -> Any:
    return helper.make_node("Cast", [given], [wanted], name=f"{wanted}.cast", to=kind)
