"""The whole painted path, `sightline metric --painter FOLDER`, with a real pipeline and finder.

A pipeline of random weights paints noise, in which nobody is found. For people to appear, a double
around the painter pastes somebody into what the pipeline has painted.
"""

import json

import cv2
import numpy as np
import pytest

from sightline.cli import main
from sightline.cli.progress import Display
from sightline.examples import example_person, example_photograph
from sightline.io.depth_files import read_depth
from sightline.io.images import read_picture
from sightline.metric import diffusion
from sightline.models import registry
from sightline.models.download import locate
from sightline.types import Camera

QUICK = ["--painter-steps", "1", "--painter-side", "32", "--model", "tiny", "--no-sigma"]


class WithSomebody:
    """Paints by a real pipeline, and stands a person in every second strip."""

    def __init__(self, painter, somebody):
        self.source, self.batch = painter.source, 2
        self.painted = 0
        self._painter, self._somebody = painter, somebody

    def paint(self, pixels, masks, prompts, seeds):
        noise = self._painter.paint(pixels, masks, prompts, seeds)
        made = []
        for painted, mask in zip(noise, masks, strict=True):
            # A trained pipeline keeps what is outside the strip, and paints what could be there.
            image = np.where(mask[..., None], 0.9 * pixels + 0.1 * painted, pixels).astype(np.uint8)
            if self.painted % 2:
                _stand(image, mask, *self._somebody)
            self.painted += 1
            made.append(image)
        return made


def _stand(image, strip, pixels, mask):
    """Paste a cut-out person over the foot of a strip, as large as fits."""
    columns = np.flatnonzero(strip[0])
    scale = min(len(columns) / mask.shape[1], 0.9 * len(image) / mask.shape[0])
    size = (round(mask.shape[1] * scale), round(mask.shape[0] * scale))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    inside = cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
    left = columns[0] + (len(columns) - size[0]) // 2
    image[-size[1] :, left : left + size[0]][inside] = small[inside]


@pytest.fixture(scope="module")
def somebody():
    """Pixels and mask of the astronaut, cut out by the real finder."""
    names = ("pose-detection", "pose-full")
    if any(locate(registry.get(name)) is None for name in names):
        pytest.skip(f"not on this machine: sightline models get {' '.join(names)}")
    from sightline.metric.people.blazepose import BlazePoseFinder

    pixels = read_picture(example_person()).pixels
    height, width = pixels.shape[:2]
    person = BlazePoseFinder(threads=1).find(pixels, Camera.assumed(width, height))[0]
    rows, columns = np.flatnonzero(person.mask.any(1)), np.flatnonzero(person.mask.any(0))
    cut = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    return pixels[cut], person.mask[cut]


def metric(out, pipeline, *words):
    place = [str(example_photograph()), "--out", str(out), "--threads", "1"]
    return main(["metric", *place, "--painter", str(pipeline), *QUICK, *words])


def test_painted_people_become_meters(tmp_path, tiny_pipeline, somebody, monkeypatch, capsys):
    load = diffusion.load_painter
    monkeypatch.setattr(
        diffusion, "load_painter", lambda *a, **k: WithSomebody(load(*a, **k), somebody)
    )
    assert metric(tmp_path, tiny_pipeline, "--paintings", "2", "--attempts", "12") == 0
    depth = read_depth(tmp_path / "coffee.npz")
    assert depth.unit == "m"
    assert (depth.sigma[depth.valid] > 0).all()
    said = json.loads((tmp_path / "coffee.json").read_text())
    assert said["people_painted_by"] == str(tiny_pipeline)
    assert [one["name"] for one in said["paintings"]["accepted"]] == ["painting 1", "painting 2"]
    assert {one["prompt"] for one in said["paintings"]["accepted"]} <= {"a man", "a woman"}
    assert 2 <= said["paintings"]["refused"]["nobody was painted"] <= 10
    names = [row["name"] for row in said["evidence"]]
    assert {name.partition(" in ")[2] for name in names} == {"painting 1", "painting 2"}
    assert any("in painting 1" in line for line in said["warnings"])  # nobody has legs there
    assert "in painting 1 (± " in capsys.readouterr().out


@pytest.mark.usefixtures("somebody")  # the finder is on this machine
def test_noise_ends_with_what_was_painted_in_vain(tmp_path, tiny_pipeline, monkeypatch, capfd):
    shown = []
    monkeypatch.setattr(Display, "step", lambda _, done, total, text: shown.append(text))
    assert metric(tmp_path, tiny_pipeline, "--attempts", "3") == 2
    assert shown == [f"{made} painted, 0 of 32 with people" for made in (1, 2, 3)]
    (line,) = capfd.readouterr().err.strip().splitlines()
    assert "nobody was found; the paintings have no people to measure by" in line
    assert "3 painted, 0 accepted (nobody was painted in 3)" in line
    assert not list(tmp_path.glob("*.npz"))
