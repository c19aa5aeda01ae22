"""The shell of a room: floor, ceiling, and four walls with windows and doors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.parts import surfaces
from sightline.scenes.parts.draw import between, chance, either, pick
from sightline.scenes.parts.finishes import timber, white
from sightline.scenes.parts.fixtures import (
    Opening,
    curtains,
    door,
    reveal,
    wall_sheet,
    window,
)
from sightline.scenes.parts.outlook import next_room, outside
from sightline.scenes.parts.pieces import Parts, Piece, Placed, Stage, box_of, facing, turned
from sightline.scenes.shapes import boxes, quad
from sightline.scenes.world import Material


@dataclass(slots=True)
class Wall:
    """One wall: its middle (x, z), its yaw (its own +z points outwards), length, and openings."""

    x: float
    z: float
    yaw: float
    length: float
    openings: list[Opening] = field(default_factory=list)

    def at(self, along: float, before: float) -> tuple[float, float]:
        """Give (x, z) of a place `along` the wall and `before` it, into the room, in [m]."""
        dx, dz = turned(along, -before, self.yaw)
        return self.x + dx, self.z + dz


@dataclass(frozen=True, slots=True)
class Room:
    """A room of width (x) × depth (z) × height around the origin; `sky` if one looks out somewhere."""

    width: float
    depth: float
    height: float
    walls: tuple[Wall, Wall, Wall, Wall]
    sky: bool

    @property
    def area(self) -> tuple[float, float, float, float]:
        """Floor as x from, x to, z from, z to."""
        return -self.width / 2, self.width / 2, -self.depth / 2, self.depth / 2

    @property
    def box(self) -> NDArray[np.float64]:
        """(2, 3) lowest and highest corner of the space between the walls."""
        x, z = self.width / 2, self.depth / 2
        return np.array([[-x, -self.height, -z], [x, 0.0, z]])


def build_room(
    stage: Stage,
    rng: np.random.Generator,
    width: float,
    depth: float,
    height: float,
    *,
    wet: bool = False,
    windows: int = 2,
    doors: int = 1,
) -> Room:
    """Build the shell of a room of this size in [m] with up to so many windows and doors."""
    sides = ((0.0, -1.0, width), (-1.0, 0.0, depth), (0.0, 1.0, width), (1.0, 0.0, depth))
    walls = [
        Wall(-nx * width / 2, -nz * depth / 2, facing(nx, nz), length) for nx, nz, length in sides
    ]
    thick, view = between(rng, 0.08, 0.35), chance(rng, 0.55)
    finish = surfaces.wall(rng, wet=wet)
    trim = pick(rng, (white, white, timber))(rng)
    add = stage.builder.add
    add(
        quad([-width / 2, 0, -depth / 2], [width, 0, 0], [0, 0, depth]),
        surfaces.floor(rng, wet=wet),
    )
    add(
        quad([-width / 2, -height, -depth / 2], [width, 0, 0], [0, 0, depth]), surfaces.ceiling(rng)
    )
    out = False
    for _ in range(doors):
        _add_door(stage, rng, pick(rng, walls), height, thick)
    for _ in range(windows):
        out |= _add_window(stage, rng, pick(rng, walls), height, thick, view=view)
    for wall in walls:
        own = surfaces.wall(rng, wet=wet) if chance(rng, 0.2) else finish
        add(
            wall_sheet(wall.length, height, wall.openings).moved([wall.x, 0, wall.z], yaw=wall.yaw),
            own,
        )
        _skirting(stage, rng, wall, trim)
    if out:
        outside(stage.builder, rng, width / 2 + thick, depth / 2 + thick)
    return Room(width, depth, height, (walls[0], walls[1], walls[2], walls[3]), out)


def _free_place(
    rng: np.random.Generator, wall: Wall, wide: float, low: float, high: float
) -> Opening | None:
    """Find room for an opening of this width that keeps clear of others and of the corners."""
    for _ in range(4):
        reach = wall.length / 2 - wide / 2 - 0.15
        if reach <= 0:
            return None
        x = between(rng, -reach, reach)
        spot = (x - wide / 2, x + wide / 2, low, high)
        if all(spot[1] + 0.25 < o[0] or spot[0] - 0.25 > o[1] for o in wall.openings):
            return spot
    return None


def _fit(stage: Stage, parts: Parts, wall: Wall, kind: str) -> None:
    """Add parts made in a wall's frame as one instance."""
    with stage.builder.thing(kind):
        for shape, material in parts:
            stage.builder.add(shape.moved([wall.x, 0, wall.z], yaw=wall.yaw), material)


