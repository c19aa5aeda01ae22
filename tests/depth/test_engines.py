"""OpenVINO and torch give the same numbers, and say clearly what they cannot do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from sightline.depth import engines as choose
from sightline.depth.checkpoints import write_checkpoint
from sightline.depth.compact import CompactDepth
from sightline.errors import InputError, SightlineError
from sightline.models.entry import SPEC_KEY, ModelSpec
from sightline.runtime.engine import writable_cache
from sightline.runtime.openvino import OpenVinoEngine, import_openvino, openvino_core
from sightline.runtime.torch_engine import TorchEngine, pick_device

#: How files of these suffixes begin.
HEADS = {
    ".onnx": b"\x08\x09\x12\x07pytorch",
    ".pth": b"\x80\x02}q\x00.",
    ".safetensors": b"\x02\x00\x00\x00\x00\x00\x00\x00{}",
}


def write_head(folder, suffix):
    path = folder / f"m{suffix}"
    path.write_bytes(HEADS[suffix])
    return path


@pytest.fixture(scope="module")
def batch():
    return np.random.default_rng(1).normal(size=(3, 3, 40, 56)).astype(np.float32)


@pytest.fixture(scope="module")
def compact() -> CompactDepth:
    torch.manual_seed(0)
    return CompactDepth().eval()


@pytest.fixture(scope="module")
def compact_file(compact, tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "student.safetensors"
    write_checkpoint(path, compact.state_dict(), compact.spec)
    return path


def by_hand(path, batch):
    """The same two convolutions in torch."""
    import onnx
    from onnx import numpy_helper

    tensors = {
        t.name: torch.tensor(numpy_helper.to_array(t)) for t in onnx.load(path).graph.initializer
    }
    x = torch.relu(torch.conv2d(torch.from_numpy(batch), tensors["first"], padding=1))
    return torch.relu(torch.conv2d(x, tensors["second"], padding=1))[:, 0].numpy()


def test_openvino_reads_spec_and_runs_any_size(conv_onnx, conv_spec, batch):
    engine = OpenVinoEngine(conv_onnx, threads=1)
    assert engine.spec == conv_spec
    assert engine.fixed_hw is None
    assert (engine.name, engine.device) == ("openvino", "CPU")
    for piece in (batch, batch[:1, :, :24, :16], batch[:, :, :8, :48]):
        result = engine.run(piece)
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, by_hand(conv_onnx, piece), atol=1e-5)


def test_results_are_copies_and_batches_equal_single_runs_to_the_bit(conv_onnx, batch):
    engine = OpenVinoEngine(conv_onnx, threads=1)
    first = engine.run(batch[:1])
    kept = first.copy()
    together = engine.run(batch)
    assert np.array_equal(first, kept)
    assert np.array_equal(together, np.concatenate([engine.run(one[None]) for one in batch]))


def test_openvino_reads_its_own_format_with_our_spec(conv_onnx, conv_spec, tmp_path, batch):
    openvino = import_openvino()
    model = openvino_core().read_model(conv_onnx)
    model.set_rt_info(conv_spec.to_json(), [SPEC_KEY])
    openvino.save_model(model, tmp_path / "conv.xml", compress_to_fp16=False)
    engine = OpenVinoEngine(tmp_path / "conv.xml", threads=1)
    assert engine.spec == conv_spec
    np.testing.assert_allclose(engine.run(batch), by_hand(conv_onnx, batch), atol=1e-5)


def test_output_with_a_channel_axis_and_fixed_size(make_onnx, tmp_path, batch):
    path = make_onnx(tmp_path / "fixed.onnx", None, hw=(40, 56), channel=True)
    engine = OpenVinoEngine(path, threads=1)
    assert engine.spec is None
    assert engine.fixed_hw == (40, 56)
    np.testing.assert_allclose(engine.run(batch), by_hand(path, batch), atol=1e-5)
    with pytest.raises(SightlineError, match="input of 16×16"):
        engine.run(batch[:, :, :16, :16])
    np.testing.assert_allclose(engine.run(batch), by_hand(path, batch), atol=1e-5)


def test_many_threads_get_their_own_answers(conv_onnx):
    engine = OpenVinoEngine(conv_onnx, threads=1)
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=(1, 3, 16 + 8 * (i % 3), 24)).astype(np.float32) for i in range(60)]
    expected = [engine.run(one) for one in inputs]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(engine.run, inputs))
    for result, right in zip(results, expected, strict=True):
        assert np.array_equal(result, right)


def test_cache_is_filled_and_a_broken_entry_does_no_harm(conv_onnx, tmp_path, batch):
    cache = tmp_path / "compiled"
    expected = OpenVinoEngine(conv_onnx, 1).run(batch)
    OpenVinoEngine(conv_onnx, 1, cache)
    entries = [path for path in cache.rglob("*") if path.is_file()]
    assert entries
    assert np.array_equal(OpenVinoEngine(conv_onnx, 1, cache).run(batch), expected)
    for entry in entries:
        entry.write_bytes(entry.read_bytes()[:50])
    assert np.array_equal(OpenVinoEngine(conv_onnx, 1, cache).run(batch), expected)


def test_unusable_cache_is_left_out(conv_onnx, tmp_path, batch, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    blocked = tmp_path / "file" / "cache"
    assert OpenVinoEngine(conv_onnx, 1, blocked).run(batch).shape == (3, 40, 56)
    monkeypatch.setenv("SIGHTLINE_CACHE", str(blocked))
    assert writable_cache("openvino") is None


def test_cache_lies_where_the_user_says(own_cache):
    assert writable_cache("openvino") == own_cache / "openvino"
    assert (own_cache / "openvino").is_dir()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "an empty file"),
        (b"no model", "neither a torch checkpoint"),
        (b"\x08\x09garbage" * 40, "neither a torch checkpoint"),
        (b"\x08\x09\x12" + b"garbage" * 40, "not a whole ONNX"),
        (b"<?xml?><net junk", "not a whole ONNX"),
        (b"<!DOCTYPE html><html>Sign in", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
        (HEADS[".safetensors"], "torch weights"),
    ],
)
def test_broken_model_files(tmp_path, capfd, content, words):
    path = tmp_path / "broken.onnx"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"broken\.onnx: .*{words}") as caught:
        OpenVinoEngine(path)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")  # nor do OpenVINO's parsers add lines of their own


@pytest.mark.parametrize("name", ["conv.pth", "conv.dat", "conv.safetensors", "conv"])
def test_a_model_is_known_by_its_content(conv_onnx, conv_spec, tmp_path, own_cache, name):
    path = shutil.copy(conv_onnx, tmp_path / name)
    engine, spec = choose.open_engine(path, "")
    assert (engine.name, spec) == ("openvino", conv_spec)
    with pytest.raises(InputError, match="torch cannot run"):
        choose.open_engine(path, "", engine="torch")


def test_torch_weights_named_onnx_are_torch_weights(compact, compact_file, tmp_path):
    path = shutil.copy(compact_file, tmp_path / "student.onnx")
    engine, spec = choose.open_engine(path, "", engine="torch", device="cpu")
    assert (engine.name, spec) == ("torch", compact.spec)


def test_truncated_model_file(conv_onnx, tmp_path):
    path = tmp_path / "cut.onnx"
    path.write_bytes(conv_onnx.read_bytes()[:-200])
    with pytest.raises(InputError, match=r"cut\.onnx"):
        OpenVinoEngine(path)


def test_missing_model_file_and_nonsense_options(conv_onnx, tmp_path):
    with pytest.raises(InputError, match="no such file"):
        OpenVinoEngine(tmp_path / "none.onnx")
    with pytest.raises(InputError, match="threads"):
        OpenVinoEngine(conv_onnx, threads=0)
    with pytest.raises(InputError, match="no device 'TPU'"):
        OpenVinoEngine(conv_onnx, device="TPU")


def test_a_network_that_is_no_depth_network(tmp_path):
    from onnx import TensorProto, helper, save

    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "classifier",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 10])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
    )
    path = tmp_path / "classifier.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    with pytest.raises(InputError, match="not a depth network"):
        OpenVinoEngine(path)


def test_torch_engine_runs_the_network(compact):
    images = np.random.default_rng(2).normal(size=(2, 3, 64, 96)).astype(np.float32)
    engine = TorchEngine(compact, "cpu")
    with torch.no_grad():
        expected = compact(torch.from_numpy(images)).numpy()
    assert np.array_equal(engine.run(images), expected)
    assert (engine.name, engine.device) == ("torch", "cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_absent_devices_are_named(compact):
    with pytest.raises(InputError, match=r"cuda was asked for.*0 CUDA devices; use --device cpu"):
        TorchEngine(compact, "cuda")
    with pytest.raises(InputError, match="knows no device 'abacus'"):
        pick_device("abacus")
    with pytest.raises(InputError, match="half precision is for CUDA"):
        TorchEngine(compact, "cpu", half=True)


@pytest.mark.slow
def test_checkpoint_is_converted_once_and_runs_like_torch(compact, compact_file, own_cache):
    images = np.random.default_rng(2).normal(size=(1, 3, 64, 96)).astype(np.float32)
    engine, spec = choose.open_engine(compact_file, "ab" * 32, threads=1, device="cpu")
    assert spec == compact.spec
    assert engine.name == "openvino"
    kept = list((own_cache / "converted").glob("*.xml"))
    assert len(kept) == 1
    by_torch, torch_spec = choose.open_engine(compact_file, "", engine="torch", device="cpu")
    assert torch_spec == spec
    expected = by_torch.run(images)
    np.testing.assert_allclose(engine.run(images), expected, rtol=1e-3, atol=1e-4)
    # The second time neither torch nor the weights are opened: the kept file is all it takes.
    stamp = kept[0].stat().st_mtime_ns
    with choose.converted(compact_file, "ab" * 32) as graph:
        assert graph == kept[0]
    assert kept[0].stat().st_mtime_ns == stamp


def test_conversion_without_a_cache_leaves_nothing(compact_file, tmp_path, monkeypatch):
    monkeypatch.setattr(choose, "_export", _pretend_export)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "file" / "cache"))
    with choose.converted(compact_file, "cd" * 32) as graph:
        assert graph.is_file()
    assert not graph.exists()


def _pretend_export(path, target, spec):
    """Stands in for half a minute of tracing where only the place of the file is at stake."""
    target.write_bytes(b"graph")
    return target


def test_conversions_are_kept_apart_by_description_and_name(
    compact_file, conv_spec, own_cache, monkeypatch
):
    """The same bytes may be relative or metric, depending on the caller and on the file's name."""
    monkeypatch.setattr(choose, "_export", _pretend_export)
    renamed = compact_file.with_name("student_metric.safetensors")
    renamed.write_bytes(compact_file.read_bytes())
    made = []
    for path, spec in ((compact_file, None), (renamed, None), (compact_file, conv_spec)):
        with choose.converted(path, "cd" * 32, spec) as graph:
            made.append(graph)
    (compact_file.with_name("config.json")).write_text("{}")
    with choose.converted(compact_file, "cd" * 32) as graph:
        made.append(graph)
    (compact_file.with_name("config.json")).unlink()
    assert len(set(made)) == 4
    assert all(path.is_file() for path in made)


