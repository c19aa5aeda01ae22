"""Depth Anything in torch: sizes, names, and the same numbers as transformers' network."""

from __future__ import annotations

import json

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.depth.checkpoint_names import from_hugging_face
from sightline.depth.compact import CompactDepth, compact_spec
from sightline.depth.network import SIZES, DepthAnything, build
from sightline.depth.network.head import EdgeReplicatingConv, disparity, meters
from sightline.depth.network.vit import resize_positions
from sightline.errors import InputError
from sightline.models.entry import ModelSpec
from sightline.types import Kind

METRIC = ModelSpec("vits", Kind.METRIC_DEPTH, max_depth=20.0)


def relative_error(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """Largest difference over the largest value."""
    return float((ours - theirs).abs().max() / theirs.abs().max())


def pixels(height: int, width: int, batch: int = 1) -> torch.Tensor:
    return torch.randn(batch, 3, height, width, generator=torch.Generator().manual_seed(1))


def in_transformers(network: DepthAnything, architecture: str, max_depth: int | None = None):
    """The same weights in transformers' network, made from its config alone."""
    from transformers import DepthAnythingConfig, DepthAnythingForDepthEstimation, Dinov2Config

    size = SIZES[architecture]
    backbone = Dinov2Config(
        image_size=518,
        patch_size=14,
        hidden_size=size.width,
        num_hidden_layers=size.depth,
        num_attention_heads=size.heads,
        out_indices=[tap + 1 for tap in network.taps],
        reshape_hidden_states=False,
        apply_layernorm=True,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=size.width,
        neck_hidden_sizes=list(size.tap_widths),
        fusion_hidden_size=size.head_width,
        depth_estimation_type="relative" if max_depth is None else "metric",
        max_depth=1 if max_depth is None else max_depth,
    )
    with torch.device("meta"):
        theirs = DepthAnythingForDepthEstimation(config).eval()
    ours = network.state_dict()
    filled = {}
    for name, value in theirs.state_dict().items():
        part = next((p for p in ("q_proj", "k_proj", "v_proj") if p in name), None)
        if part is None:
            (new,) = from_hugging_face({name: value})
            filled[name] = ours[new]
        else:
            block, kind = name.split(".")[3], name.rsplit(".", 1)[1]
            fused = ours[f"pretrained.blocks.{block}.attn.qkv.{kind}"]
            filled[name] = fused.chunk(3)["qkv".index(part[0])]
    theirs.load_state_dict(filled, assign=True)
    return theirs


@pytest.mark.parametrize(
    ("architecture", "millions", "tolerance"),
    [("vits", 24.8, 0.05), ("vitb", 97.5, 0.05), ("vitl", 335.3, 0.05), ("vitg", 1300, 50)],
)
def test_parameter_counts_are_the_papers(architecture, millions, tolerance):
    with torch.device("meta"):
        network = build(ModelSpec(architecture))
    count = sum(parameter.numel() for parameter in network.parameters()) / 1e6
    assert count == pytest.approx(millions, abs=tolerance)


def test_names_are_those_of_the_official_checkpoints():
    with torch.device("meta"):
        names = set(build(ModelSpec("vits")).state_dict())
        giant = build(ModelSpec("vitg")).state_dict()
    assert {
        "pretrained.cls_token",
        "pretrained.mask_token",
        "pretrained.pos_embed",
        "pretrained.patch_embed.proj.weight",
        "pretrained.blocks.11.attn.qkv.bias",
        "pretrained.blocks.0.ls1.gamma",
        "pretrained.blocks.0.mlp.fc2.weight",
        "pretrained.norm.weight",
        "depth_head.projects.3.bias",
        "depth_head.resize_layers.0.weight",
        "depth_head.resize_layers.3.bias",
        "depth_head.scratch.layer1_rn.weight",
        "depth_head.scratch.refinenet4.resConfUnit1.conv1.weight",
        "depth_head.scratch.refinenet1.out_conv.bias",
        "depth_head.scratch.output_conv1.weight",
        "depth_head.scratch.output_conv2.0.weight",
        "depth_head.scratch.output_conv2.2.bias",
    } <= names
    # 3 tokens, 2 patch, 12 blocks of 14, 2 norm; 8 projects, 6 resize, 4 reduce, 4 × 10 fuse, 6 out.
    assert len(names) == 3 + 2 + 12 * 14 + 2 + 8 + 6 + 4 + 40 + 6
    assert "depth_head.scratch.layer1_rn.bias" not in names
    assert giant["pretrained.blocks.39.mlp.w12.weight"].shape == (8192, 1536)
    assert giant["pretrained.blocks.39.mlp.w3.weight"].shape == (1536, 4096)


@pytest.mark.parametrize("architecture", ["vits", "vitb"])
def test_equals_transformers_at_518_relative_and_metric(random_vit, architecture):
    """Both kinds from one pass: the networks differ only in the last activation."""
    network = random_vit(architecture)
    theirs, metric = (in_transformers(network, architecture, far) for far in (None, 20))
    fused = []
    theirs.neck.register_forward_hook(lambda module, inputs, output: fused.append(output))
    image = pixels(518, 518)
    with torch.inference_mode():
        raw = network.raw(image)
        reference = theirs(image).predicted_depth
        in_meters = metric.head(fused[0], 37, 37)
    assert (reference > 0).float().mean() > 0.2
    for expected in (reference, in_meters):
        assert expected.std() > 0.01 * expected.mean()
    assert relative_error(disparity(raw), reference) < 1e-4
    assert relative_error(meters(raw, 20.0), in_meters) < 1e-4


@pytest.mark.parametrize(("height", "width"), [(518, 686), (252, 336), (266, 406)])
def test_equals_transformers_at_other_sizes_with_its_position_grid(random_vit, height, width):
    network = random_vit("vits", position_resize="size")
    theirs = in_transformers(network, "vits")
    image = pixels(height, width)
    with torch.inference_mode():
        ours, reference = network(image), theirs(image).predicted_depth
    assert reference.std() > 0.01 * reference.mean()
    assert relative_error(ours, reference) < 1e-4


def test_v1_taps_equal_transformers_with_the_last_four_blocks(random_vit):
    network = random_vit("vits", taps="v1")
    assert network.taps == (8, 9, 10, 11)
    theirs = in_transformers(network, "vits")
    image = pixels(140, 154)
    network.pretrained.position_resize = "size"
    with torch.inference_mode():
        assert relative_error(network(image), theirs(image).predicted_depth) < 1e-4


def test_how_far_the_two_position_grids_lead_apart(random_vit):
    """With random ViT-S weights at 252 × 336 the maps differ by a few per cent of their spread.

    At 518 × 518 they are the same; the grid is not resized there.
    """
    network = random_vit("vits")
    image = pixels(252, 336)
    with torch.inference_mode():
        authors = network(image)
        network.pretrained.position_resize = "size"
        sizes = network(image)
    apart = float((authors - sizes).abs().mean() / authors.std())
    assert 0.001 < apart < 0.1


@settings(max_examples=25, deadline=None)
@given(rows=st.integers(1, 80), columns=st.integers(1, 80), seed=st.integers(0, 3))
def test_position_grid_is_resized_as_torch_does_it(rows, columns, seed):
    grid = torch.randn(37, 37, 3, generator=torch.Generator().manual_seed(seed))
    planes = grid.permute(2, 0, 1)[None]
    untouched = (rows, columns) == (37, 37)
    scale = ((rows + 0.1) / 37, (columns + 0.1) / 37)
    authors = planes if untouched else F.interpolate(planes, scale_factor=scale, mode="bicubic")
    sizes = F.interpolate(planes, size=(rows, columns), mode="bicubic")
    for mode, expected in (("authors", authors), ("size", sizes)):
        ours = resize_positions(grid, rows, columns, mode)
        assert torch.allclose(ours, expected[0].permute(1, 2, 0), atol=1e-4)


def test_the_full_grid_is_untouched_to_the_bit():
    grid = torch.randn(37, 37, 5)
    assert torch.equal(resize_positions(grid, 37, 37, "authors"), grid)


def test_one_by_one_before_interpolation_is_the_same_as_after(random_vit):
    """The head reduces before it enlarges, which the authors do the other way round."""
    block = random_vit().depth_head.scratch.refinenet1
    x = torch.randn(1, 16, 6, 7)
    with torch.inference_mode():
        ours = block(x, None, 12, 14)
        refined = block.resConfUnit2(x)
        enlarged = F.interpolate(refined, size=(12, 14), mode="bilinear", align_corners=True)
        assert relative_error(ours, block.out_conv(enlarged)) < 1e-5


@pytest.mark.parametrize(("rows", "columns"), [(4, 6), (18, 2), (6, 5), (7, 4), (5, 9), (1, 1)])
def test_a_replicated_edge_changes_odd_grids_only(random_vit, rows, columns):
    plain, replicated = random_vit(), random_vit(replicate_edge=True)
    assert plain.state_dict().keys() == replicated.state_dict().keys()
    image = pixels(14 * rows, 14 * columns)
    with torch.inference_mode():
        same = torch.equal(plain(image), replicated(image))
    assert same == (rows % 2 == 0 and columns % 2 == 0)


@pytest.mark.parametrize(("height", "width"), [(9, 7), (8, 7), (9, 6), (1, 3)])
def test_the_right_and_bottom_edge_of_an_odd_map_are_as_inside(height, width):
    """Zero padding shows as a stripe there: a constant map is not constant any more."""
    torch.manual_seed(0)
    replicating = EdgeReplicatingConv(3, 5, 3, stride=2, padding=1)
    plain = torch.nn.Conv2d(3, 5, 3, stride=2, padding=1)
    plain.load_state_dict(replicating.state_dict())
    x = torch.randn(3)[None, :, None, None].expand(2, 3, height, width)
    with torch.inference_mode():
        ours, zeros = replicating(x), plain(x)
    assert ours.shape == zeros.shape == (2, 5, (height + 1) // 2, (width + 1) // 2)
    if width > 3:
        assert torch.allclose(ours[..., 1:, -1], ours[..., 1:, 1])
        assert torch.allclose(zeros[..., 1:, -1], zeros[..., 1:, 1]) == (width % 2 == 0)


def test_the_spec_says_whether_an_edge_is_replicated():
    with torch.device("meta"):
        ours, authors = build(ModelSpec("vits", replicate_edge=True)), build(ModelSpec("vits"))
    assert isinstance(ours.depth_head.resize_layers[3], EdgeReplicatingConv)
    assert not isinstance(authors.depth_head.resize_layers[3], EdgeReplicatingConv)
    old = json.loads(ModelSpec("vits").to_json())
    del old["replicate_edge"]  # files from before there was the field
    assert not ModelSpec.from_json(json.dumps(old)).replicate_edge


def test_metric_output_is_sigmoid_times_the_largest_depth(random_vit):
    near, far = random_vit(max_depth=20.0), random_vit(max_depth=80.0)
    image = pixels(28, 42)
    with torch.inference_mode():
        raw = near.raw(image)
        assert torch.allclose(near(image), torch.sigmoid(raw) * 20)
        assert torch.allclose(far(image), near(image) * 4)
        assert torch.equal(random_vit()(image), torch.relu(raw))


@pytest.mark.parametrize("spec", [ModelSpec("vits"), METRIC], ids=["relative", "metric"])
def test_every_used_parameter_learns(random_vit, spec):
    network = random_vit(max_depth=spec.max_depth).train()
    network(pixels(28, 42, batch=2)).mean().backward()
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0 or "key" in name, name
    frozen = [name for name, parameter in network.named_parameters() if not parameter.requires_grad]
    assert frozen[0] == "pretrained.mask_token"
    assert all("refinenet4.resConfUnit1" in name for name in frozen[1:])
    assert len(frozen) == 5


def test_a_fresh_network_gives_a_map_that_is_not_flat():
    torch.manual_seed(0)
    with torch.inference_mode():
        out = build(ModelSpec("vits")).eval()(pixels(56, 70))
    assert out.shape == (1, 56, 70)
    assert out.std() > 0


def test_channels_last_gives_the_same(random_vit):
    network = random_vit()
    image = pixels(56, 70)
    with torch.inference_mode():
        plain = network(image)
        last = network.to(memory_format=torch.channels_last)(
            image.to(memory_format=torch.channels_last)
        )
    assert relative_error(last, plain) < 1e-5


def test_a_size_that_patches_do_not_fill_is_refused(random_vit):
    with pytest.raises(InputError, match="100×56 is not a multiple of 14"):
        random_vit()(torch.zeros(1, 3, 56, 100))


def test_compact_is_built_too():
    network = build(compact_spec())
    assert isinstance(network, CompactDepth)


def test_merging_scales_changes_nothing_but_the_count_of_operations(random_vit):
    import copy

    from sightline.depth.network.vit import merge_scales

    network = random_vit("tiny")
    merged = copy.deepcopy(network)
    merge_scales(merged.pretrained)
    image = pixels(56, 84)
    with torch.inference_mode():
        assert relative_error(merged(image), network(image)) < 1e-5
    assert not [name for name, _ in merged.named_parameters() if "gamma" in name]


def test_a_network_that_is_only_a_graph_cannot_be_built():
    with pytest.raises(InputError, match="only as a graph"):
        build(ModelSpec("other", size=224, multiple=32))
