import json

import pytest
from PIL import Image

from sightline.errors import InputError
from sightline.scenes.config import (
    MANIFEST,
    SceneSpec,
    claim_folder,
    parse_size,
    texture_fingerprint,
)


@pytest.mark.parametrize("text", ["320x256", "320X256", "320×256"])
def test_sizes(text):
    assert parse_size(text) == (320, 256)


@pytest.mark.parametrize("text", ["", "320", "320x", "x256", "-3x4", "3.5x4", "320x256x3", "²x4"])
def test_what_is_no_size(text):
    with pytest.raises(InputError, match="width x height"):
        parse_size(text)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 8}, "sides must be"),
        ({"height": 100_000}, "sides must be"),
        ({"seed": -1}, "seed must be"),
        ({"kinds": ("room", "moon")}, "no kind of scene is called 'moon'"),
        ({"kinds": ()}, "no kind of scene to choose from"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(InputError, match=message):
        SceneSpec(**settings)


def test_kinds_have_one_order():
    assert SceneSpec(kinds=("street", "room", "street")) == SceneSpec(kinds=("room", "street"))


def test_a_folder_belongs_to_one_spec(tmp_path):
    spec = SceneSpec(seed=3, width=64, height=48, kinds=("room",))
    claim_folder(tmp_path, spec)
    before = (tmp_path / MANIFEST).read_bytes()
    claim_folder(tmp_path, spec)
    assert (tmp_path / MANIFEST).read_bytes() == before
    for other, message in (
        (SceneSpec(4, 64, 48, ("room",)), "holds scenes with seed = 3, not 4"),
        (SceneSpec(3, 48, 48, ("room",)), "holds scenes with width = 64, not 48"),
        (SceneSpec(3, 64, 48), "holds scenes with kinds = room, not none in particular"),
    ):
        with pytest.raises(InputError, match=message):
            claim_folder(tmp_path, other)


def test_a_folder_of_other_pictures_is_left_alone(tmp_path):
    (tmp_path / "index.csv").write_text("id,source,scene,kind,fx,real\n")
    with pytest.raises(InputError, match=r"has an index\.csv but no scenes\.json"):
        claim_folder(tmp_path, SceneSpec())
    assert [path.name for path in tmp_path.iterdir()] == ["index.csv"]


@pytest.mark.parametrize("text", ["{", "[]", "\xff"])
def test_a_damaged_manifest(tmp_path, text):
    (tmp_path / MANIFEST).write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match="is damaged"):
        claim_folder(tmp_path, SceneSpec())


def test_other_textures_are_other_scenes(tmp_path):
    photos = tmp_path / "photos"
    (photos / "sub").mkdir(parents=True)
    Image.new("RGB", (8, 8), "red").save(photos / "sub" / "a.png")
    spec = SceneSpec(textures=str(photos))
    claim_folder(tmp_path / "scenes", spec)
    assert json.loads((tmp_path / "scenes" / MANIFEST).read_text())[
        "textures"
    ] == texture_fingerprint(photos)
    (photos / "note.txt").write_text("no picture")
    photos = photos.rename(tmp_path / "moved")
    claim_folder(tmp_path / "scenes", SceneSpec(textures=str(photos)))
    Image.new("RGB", (8, 8), "red").save(photos / "b.png")
    with pytest.raises(InputError, match="holds scenes with textures"):
        claim_folder(tmp_path / "scenes", SceneSpec(textures=str(photos)))


def test_textures_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        texture_fingerprint(tmp_path / "missing")
    with pytest.raises(InputError, match="no picture"):
        texture_fingerprint(tmp_path)
