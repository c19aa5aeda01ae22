"""The network of the depth codebook: its size, its shapes, and codes that follow their vectors."""

import pytest
import torch

from sightline.perception.codebook import SIDE, DepthCodebook, Quantizer
from sightline.perception.tokens import CODES, GRID


@pytest.fixture(scope="module")
def codebook():
    torch.manual_seed(0)
    return DepthCodebook().eval()


def test_it_has_the_papers_size(codebook):
    weights = sum(parameter.numel() for parameter in codebook.parameters())
    assert weights == pytest.approx(7.7e6, rel=0.01)
    assert codebook.quantizer.codes.numel() == 65_536


def test_there_and_back(codebook):
    depth = torch.linspace(-1, 1, SIDE).expand(2, 1, SIDE, SIDE)
    with torch.no_grad():
        codes = codebook.encode(depth)
        passed = codebook(depth)
    assert codes.shape == (2, GRID, GRID)
    assert 0 <= codes.min() <= codes.max() < CODES
    assert torch.equal(codes, passed.chosen)
    assert passed.decoded.shape == depth.shape
    torch.testing.assert_close(codebook.decode(codes), passed.decoded, rtol=1e-4, atol=1e-5)


def test_certain_soft_tokens_are_hard_ones(codebook):
    codes = torch.randint(CODES, (1, GRID, GRID), generator=torch.Generator().manual_seed(1))
    shares = torch.nn.functional.one_hot(codes.flatten(1), CODES).float().requires_grad_()
    soft = codebook.decode_soft(shares)
    torch.testing.assert_close(soft, codebook.decode(codes), rtol=1e-4, atol=1e-5)
    soft.mean().backward()
    assert shares.grad.abs().sum() > 0


def test_gradients_pass_by_the_choice():
    torch.manual_seed(0)
    codebook = DepthCodebook()
    before = codebook.quantizer.codes.clone()
    passed = codebook(torch.randn(2, 1, SIDE, SIDE).clamp(-1, 1))
    (passed.decoded.square().mean() + 0.25 * passed.commitment).backward()
    first = codebook.encoder[0]
    assert first.weight.grad.abs().sum() > 0
    assert not torch.equal(before, codebook.quantizer.codes)
    codebook.eval()
    before = codebook.quantizer.codes.clone()
    codebook(torch.zeros(1, 1, SIDE, SIDE))
    assert torch.equal(before, codebook.quantizer.codes)


def test_codes_go_to_the_middle_of_their_clusters_and_none_stays_dead():
    torch.manual_seed(0)
    quantizer = Quantizer(decay=0.9)
    centers = 20 * torch.randn(CODES, 512)
    for _ in range(300):
        vectors = centers[torch.randint(CODES, (600,))] + 0.1 * torch.randn(600, 512)
        quantizer.learn(vectors, quantizer.nearest(vectors))
    chosen = quantizer.nearest(centers)
    away = (quantizer.codes[chosen] - centers).norm(dim=1)
    # Where two clusters share a code, another has two: the rest sit in the middle of theirs.
    assert (away < 3.0).float().mean() > 0.8
    assert quantizer.count.min() > quantizer.alive / 2


def test_the_nearest_code_is_the_nearest():
    torch.manual_seed(0)
    quantizer = Quantizer()
    vectors = torch.randn(50, 512)
    expected = torch.cdist(vectors, quantizer.codes).argmin(1)
    assert torch.equal(quantizer.nearest(vectors), expected)
