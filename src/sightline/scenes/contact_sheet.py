"""Draw a contact sheet of scenes: picture, depth and instances side by side."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from sightline.io import png
from sightline.io.atomic import write_bytes
from sightline.io.color import colorize
from sightline.scenes.generate import Scene
from sightline.scenes.storage import StoredScene
from sightline.types import DepthMap, Kind

#: Height of one picture on the sheet in [px], and the gaps between pictures and between scenes.
HEIGHT, GAP, MARGIN = 180, 2, 10
CAPTION = 16
INK, PAPER = (40, 40, 48), (255, 255, 255)

_BACKGROUND, _SKY = (70, 70, 76), (20, 20, 24)
_GOLDEN = 0.6180339887


@dataclass(frozen=True, slots=True, eq=False)
class ScenePanel:
    """One scene on a contact sheet.

    Attributes:
        title: text below the pictures.
        pixels: (H, W, 3) uint8 RGB.
        depth: inverse depth, 0 in the sky.
        mask: (H, W) instance number of each pixel, 0 for none.
    """

    title: str
    pixels: NDArray[np.uint8]
    depth: DepthMap
    mask: NDArray[np.int32]


def panel_from_scene(scene: Scene) -> ScenePanel:
    """Return the panel of a generated scene."""
    frame = scene.frame
    depth = DepthMap(frame.disparity, Kind.METRIC_DISPARITY, camera=frame.camera)
    return ScenePanel(f"{scene.index} {scene.kind}", frame.pixels, depth, frame.instance)


def panel_from_stored(scene: StoredScene) -> ScenePanel:
    """Return the panel of a stored scene."""
    return ScenePanel(f"{scene.index} {scene.kind}", scene.pixels, scene.depth, scene.mask)


def contact_sheet(panels: Sequence[ScenePanel], *, across: int | None = None) -> NDArray[np.uint8]:
    """Return (H, W, 3) uint8 RGB: picture | depth | instances of each scene, and its title below.

    Args:
        panels: panels to show, at least one.
        across: scenes per row; None for a sheet about as wide as high.
    """
    cells = [_cell(panel) for panel in panels]
    height = max(cell.shape[0] for cell in cells) + MARGIN
    width = max(cell.shape[1] for cell in cells) + MARGIN
    if across is None:
        across = max(1, round((len(cells) * height * 1.3 / width) ** 0.5))
    rows = -(-len(cells) // across)
    sheet = np.full((rows * height + MARGIN, across * width + MARGIN, 3), 255, np.uint8)
    for k, cell in enumerate(cells):
        y, x = MARGIN + k // across * height, MARGIN + k % across * width
        sheet[y : y + cell.shape[0], x : x + cell.shape[1]] = cell
    return sheet


def write_contact_sheet(path: str | Path, panels: Sequence[ScenePanel]) -> None:
    """Write a contact sheet as PNG."""
    write_bytes(path, png.encode(contact_sheet(panels), {"Software": "Sightline"}))


def _cell(panel: ScenePanel) -> NDArray[np.uint8]:
    """Draw one scene: three pictures and a title."""
    things = color_instances(panel.mask, panel.depth.values == 0)
    pictures = [
        _scaled(panel.pixels, cv2.INTER_AREA),
        _scaled(colorize(panel.depth), cv2.INTER_AREA),
        _scaled(things, cv2.INTER_NEAREST),
    ]
    gap = np.full((HEIGHT, GAP, 3), 255, np.uint8)
    row = np.concatenate([pictures[0], gap, pictures[1], gap, pictures[2]], axis=1)
    line = Image.new("RGB", (row.shape[1], CAPTION), PAPER)
    ImageDraw.Draw(line).text((1, 1), panel.title, INK, ImageFont.load_default(12))
    return np.concatenate([row, np.asarray(line)])


def _scaled(pixels: NDArray[np.uint8], how: int) -> NDArray[np.uint8]:
    width = max(1, round(pixels.shape[1] * HEIGHT / pixels.shape[0]))
    return np.asarray(cv2.resize(pixels, (width, HEIGHT), interpolation=how), np.uint8)


def color_instances(mask: NDArray[np.int32], sky: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return (H, W, 3) uint8: a color for each instance, dark gray background, black sky."""
    colors = np.zeros((int(mask.max()) + 1, 3), np.uint8)
    colors[0] = _BACKGROUND
    for number in range(1, len(colors)):
        # Steps by the golden ratio: neighboring numbers are far apart in hue.
        hue, value = number * _GOLDEN % 1, (1.0, 0.8, 0.62)[number % 3]
        colors[number] = np.rint(np.array(colorsys.hsv_to_rgb(hue, 0.65, value)) * 255)
    painted = colors[mask]
    painted[sky] = _SKY
    return painted
