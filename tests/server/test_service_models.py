"""Questions and predictions, with models of random weights: form, not wits."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
import torch
from PIL import Image

from sightline.perception.codebook import DepthTokenizer
from sightline.perception.options import LoraOptions
from sightline.perception.vlm.lora import add_lora
from sightline.perception.vlm.model import load_vlm, save_vlm
from sightline.video_model.autoencoders.frames import FrameCodec
from sightline.video_model.autoencoders.options import FrameOptions
from sightline.video_model.data import open_mixture
from sightline.video_model.files import write_model
from sightline.video_model.latents import Latents
from sightline.video_model.learner import make_model
from sightline.video_model.options import BuildOptions, VideoTraining

from .conftest import running


@pytest.fixture(scope="module")
def vlm(hub_folder, random_codebook, tmp_path_factory):
    """A model with perception tokens that has learned nothing."""
    folder = tmp_path_factory.mktemp("vlm") / "vlm"
    options = LoraOptions(rank=2, alpha=2, pixels=True)
    checksum = DepthTokenizer(random_codebook).sha256
    save_vlm(add_lora(load_vlm(hub_folder), options, checksum), folder)
    return folder


@pytest.fixture(scope="module")
def video_model(tmp_path_factory):
    """A model that continues videos of 32 px and has learned nothing."""
    path = tmp_path_factory.mktemp("video") / "untrained.safetensors"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        codec = FrameCodec(FrameOptions(channels=4, widths=(4, 6, 8))).eval()
        build = BuildOptions(network="micro", patch=(1, 4, 4), says="video")
        latents = Latents(open_mixture(["uniform"], 32), codec)
        write_model(make_model(latents, build, VideoTraining(sampling=2)), path)
    return path


@pytest.fixture(scope="module")
def live(vlm, random_codebook, video_model, tmp_path_factory):
    words = ("--ask-model", vlm, "--codebook", random_codebook, "--video-model", video_model)
    with running(tmp_path_factory.mktemp("models"), "--model", "tiny", *words) as one:
        yield one


def picture_in(text):
    return Image.open(io.BytesIO(base64.b64decode(text)))


def test_a_question_with_its_steps(live, small_photo):
    fields = {"question": "which is nearest?", "points": ["A=20,30", "B=120,80"]}
    answer = live.client.post("/v1/ask", files={"image": small_photo}, data=fields)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["asked"] == "nearest"
    assert found["points"]["A"] == pytest.approx([20, 30], abs=0.5)
    assert found["chain"][0].startswith("A at 20,30")
    assert found["verdict"]
    assert found["model"] == "vlm"
    assert picture_in(found["picture_png"]).height == 160
    assert (found["map_png"] is None) == (found["values"] == {})
    assert found["answer"] in ("A", "B", None)


def test_the_map_that_it_writes_down(live, small_photo):
    fields = {"question": "depth map"}
    found = live.client.post("/v1/ask", files={"image": small_photo}, data=fields).json()
    assert found["asked"] == "map"
    if found["map_png"] is not None:
        assert picture_in(found["map_png"]).size == (150, 100)
    picture = live.client.post("/v1/ask?format=png", files={"image": small_photo}, data=fields)
    assert picture.headers["content-type"] == "image/png"


def test_how_many(live, small_photo):
    fields = {"question": "how many cups?"}
    found = live.client.post("/v1/ask", files={"image": small_photo}, data=fields).json()
    assert (found["asked"], found["kind"]) == ("count", "cups")
    assert isinstance(found["boxes"], list)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"question": "what color is it?"}, "unsupported kind"),
        ({"question": "which is nearest?"}, "at least two points"),
        ({"question": "which is nearest?", "points": ["A=1,1", "B=900,1"]}, "outside the picture"),
        ({"question": "which is nearest?", "points": ["here"]}, "cannot be parsed"),
        ({"points": ["A=1,1"]}, "missing"),
        ({"question": "x" * 600}, "500"),
    ],
)
def test_what_cannot_be_asked(live, small_photo, fields, says):
    answer = live.client.post("/v1/ask", files={"image": small_photo}, data=fields)
    assert answer.status_code == 422
    assert says in answer.json()["error"]
    assert "--" not in answer.json()["error"]


def test_a_model_goes_on_with_a_world(live):
    world = {"speeds": [2.0], "radii": [1.2]}
    answer = live.client.post("/v1/physics/predict", json=world)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["size"], found["frames"], found["condition"]) == (32, 32, 3)
    assert found["truth"] == "world"
    assert found["model"] == "untrained.safetensors"
    assert found["range"]["in_training_range"]
    assert len(found["bodies"]) == 1
    assert len(found["laws"]) > 10
    npz = live.client.post("/v1/physics/predict?format=npz", json=world).content
    with np.load(io.BytesIO(npz), allow_pickle=False) as file:
        frames = file["frames"]
    assert frames.shape == (32, 32, 32, 3)
    truth = live.client.post("/v1/physics/world?format=npz", json={**world, "size": 32}).content
    with np.load(io.BytesIO(truth), allow_pickle=False) as file:
        np.testing.assert_array_equal(frames[:3], file["frames"][:3])  # what it was given


def test_they_are_listed(live):
    found = live.client.get("/v1/models").json()
    assert found["defaults"]["ask"] == "vlm"
    assert found["defaults"]["video"] == "untrained.safetensors"
    usable = {one["name"] for one in found["models"] if one["usable"]}
    assert {"vlm", "untrained.safetensors", "tiny"} <= usable


def test_without_the_packages_of_the_embedded_ones(without, small_photo, tmp_path):
    """The rest works, and what does not says what to install."""
    with running(tmp_path, "--model", "tiny", **without("torch", "transformers", "peft")) as live:
        defaults = live.client.get("/v1/models").json()["defaults"]
        assert (defaults["ask"], defaults["video"]) == (None, None)
        files = {"image": small_photo}
        assert live.client.post("/v1/depth", files=files).status_code == 200
        asked = live.client.post("/v1/ask", files=files, data={"question": "depth map"})
        predicted = live.client.post("/v1/physics/predict", json={})
        for answer in (asked, predicted):
            assert answer.status_code == 503
            assert "pip install 'sightline[perception]'" in answer.json()["error"]


def test_a_model_whose_packages_are_not_there(without, small_photo, tmp_path):
    """One that the server was told to have is named with what it lacks, to whoever asks."""
    hidden = without("torch", "transformers", "peft")
    with running(tmp_path, "--model", "tiny", "--ask-model", "perception-vlm", **hidden) as live:
        fields = {"question": "depth map"}
        answer = live.client.post("/v1/ask", files={"image": small_photo}, data=fields)
        assert answer.status_code == 503
        assert "perception-vlm cannot be loaded: torch is not installed" in answer.json()["error"]
