"""The batch runner: URLs as inputs and outputs, resuming, and a local Ray cluster."""

from __future__ import annotations

import secrets

import numpy as np
import pytest

from sightline.config import ParallelConfig
from sightline.depth.config import DepthConfig
from sightline.io.atomic import write_bytes
from sightline.io.depth_files import read_depth
from sightline.io.paths import to_path
from sightline.jobs import BatchConfig, DepthTask, run


def depth(model, inputs, out, parallel=None, **settings):
    task = DepthTask(DepthConfig(model=str(model), threads=1), BatchConfig(save=("npz",)))
    folder = to_path(str(out))
    jobs = task.prepare([str(inputs)], folder)
    return list(run(task, jobs, folder, parallel, **settings))


def test_from_bucket_to_bucket_and_resumed(conv_onnx, save_photos, tmp_path):
    photos = save_photos(2)
    bucket = f"memory://runner-{secrets.token_hex(4)}"
    for picture in photos.iterdir():
        write_bytes(f"{bucket}/in/{picture.name}", picture.read_bytes())
    outcomes = depth(conv_onnx, f"{bucket}/in", f"{bucket}/out")
    assert [outcome.failure for outcome in outcomes] == [None, None]
    assert outcomes[0].to_dict()["outputs"] == {"npz": f"{bucket}/out/000.npz"}
    again = depth(conv_onnx, f"{bucket}/in", f"{bucket}/out", resume=True)
    assert [outcome.skipped for outcome in again] == [True, True]
    depth(conv_onnx, photos, tmp_path / "here")
    there = read_depth(to_path(f"{bucket}/out/000.npz")).values
    np.testing.assert_array_equal(there, read_depth(tmp_path / "here" / "000.npz").values)


def test_on_a_local_cluster(conv_onnx, save_photos, tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="needs the extra `cluster`")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    photos = save_photos(3)
    (photos / "001.png").write_bytes(b"not an image")
    monkeypatch.chdir(tmp_path)
    parallel = ParallelConfig(workers=1, cluster=True)
    outcomes = depth(conv_onnx, "photos", "out", parallel)
    by_name = {str(outcome.job.source): outcome for outcome in outcomes}
    assert set(by_name) == {"photos/000.png", "photos/001.png", "photos/002.png"}
    assert "001.png" in str(by_name["photos/001.png"].failure)
    assert sorted(path.name for path in (tmp_path / "out").glob("*.npz")) == ["000.npz", "002.npz"]
