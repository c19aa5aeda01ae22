"""The page is whole, says what the numbers are, and runs in a browser."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.geometry import depth_for_view
from sightline.reports import Exhibit, payload, write_page
from sightline.types import Camera, DepthMap, Kind

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture
def depth() -> DepthMap:
    """A slope with a step, 120 rows by 900 columns."""
    rows, columns = np.mgrid[:120, :900].astype(np.float32)
    values = 1 + rows / 100 + (columns > 401)
    camera = Camera.from_fov(60, 900, 120)
    return DepthMap(values, Kind.METRIC_DEPTH, columns > 5, camera, source="a model@1234")


def unpack(text: str, low: float, high: float, shape: tuple[int, int]) -> np.ndarray:
    """What the page's script does, with NaN for "nothing here"."""
    codes = np.frombuffer(base64.b64decode(text), "<u2").reshape(shape).astype(np.float64)
    return np.where(codes == 0, np.nan, low + (codes - 1) / 65534 * (high - low))


def test_grid_holds_the_values(depth):
    grid = payload.grid(depth)
    step = 3  # 900 columns in cells of at most 400
    assert (grid["width"], grid["height"]) == (300, 40)
    values = unpack(grid["values"], grid["low"], grid["high"], (40, 300))
    expected = np.where(depth.valid, depth.values, np.nan)[::step, ::step]
    np.testing.assert_allclose(values, expected, atol=1e-4)
    assert grid["focal"][0] == pytest.approx(depth.camera.focal / step)


def test_grid_holds_the_points_without_flying_ones(depth):
    grid = payload.grid(depth)
    inverse = unpack(grid["inverse"], grid["inverseLow"], grid["inverseHigh"], (40, 300))
    shown = np.isfinite(inverse)
    z = depth_for_view(depth)[::3, ::3]
    np.testing.assert_allclose(1 / inverse[shown], z[shown], rtol=1e-3)
    assert not shown[20, 133:135].all()  # the step at column 401
    assert shown.mean() > 0.9


def test_a_name_that_is_not_text(depth, tmp_path):
    name = os.fsdecode(b"caf\xe9")
    write_page(tmp_path / "page.html", [Exhibit(name, depth, files={"npz": tmp_path / name})])
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "caf\\udce9" in text
    assert 'href="caf%E9"' in text  # the very bytes, so that the link leads there


def test_a_map_without_a_valid_pixel_can_be_shown(tmp_path):
    empty = DepthMap(np.full((4, 5), np.nan, np.float32), Kind.RELATIVE_DISPARITY)
    write_page(tmp_path / "page.html", [Exhibit("empty", empty)])
    assert set(base64.b64decode(payload.grid(empty)["values"])) == {0}


def test_legend_runs_from_near_to_far(depth):
    legend = payload.legend(depth, "spectral")
    assert float(legend["near"].split()[0]) < float(legend["far"].split()[0])
    assert legend["far"].endswith(" m")
    relative = DepthMap(depth.values, Kind.RELATIVE_DISPARITY)
    assert payload.legend(relative, "spectral")["near"] == ""


def page_of(tmp_path: Path, depth: DepthMap, **fields) -> str:
    path = tmp_path / "page.html"
    write_page(path, [Exhibit("a <b>&.jpg", depth, **fields)])
    return path.read_text(encoding="utf-8")


def test_page_needs_nothing_from_outside(tmp_path, depth):
    photo = np.zeros((120, 900, 3), np.uint8)
    page = page_of(tmp_path, depth, photo=photo)
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert addresses
    assert all(address.startswith("data:image/") for address in addresses)
    assert "http://" not in page
    assert "https://" not in page
    assert "@import" not in page


def test_titles_are_text_and_links_are_relative(tmp_path, depth):
    files = {"npz": tmp_path / "sub" / "a b#1.npz"}
    page = page_of(tmp_path, depth, files=files)
    assert "a &lt;b&gt;&amp;.jpg" in page
    assert "<b>" not in page
    assert 'href="sub/a%20b%231.npz"' in page


def test_page_says_what_the_numbers_are(tmp_path, depth):
    page = page_of(tmp_path, depth)
    assert "depth in meters" in page
    assert "a model@1234" in page
    assert "60° wide, given" in page
    relative = DepthMap(depth.values, Kind.RELATIVE_DISPARITY)
    page = page_of(tmp_path, relative)
    assert "no unit" in page
    assert "assumed" in page


def test_data_is_readable_json(tmp_path, depth):
    page = page_of(tmp_path, depth)
    (text,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert json.loads(text)["unit"] == "m"


def test_mistakes(tmp_path, depth):
    with pytest.raises(InputError, match="no result to show"):
        write_page(tmp_path / "page.html", [])
    with pytest.raises(InputError, match="photo is"):
        Exhibit("a", depth, np.zeros((2, 2, 3), np.uint8))


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
@pytest.mark.parametrize(
    ("flags", "renderer"),
    [
        (["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"], "WebGL"),
        (["--disable-3d-apis"], "canvas"),
    ],
)
def test_page_runs_in_a_browser(tmp_path, depth, flags, renderer):
    """With WebGL and without it the cloud is drawn: the script sets the attribute last."""
    page_of(tmp_path, depth, photo=np.full((120, 900, 3), 200, np.uint8))
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    words += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    words += [f"--user-data-dir={tmp_path / 'profile'}", *flags, "--dump-dom"]
    # Virtual time runs ahead of decoding pictures, which is real work: a busy machine needs more.
    for budget in (5_000, 20_000, 80_000):
        shown = subprocess.run(
            [
                str(CHROMIUM),
                *words,
                f"--virtual-time-budget={budget}",
                (tmp_path / "page.html").as_uri(),
            ],
            capture_output=True,
            text=True,
            check=True,
            timeout=90,
        ).stdout
        if "data-renderer" in shown:
            break
    assert f'data-renderer="{renderer}"' in shown
    assert re.search(r'class="renderer">[\d,]+ points<', shown)
