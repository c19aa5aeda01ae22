"""The codebook's file: OpenVINO and torch read the same thing out of it."""

import numpy as np
import onnx
import pytest
import torch

from sightline.errors import InputError
from sightline.perception.codebook import (
    DepthCodebook,
    DepthTokenizer,
    read_codebook,
    to_input,
    write_codebook,
)
from sightline.types import DepthMap, Kind


@pytest.fixture(scope="module")
def codebook():
    """Random kernels, and codes that lie where its encoder's vectors do, so that many are chosen."""
    torch.manual_seed(0)
    made = DepthCodebook().eval()
    with torch.no_grad():
        made.encoder[-1].weight.mul_(100)  # an untrained encoder hardly tells places apart
        maps = to_input(np.stack([steps(seed) for seed in range(8)]))
        vectors = made.encoder(maps).permute(0, 2, 3, 1).flatten(0, 2)
        made.quantizer.codes.copy_(vectors[torch.randperm(len(vectors))[:128]])
    return made


@pytest.fixture(scope="module")
def path(codebook, tmp_path_factory):
    path = tmp_path_factory.mktemp("codebook") / "codebook.onnx"
    write_codebook(codebook, path)
    return path


def steps(seed):
    rng = np.random.default_rng(seed)
    return np.kron(rng.integers(0, 256, (10, 10)), np.ones((32, 32))).astype(np.uint8)


def test_openvino_and_torch_agree(path):
    tokenizer, network = DepthTokenizer(path, threads=1), read_codebook(path)
    for seed in range(3):
        shown = steps(seed)
        codes = tokenizer.encode(shown)
        with torch.no_grad():
            wanted = network.encode(to_input(shown))[0].numpy()
            decoded = network.decode(torch.from_numpy(wanted)[None])[0, 0].numpy()
        # Two codes that are all but equally near may change places by rounding.
        assert (codes == wanted).mean() > 0.95
        assert len(np.unique(codes)) > 10
        np.testing.assert_allclose(
            tokenizer.decode(wanted), np.clip((decoded + 1) / 2, 0, 1), atol=2e-3
        )


def test_weights_come_back_as_halves_and_training_can_go_on(codebook, path):
    back = read_codebook(path)
    for name, value in codebook.state_dict().items():
        if name not in ("quantizer.count", "quantizer.total"):
            torch.testing.assert_close(back.state_dict()[name], value, rtol=1e-3, atol=1e-4)
    assert torch.equal(back.quantizer.total, back.quantizer.codes)
    passed = back.train()(to_input(steps(0)))
    assert torch.isfinite(passed.decoded).all()


def test_the_same_codebook_gives_the_same_bytes(codebook, path, tmp_path):
    write_codebook(codebook, tmp_path / "again.onnx")
    assert (tmp_path / "again.onnx").read_bytes() == path.read_bytes()
    assert 15e6 < path.stat().st_size < 16.5e6, "halves of 7.7 M weights"


def test_text_and_back(path):
    tokenizer = DepthTokenizer(path)
    shown = steps(1)
    text = tokenizer.to_text(shown)
    assert text.count("<DEPTH_") == 102
    decoded = tokenizer.from_text(f"Depth map: {text}\nThe nearest is (A)")
    np.testing.assert_array_equal(decoded, tokenizer.decode(tokenizer.encode(shown)))


def test_a_depth_map_of_any_kind_and_size_is_taken(path):
    tokenizer = DepthTokenizer(path)
    near = np.linspace(1, 5, 60 * 40, dtype=np.float32).reshape(60, 40)
    meters = DepthMap(near, Kind.METRIC_DEPTH)
    inverse = DepthMap(1 / near, Kind.METRIC_DISPARITY)
    np.testing.assert_array_equal(tokenizer.encode(meters), tokenizer.encode(inverse))
    for wrong in (np.zeros((3, 3, 3), np.uint8), near):
        with pytest.raises(InputError, match="a map of bytes"):
            tokenizer.encode(wrong)


def test_codes_that_are_none_are_refused(path):
    tokenizer = DepthTokenizer(path)
    with pytest.raises(InputError, match="0 to 127"):
        tokenizer.decode(np.full((10, 10), 128))
    with pytest.raises(InputError, match="10 × 10"):
        tokenizer.decode(np.zeros((5, 10), np.int64))


def test_other_files_are_refused(path, tmp_path):
    from sightline.depth.compact import CompactDepth
    from sightline.depth.export import export_onnx

    network = CompactDepth()
    export_onnx(network, network.spec, tmp_path / "depth.onnx")
    for read in (DepthTokenizer, read_codebook):
        with pytest.raises(InputError, match="not a depth codebook"):
            read(tmp_path / "depth.onnx")
    cut = tmp_path / "cut.onnx"
    cut.write_bytes(path.read_bytes()[:1_000_000])
    for read in (DepthTokenizer, read_codebook):
        with pytest.raises(InputError, match=r"damaged|not a whole"):
            read(cut)


def test_a_file_without_codes_is_damaged(path, tmp_path):
    model = onnx.load(path)
    for entry in model.metadata_props:
        if entry.key == "sightline.weights":
            entry.value = "{}"
    onnx.save(model, tmp_path / "empty.onnx")
    with pytest.raises(InputError, match="is missing"):
        read_codebook(tmp_path / "empty.onnx")


def test_a_depth_model_is_no_codebook_by_name():
    with pytest.raises(InputError, match="tiny"):
        DepthTokenizer("tiny")
