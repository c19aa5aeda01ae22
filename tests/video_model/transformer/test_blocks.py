"""A block against its formula, written out in another way."""

import torch

from sightline.video_model.options import TransformerSize
from sightline.video_model.transformer import DiTBlock, rotary_angles

SIZE = TransformerSize(depth=2, width=24, heads=2)


def lively_block(text=False):
    torch.manual_seed(0)
    block = DiTBlock(SIZE, text=text).double()
    for parameter in block.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return block


def written_out(block, x, modulation, angles):
    """One group of one sample, token by token and head by head."""
    weights = {name: p.detach() for name, p in block.named_parameters()}

    def linear(name, value):
        return value @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(value, shift, scale):
        middle = value - value.mean(-1, keepdim=True)
        return middle / (middle.square().mean(-1, keepdim=True) + 1e-6).sqrt() * (1 + scale) + shift

    shift, scale, gate, late_shift, late_scale, late_gate = weights["own"] + modulation
    q, k, v = linear("attention.qkv", norm(x, shift, scale)).chunk(3, -1)
    heads = []
    for head in range(2):
        own = slice(12 * head, 12 * head + 12)
        turned = []
        for part in (q[:, own], k[:, own]):
            even, odd = part[:, 0::2], part[:, 1::2]
            pairs = (
                even * angles.cos() - odd * angles.sin(),
                even * angles.sin() + odd * angles.cos(),
            )
            turned.append(torch.stack(pairs, -1).flatten(1))
        scores = torch.exp(turned[0] @ turned[1].T / 12**0.5)
        heads.append(scores / scores.sum(1, keepdim=True) @ v[:, own])
    x = x + gate * linear("attention.out", torch.cat(heads, 1))
    inner = linear("feed_forward.inner", norm(x, late_shift, late_scale))
    active = inner * 0.5 * (1 + torch.erf(inner / 2**0.5))
    return x + late_gate * linear("feed_forward.out", active)


def test_a_block_is_its_formula():
    block, grid = lively_block(), (2, 2, 3)
    x, modulation = torch.randn(2, 3, 12, 24).double(), torch.randn(2, 6, 24).double()
    turns = rotary_angles(grid, 12)
    angles = torch.atan2(turns[..., 1], turns[..., 0])
    result = block(x, modulation, turns)
    for sample in range(2):
        for group in range(3):
            expected = written_out(block, x[sample, group], modulation[sample], angles)
            assert torch.allclose(result[sample, group], expected, atol=1e-6)


def test_groups_do_not_see_each_other():
    block, turns = lively_block(), rotary_angles((4, 1, 1), 12)
    x, modulation = torch.randn(1, 3, 4, 24).double(), torch.zeros(1, 6, 24).double()
    other = x.clone()
    other[:, 1] += 1
    before, after = block(x, modulation, turns), block(other, modulation, turns)
    assert torch.equal(before[:, [0, 2]], after[:, [0, 2]])
    assert not torch.allclose(before[:, 1], after[:, 1])


def test_words_are_looked_at_where_there_are_some():
    block, turns = lively_block(text=True), rotary_angles((4, 1, 1), 12)
    x, modulation = torch.randn(1, 2, 4, 24).double(), torch.zeros(1, 6, 24).double()
    words, there = (
        torch.randn(1, 3, 24).double(),
        torch.tensor([True, True, False]).view(1, 1, 1, 3),
    )
    before = block(x, modulation, turns, (words, there))
    hidden, shown = words.clone(), words.clone()
    hidden[:, 2] += 1
    shown[:, 1] += 1
    assert torch.equal(block(x, modulation, turns, (hidden, there)), before)
    changed = (block(x, modulation, turns, (shown, there)) - before).abs().amax(-1)
    assert bool((changed > 1e-6).all())
