"""The model inside the package: small, there without a network, and good in range."""

import pytest

from sightline.cli import main
from sightline.models.registry import embedded_folder
from sightline.video_model.pipeline import EMBEDDED, load
from sightline.video_model.scoring import MEAN_VELOCITY, mean_of, score_model, spec_of


@pytest.fixture(scope="module")
def model():
    return load(device="cpu")


def test_it_is_small():
    assert (embedded_folder() / f"{EMBEDDED}.safetensors").stat().st_size <= 6e6


@pytest.mark.parametrize(
    ("world", "most"), [("uniform", 0.4), ("collision", 0.6), ("parabola", 0.5)]
)
def test_it_obeys_in_range_better_than_out_of_it(model, world, most):
    inside, outside = (
        score_model(model, spec_of(f"{world}:{split}", 12, model.size, 31))
        for split in ("id", "ood")
    )
    assert mean_of(inside) < most
    assert mean_of(outside, MEAN_VELOCITY) > 1.5 * mean_of(inside, MEAN_VELOCITY)


def test_the_demo_works_out_of_the_box(tmp_path, capsys):
    assert main(["video", "demo", "--count", "2", "--out", str(tmp_path)]) == 0
    assert "uniform motion" in capsys.readouterr().out
    assert (tmp_path / "index.html").is_file()
