"""A real transformers depth model, small and untrained, from a folder; no network is needed."""

import numpy as np
import pytest

from sightline.benchmarks.hub_models import HubModel
from sightline.benchmarks.samples import Item
from sightline.errors import InputError
from sightline.models.cache import file_sha256
from sightline.types import Kind

ITEM = Item("a", "all", (), lambda: None)


def test_a_model_of_transformers_predicts_at_the_pictures_size(hub_depth_model, photo):
    model = HubModel(str(hub_depth_model))
    depth = model.predict(ITEM, photo[:50, :70])
    assert depth.values.shape == (50, 70)
    assert depth.kind is Kind.RELATIVE_DISPARITY
    assert np.ptp(depth.values) > 0
    digest = file_sha256(hub_depth_model / "model.safetensors")[:12]
    assert model.source([]) == f"{hub_depth_model.name}@{digest} (transformers)"


def test_what_it_answers_can_be_told(hub_depth_model, photo):
    assert (
        HubModel(str(hub_depth_model), "depth").predict(ITEM, photo[:30, :30]).kind
        is Kind.METRIC_DEPTH
    )


def test_a_folder_without_safetensors(tmp_path):
    with pytest.raises(InputError, match="safetensors"):
        HubModel(str(tmp_path))


def test_a_repository_that_cannot_be_had(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="could not be fetched"):
        HubModel("nobody/no-such-depth-model")
