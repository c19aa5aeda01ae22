"""Weight files are known by their content, and whatever else comes is named.

`test_checkpoints` shows what a reader of torch weights says of strangers.
"""

from __future__ import annotations

import contextlib
import json
import os

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.runtime.weight_files import FileKind, file_kind, is_graph, safetensors_header


def write_safetensors(path, header: bytes, body: bytes = b""):
    path.write_bytes(len(header).to_bytes(8, "little") + header + body)
    return path


def test_graphs_and_weights_whatever_their_names(conv_onnx, tmp_path):
    weights = write_safetensors(tmp_path / "a.onnx", b"{}")
    checkpoint = tmp_path / "b.xml"
    torch.save({"a": torch.zeros(1)}, checkpoint)
    graph = tmp_path / "c.pth"
    graph.write_bytes(conv_onnx.read_bytes())
    openvino = tmp_path / "d.bin"
    openvino.write_text('<?xml version="1.0"?>\n<net name="a" version="11">')
    kinds = [file_kind(path) for path in (weights, checkpoint, graph, openvino)]
    assert kinds == [FileKind.SAFETENSORS, FileKind.TORCH, FileKind.ONNX, FileKind.OPENVINO]
    assert [is_graph(path) for path in (weights, checkpoint, graph, openvino)] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "header",
    [
        b'{"a": {"data_offsets": [0, 1e400]}}',
        b'{"a": {"data_offsets": [0, NaN]}}',
        b'{"a": {"data_offsets": [0]}}',
        b'{"a": {"data_offsets": 5}}',
        b'{"a": ' + b"[" * 200_000,
        b'{"a": 5}',
        b"{nope",
        b'{"\xff": 1}',
        b"[1, 2]",
    ],
)
def test_headers_that_are_none(tmp_path, header):
    path = write_safetensors(tmp_path / "bad.safetensors", header)
    with pytest.raises(InputError, match="damaged safetensors file; download it again"):
        safetensors_header(path)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_any_json_is_a_header_or_an_input_error(tmp_path_factory, value):
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    write_safetensors(path, json.dumps({"a": {"data_offsets": value}}).encode())
    with contextlib.suppress(InputError):
        assert "a" in safetensors_header(path)


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match="File name too long"):
        file_kind(tmp_path / ("x" * 300))
    with pytest.raises(InputError, match="a folder"):
        file_kind(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.onnx")
    with pytest.raises(InputError, match="not a regular file"):
        file_kind(tmp_path / "pipe.onnx")


def test_a_header_whose_length_begins_as_a_pickle(tmp_path):
    header = json.dumps({"__metadata__": {"a": ""}})
    padded = header.ljust(0x80).encode()
    (tmp_path / "w.safetensors").write_bytes(len(padded).to_bytes(8, "little") + padded)
    assert file_kind(tmp_path / "w.safetensors") is FileKind.SAFETENSORS
