"""A real transformers depth model, small and untrained, from a folder; no network is needed."""

import numpy as np
import pytest

from sightline.benchmarks.hub_models import HubModel
from sightline.benchmarks.samples import Item
from sightline.errors import InputError
from sightline.types import Kind
from sightline.weights.cache import file_sha256

ITEM = Item("a", "all", (), lambda: None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import torch
    from transformers import (
        DepthAnythingConfig,
        DepthAnythingForDepthEstimation,
        Dinov2Config,
        DPTImageProcessorPil,
    )

    torch.manual_seed(0)
    backbone = Dinov2Config(
        hidden_size=24,
        num_hidden_layers=4,
        num_attention_heads=2,
        image_size=56,
        out_features=["stage1", "stage2", "stage3", "stage4"],
        reshape_hidden_states=False,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=24,
        neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8,
        head_hidden_size=8,
    )
    folder = tmp_path_factory.mktemp("hub")
    model = DepthAnythingForDepthEstimation(config)
    with torch.no_grad():
        model.head.conv3.bias.fill_(1.0)
    model.save_pretrained(folder)
    DPTImageProcessorPil(
        size={"height": 56, "width": 56}, keep_aspect_ratio=True, ensure_multiple_of=14
    ).save_pretrained(folder)
    return folder


def test_a_model_of_transformers_predicts_at_the_pictures_size(folder, photo):
    model = HubModel(str(folder))
    depth = model.predict(ITEM, photo[:50, :70])
    assert depth.values.shape == (50, 70)
    assert depth.kind is Kind.RELATIVE_DISPARITY
    assert np.ptp(depth.values) > 0
    digest = file_sha256(folder / "model.safetensors")[:12]
    assert model.source == f"{folder.name}@{digest} (transformers)"


def test_what_it_answers_can_be_told(folder, photo):
    assert HubModel(str(folder), "depth").predict(ITEM, photo[:30, :30]).kind is Kind.METRIC_DEPTH


def test_a_folder_without_safetensors(tmp_path):
    with pytest.raises(InputError, match="safetensors"):
        HubModel(str(tmp_path))


def test_a_repository_that_cannot_be_had(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="could not be fetched"):
        HubModel("nobody/no-such-depth-model")