def _reserve(stage: Stage, wall: Wall, spot: Opening, deep: float) -> None:
    """Keep the space before an opening free of furniture."""
    x, z = wall.at((spot[0] + spot[1]) / 2, deep / 2)
    piece = Piece("space", [], (spot[1] - spot[0], spot[3] - spot[2], deep))
    stage.reserved.append(box_of(piece, (x, -spot[2], z), wall.yaw))


def _add_window(
    stage: Stage, rng: np.random.Generator, wall: Wall, height: float, thick: float, *, view: bool
) -> bool:
    """Cut a window into a wall and furnish it; tells whether one looks out of it."""
    low = 0.03 if chance(rng, 0.2) else between(rng, 0.5, 1.1)
    high = min(height - 0.15, low + between(rng, 0.7, 1.9))
    spot = _free_place(rng, wall, between(rng, 0.5, min(3.5, wall.length * 0.7)), low, high)
    if spot is None:
        return False
    wall.openings.append(spot)
    stage.builder.add(reveal(spot, thick).moved([wall.x, 0, wall.z], yaw=wall.yaw), white(rng))
    _fit(stage, window(rng, spot, thick, view=view), wall, "window")
    if chance(rng, 0.65):
        _fit(stage, curtains(rng, spot, height), wall, "curtain")
    _reserve(stage, wall, spot, 0.25)
    return view


def _add_door(
    stage: Stage, rng: np.random.Generator, wall: Wall, height: float, thick: float
) -> None:
    """Cut a door into a wall: shut, ajar, or open to another room that is seen beyond."""
    wide, high = between(rng, 0.7, 1.2), min(between(rng, 1.95, 2.2), height - 0.1)
    spot = _free_place(rng, wall, wide, 0.0, high)
    if spot is None:
        return
    is_open = chance(rng, 0.5)
    swing = between(rng, 40, 120) * either(rng) if is_open else 0.0
    parts = door(rng, spot, swing=swing)
    if is_open:
        wall.openings.append(spot)
        stage.builder.add(reveal(spot, thick).moved([wall.x, 0, wall.z], yaw=wall.yaw), white(rng))
        for shape, material in next_room(rng, spot, thick, height):
            stage.builder.add(shape.moved([wall.x, 0, wall.z], yaw=wall.yaw), material)
        if chance(rng, 0.35):
            parts = parts[:1]
    _fit(stage, parts, wall, "door")
    _reserve(stage, wall, spot, 0.9)


def _skirting(stage: Stage, rng: np.random.Generator, wall: Wall, trim: Material) -> None:
    """Add skirting boards between the openings that reach the floor."""
    if chance(rng, 0.25):
        return
    cuts = sorted((o[0], o[1]) for o in wall.openings if o[2] < 0.1)
    edges = [-wall.length / 2, *(x for cut in cuts for x in cut), wall.length / 2]
    runs = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 0.02]
    high = 0.09
    centres = [[(a + b) / 2, -high / 2, -0.008] for a, b in runs]
    shape = boxes(centres, [[b - a, high, 0.016] for a, b in runs])
    stage.builder.add(shape.moved([wall.x, 0, wall.z], yaw=wall.yaw), trim)


def against(
    stage: Stage,
    rng: np.random.Generator,
    wall: Wall,
    piece: Piece,
    *,
    height: float = 0.0,
    tries: int = 5,
) -> Placed | None:
    """Stand (or, from a height, hang) a piece with its back to a wall, where there is room."""
    reach = wall.length / 2 - piece.size[0] / 2 - 0.02
    if reach < 0:
        return None
    for _ in range(tries):
        gap = 0.003 if height else between(rng, 0.01, 0.06)
        x, z = wall.at(between(rng, -reach, reach), piece.size[2] / 2 + gap)
        if stage.is_free(box_of(piece, (x, -height, z), wall.yaw), -0.01):
            return stage.put(piece, x, z, height=height, yaw=wall.yaw)
    return None