def test_without_torch_one_line_says_what_to_install(compact_file, own_cache, monkeypatch):
    monkeypatch.setattr(choose.importlib.util, "find_spec", lambda name: None)
    for engine in ("openvino", "torch"):
        with pytest.raises(InputError, match=r"pip install 'sightline\[train\]'"):
            choose.open_engine(compact_file, "ef" * 32, engine=engine, device="cpu")


@pytest.mark.parametrize(
    ("suffix", "engine", "device", "gpu", "expected"),
    [
        (".onnx", "auto", None, True, "openvino"),
        (".onnx", "auto", None, False, "openvino"),
        (".pth", "auto", None, True, "torch"),
        (".pth", "auto", None, False, "openvino"),
        (".pth", "auto", "cpu", True, "openvino"),
        (".safetensors", "auto", "cuda", False, "torch"),
        (".safetensors", "torch", None, False, "torch"),
        (".pth", "openvino", None, True, "openvino"),
    ],
)
def test_choice_of_engine(tmp_path, monkeypatch, suffix, engine, device, gpu, expected):
    monkeypatch.setattr(choose, "_accelerator_here", lambda: gpu)
    assert choose.choose_engine(write_head(tmp_path, suffix), engine, device) == expected


def test_weights_too_large_for_onnx_run_in_torch(tmp_path):
    path = write_head(tmp_path, ".pth")
    with path.open("r+b") as file:
        os.truncate(file.fileno(), choose.ONNX_LIMIT + 1)
    assert choose.choose_engine(path, "auto", "cpu") == "torch"


