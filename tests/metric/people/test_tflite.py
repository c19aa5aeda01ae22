from __future__ import annotations

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.people.tflite import TfliteNetwork
from sightline.models import registry
from sightline.models.download import locate


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="no such model file"):
        TfliteNetwork(tmp_path / "a.tflite")


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04" + bytes(100)])
def test_another_kind_of_file(tmp_path, content):
    path = tmp_path / "a.tflite"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.tflite: is not a TensorFlow Lite model"):
        TfliteNetwork(path)


def test_a_damaged_model(tmp_path):
    path = tmp_path / "a.tflite"
    path.write_bytes(bytes([28, 0, 0, 0]) + b"TFL3" + bytes(200))
    with pytest.raises(InputError, match=r"a\.tflite: "):
        TfliteNetwork(path)


def test_a_network_gives_its_outputs_in_order():
    where = locate(registry.get("pose-detection"))
    if where is None:
        pytest.skip("not on this machine: sightline models get pose-detection")
    network = TfliteNetwork(where, threads=1)
    assert network.size == 224
    boxes, scores = network.run(np.zeros((224, 224, 3), np.float32))
    assert (boxes.shape, scores.shape) == ((2254, 12), (2254, 1))
    again, _ = network.run(np.ones((224, 224, 3), np.float32))
    assert not np.array_equal(boxes, again)  # copies, not the network's own buffers
