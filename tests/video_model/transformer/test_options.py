"""What a network is made from, checked and kept; the paper's sizes have the paper's parameters."""

import json

import pytest
import torch

from sightline.errors import InputError
from sightline.video_model.options import SIZES, TransformerOptions
from sightline.video_model.transformer import VideoTransformer

VIDEO = {"frames": 8, "height": 16, "width": 12, "channels": 4}


def count_parameters(**options):
    with torch.device("meta"):
        made = VideoTransformer(TransformerOptions(**VIDEO, **options))
    return sum(p.numel() for p in made.parameters())


@pytest.mark.parametrize(("size", "millions"), [("S", 22.5), ("B", 89.5), ("L", 310), ("XL", 456)])
def test_sizes_have_the_parameters_of_the_paper(size, millions):
    for attention in ("full", "factorized"):
        assert count_parameters(size=size, attention=attention) == pytest.approx(
            millions * 1e6, rel=0.003
        )


def test_small_sizes_are_small():
    assert 1e6 < count_parameters(size="tiny") < 2e6
    assert 4.5e6 < count_parameters(size="mini") < 5.5e6


def test_sizes_can_take_turns_and_be_turned():
    for size in SIZES.values():
        assert size.depth % 2 == 0
        assert size.width % (2 * size.heads) == 0


def test_grid_and_shape():
    options = TransformerOptions(**VIDEO, patch=(4, 2, 3))
    assert options.shape == (4, 8, 16, 12)
    assert options.grid == (2, 8, 4)


def test_kept_as_json():
    options = TransformerOptions(
        **VIDEO, patch=(2, 4, 4), size="S", attention="factorized", numbers=2, text=16
    )
    again = TransformerOptions.from_dict(json.loads(json.dumps(options.to_dict())))
    assert again == options
    assert hash(again) == hash(options)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"frames": 0}, "frames must be at least 1, got 0"),
        ({"channels": 0}, "channels must be at least 1"),
        ({"numbers": -1}, "numbers must be a number from 0 up, got -1"),
        ({"text": -3}, "text must be a number from 0 up"),
        ({"patch": (1, 2)}, r"patch is three numbers .* got \(1, 2\)"),
        ({"patch": (1, 0, 2)}, "patch is three numbers from 1 up"),
        ({"patch": (3, 2, 2)}, "frames 8 is not a multiple of the patch's 3"),
        ({"patch": (1, 3, 2)}, "height 16 is not a multiple of the patch's 3"),
        ({"patch": (1, 2, 5)}, "width 12 is not a multiple of the patch's 5"),
        (
            {"size": "XXL"},
            "no size is called 'XXL'; give one of nano, micro, tiny, mini, S, B, L, XL",
        ),
        ({"attention": "causal"}, "attention is full or factorized, got 'causal'"),
    ],
)
def test_bad_options_are_refused(wrong, words):
    with pytest.raises(InputError, match=words):
        TransformerOptions(**(VIDEO | wrong))


@pytest.mark.parametrize("values", [VIDEO | {"depth": 4}, {"frames": 8}])
def test_a_strange_description_is_refused(values):
    with pytest.raises(InputError, match="not a description of a transformer"):
        TransformerOptions.from_dict(values)