@pytest.mark.parametrize(
    ("suffix", "engine", "device", "words"),
    [
        (".onnx", "torch", None, "torch cannot run"),
        (".onnx", "auto", "cuda", "cuda cannot run"),
        (".pth", "openvino", "cuda:0", "OpenVINO does not run on cuda:0"),
        (".pth", "tpu", None, "no engine 'tpu'"),
    ],
)
def test_impossible_wishes(tmp_path, suffix, engine, device, words):
    with pytest.raises(InputError, match=words):
        choose.choose_engine(write_head(tmp_path, suffix), engine, device)


def test_network_without_description_is_refused_unless_one_is_given(
    make_onnx, conv_spec, tmp_path, own_cache
):
    path = make_onnx(tmp_path / "bare.onnx", None)
    with pytest.raises(InputError, match="carries no description"):
        choose.open_engine(path, "")
    _, spec = choose.open_engine(path, "", spec=conv_spec)
    assert spec == conv_spec


def test_the_files_own_description_wins(conv_onnx, conv_spec, own_cache):
    _, spec = choose.open_engine(conv_onnx, "", spec=ModelSpec("vits"))
    assert spec == conv_spec


def test_openvino_path_needs_no_torch(conv_onnx, tmp_path):
    """A fresh interpreter that opens an ONNX model has torch nowhere in memory."""
    code = (
        "import sys; from pathlib import Path\n"
        "from sightline.depth.estimator import load\n"
        f"e = load(Path({str(conv_onnx)!r}), threads=1)\n"
        "import numpy as np; e.infer(np.zeros((20, 30, 3), np.uint8), sigma=True, tiles=True)\n"
        "heavy = {'torch', 'torchvision', 'onnx', 'numba', 'nncf', 'transformers'}\n"
        "sys.exit(','.join(heavy & set(sys.modules)) or 0)"
    )
    environment = {**os.environ, "SIGHTLINE_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_nobody_is_told_of_a_run(conv_onnx, tmp_path):
    """OpenVINO's telemetry would start a process and make ~/intel; neither may happen."""
    code = (
        "import multiprocessing, sys\n"
        "started = []\n"
        "multiprocessing.Process.start = lambda self: started.append(self.name)\n"
        "from sightline.depth.estimator import load\n"
        "import numpy as np\n"
        f"load({str(conv_onnx)!r}, threads=1).infer(np.zeros((20, 30, 3), np.uint8))\n"
        "assert 'openvino' in sys.modules\n"
        "assert sys.modules['openvino_telemetry'] is None\n"  # NNCF looks for it, too
        "sys.exit(','.join(started) or 0)"
    )
    home, cache = tmp_path / "home", tmp_path / "cache"
    home.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment |= {"HOME": str(home), "USERPROFILE": str(home), "SIGHTLINE_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert list(home.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs Linux")
def test_a_process_is_not_tied_to_the_first_core():
    code = (
        "import os, numpy as np, sightline\n"
        "before = os.sched_getaffinity(0)\n"
        "sightline.load('tiny', threads=1).infer(np.zeros((64, 64, 3), np.uint8))\n"
        "tasks = [os.sched_getaffinity(int(task)) for task in os.listdir('/proc/self/task')]\n"
        "assert all(mask == before for mask in tasks), tasks\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


CLOSED = """
import gc, signal
from sightline.runtime.openvino import OpenVinoEngine

first, second = (OpenVinoEngine({path!r}, threads=1) for _ in range(2))
del first
gc.collect()
del second
gc.collect()
signal.signal(signal.SIGINT, lambda *_: print("handled"))
signal.raise_signal(signal.SIGINT)
"""


def test_a_signal_after_two_networks_were_closed_is_handled(conv_onnx):
    """Cores of OpenVINO that go in the order they came leave no stack for signal handlers."""
    script = CLOSED.format(path=str(conv_onnx))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "handled\n"), done.stderr
