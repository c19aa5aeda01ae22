"""Numbers as channels."""

import torch

from sightline.perception.vlm.vision_tower import NUMBER, number_code


def test_every_pixel_has_a_code_of_its_own():
    codes = number_code(torch.arange(336) / 336)
    assert codes.shape == (336, NUMBER)
    assert codes.abs().max() <= 1
    apart = torch.cdist(codes, codes) + 9 * torch.eye(336)
    assert apart.min() > 0.5
    near, far = apart.diagonal(1), apart.diagonal(30)
    assert near.mean() < 0.7 * far.mean()


def test_shape_is_kept():
    assert number_code(torch.zeros(2, 5, 2)).shape == (2, 5, 2, NUMBER)
