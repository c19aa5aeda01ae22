"""Build the shell of a room: floor, ceiling, walls with openings, and what is seen through them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sightline.scenes import materials
from sightline.scenes.indoor.windows_doors import (
    Opening,
    curtains,
    door,
    reveal,
    wall_sheet,
    window,
)
from sightline.scenes.layout import (
    Parts,
    PlacedProp,
    Prop,
    PropLayout,
    bounding_box,
    rotate_xz,
    yaw_towards,
)
from sightline.scenes.materials import color, gray, seed, shaded, timber, white
from sightline.scenes.mesh_arrays import lump
from sightline.scenes.meshes import box, boxes, quad
from sightline.scenes.sampling import Random, between, chance, pick, randint, random_sign
from sightline.scenes.world import Material, Pattern, WorldBuilder


def room_beyond_door(rng: Random, spot: Opening, thick: float, height: float) -> Parts:
    """Make what is seen through an open door, in the wall's frame: a bare room with a cupboard."""
    shift, deep = between(rng, -0.4, 0.4), between(rng, 1.0, 5.0)
    # Wider than the door on both sides, however it is shifted.
    wide = max(between(rng, 1.2, 3.0), spot[1] - spot[0] + 2 * abs(shift) + 0.1)
    middle = (spot[0] + spot[1]) / 2 + shift
    x0, x1, z0, z1 = middle - wide / 2, middle + wide / 2, thick, thick + deep
    sheets: Parts = [
        (quad([x0, 0, z0], [wide, 0, 0], [0, 0, deep]), materials.floor(rng)),
        (quad([spot[0], 0, 0], [spot[1] - spot[0], 0, 0], [0, 0, thick]), timber(rng)),
        (quad([x0, -height, z0], [wide, 0, 0], [0, 0, deep]), materials.ceiling(rng)),
        (quad([x0, 0, z1], [wide, 0, 0], [0, -height, 0]), materials.wall(rng)),
    ]
    side = materials.wall(rng)
    sheets += [(quad([x, 0, z0], [0, 0, deep], [0, -height, 0]), side) for x in (x0, x1)]
    sheets += [
        (
            wall_sheet(wide, height, [(spot[0] - middle, spot[1] - middle, 0.0, spot[3])]).moved(
                [middle, 0, z0]
            ),
            side,
        )
    ]
    size = [between(rng, 0.3, 0.9), between(rng, 0.4, 2.0), between(rng, 0.3, 0.6)]
    thing = box([x0 + 0.5, -size[1] / 2, z1 - size[2] / 2 - 0.05], size)
    return [*sheets, (thing, timber(rng))]


def add_view_outside(builder: WorldBuilder, rng: Random, x: float, z: float) -> None:
    """Build what is seen out of the windows of a house from −x to x and −z to z: ground, houses, trees.

    The ground lies just below the floor, or deep below that of a high storey.
    """
    floor = 0.3 if chance(rng, 0.5) else between(rng, 2.5, 20.0)
    tint = color(rng, hue=(0.1, 0.4), saturation=(0.1, 0.6), value=(0.3, 0.7))
    pattern: Pattern = pick(rng, ("grass", "asphalt", "noise"))
    ground = Material(pattern, tint, shaded(tint, 0.7), 0.5, seed(rng))
    # A frame around the house: the floor of the room must not coincide with the ground.
    far = 150.0
    strips = [(-far, far, z, far), (-far, far, -far, -z), (x, far, -z, z), (-far, -x, -z, z)]
    for x0, x1, z0, z1 in strips:
        builder.add(quad([x0, floor, z0], [x1 - x0, 0, 0], [0, 0, z1 - z0]), ground)
    leaves = Material("leaves", shaded(tint, 0.6), shaded(tint, 0.3), 0.3, seed(rng))
    for _ in range(randint(rng, 3, 10)):
        angle, away = between(rng, 0, 2 * np.pi), between(rng, 7.0, 45.0) + float(np.hypot(x, z))
        if chance(rng, 0.45):
            size = rng.uniform([6, 4, 6], [18, 14, 18])
            away += float(np.hypot(size[0], size[2])) / 2  # or it would reach into the room
            at = [away * np.cos(angle), floor, away * np.sin(angle)]
            wall = Material(
                "facade",
                color(rng, saturation=(0, 0.5), value=(0.4, 0.95)),
                gray(rng, 0.1, 0.4),
                2.8,
                seed(rng),
            )
            with builder.instance("building"):
                builder.add(
                    box([at[0], floor - size[1] / 2, at[2]], size, yaw=between(rng, 0, 90)), wall
                )
            continue
        at = [away * np.cos(angle), floor, away * np.sin(angle)]
        size = rng.uniform([2, 2, 2], [6, 7, 6])
        with builder.instance("tree"):
            builder.add(lump(rng, size, rough=0.5).moved(at), leaves)


@dataclass(slots=True)
class Wall:
    """One wall: its middle (x, z), its yaw (its own +z points outwards), length, and openings."""

    x: float
    z: float
    yaw: float
    length: float
    openings: list[Opening] = field(default_factory=list)

    def at(self, along: float, before: float) -> tuple[float, float]:
        """Return (x, z) of a point `along` the wall and `before` it (into the room), [m]."""
        dx, dz = rotate_xz(along, -before, self.yaw)
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
    layout: PropLayout,
    rng: Random,
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
        Wall(-nx * width / 2, -nz * depth / 2, yaw_towards(nx, nz), length)
        for nx, nz, length in sides
    ]
    thick, view = between(rng, 0.08, 0.35), chance(rng, 0.55)
    finish = materials.wall(rng, wet=wet)
    trim = pick(rng, (white, white, timber))(rng)
    add = layout.builder.add
    add(
        quad([-width / 2, 0, -depth / 2], [width, 0, 0], [0, 0, depth]),
        materials.floor(rng, wet=wet),
    )
    add(
        quad([-width / 2, -height, -depth / 2], [width, 0, 0], [0, 0, depth]),
        materials.ceiling(rng),
    )
    out = False
    for _ in range(doors):
        _add_door(layout, rng, pick(rng, walls), height, thick)
    for _ in range(windows):
        out |= _add_window(layout, rng, pick(rng, walls), height, thick, view=view)
    for wall in walls:
        own = materials.wall(rng, wet=wet) if chance(rng, 0.2) else finish
        add(
            wall_sheet(wall.length, height, wall.openings).moved([wall.x, 0, wall.z], yaw=wall.yaw),
            own,
        )
        _skirting(layout, rng, wall, trim)
    if out:
        add_view_outside(layout.builder, rng, width / 2 + thick, depth / 2 + thick)
    return Room(width, depth, height, (walls[0], walls[1], walls[2], walls[3]), out)


def _free_place(rng: Random, wall: Wall, wide: float, low: float, high: float) -> Opening | None:
    """Find a position for an opening of this width, clear of others and of the corners."""
    for _ in range(4):
        reach = wall.length / 2 - wide / 2 - 0.15
        if reach <= 0:
            return None
        x = between(rng, -reach, reach)
        spot = (x - wide / 2, x + wide / 2, low, high)
        if all(spot[1] + 0.25 < o[0] or spot[0] - 0.25 > o[1] for o in wall.openings):
            return spot
    return None


def _fit(layout: PropLayout, parts: Parts, wall: Wall, kind: str) -> None:
    """Add parts made in a wall's frame as one instance."""
    with layout.builder.instance(kind):
        for shape, material in parts:
            layout.builder.add(shape.moved([wall.x, 0, wall.z], yaw=wall.yaw), material)


def _reserve(layout: PropLayout, wall: Wall, spot: Opening, deep: float) -> None:
    """Keep the space before an opening free of furniture."""
    x, z = wall.at((spot[0] + spot[1]) / 2, deep / 2)
    prop = Prop("space", [], (spot[1] - spot[0], spot[3] - spot[2], deep))
    layout.reserved.append(bounding_box(prop, (x, -spot[2], z), wall.yaw))


def _add_window(
    layout: PropLayout, rng: Random, wall: Wall, height: float, thick: float, *, view: bool
) -> bool:
    """Cut a window into a wall and furnish it; tells whether one looks out of it."""
    low = 0.03 if chance(rng, 0.2) else between(rng, 0.5, 1.1)
    high = min(height - 0.15, low + between(rng, 0.7, 1.9))
    spot = _free_place(rng, wall, between(rng, 0.5, min(3.5, wall.length * 0.7)), low, high)
    if spot is None:
        return False
    wall.openings.append(spot)
    layout.builder.add(reveal(spot, thick).moved([wall.x, 0, wall.z], yaw=wall.yaw), white(rng))
    _fit(layout, window(rng, spot, thick, view=view), wall, "window")
    if chance(rng, 0.65):
        _fit(layout, curtains(rng, spot, height), wall, "curtain")
    _reserve(layout, wall, spot, 0.25)
    return view


def _add_door(layout: PropLayout, rng: Random, wall: Wall, height: float, thick: float) -> None:
    """Cut a door into a wall: shut, ajar, or open to another room that is seen beyond."""
    wide, high = between(rng, 0.7, 1.2), min(between(rng, 1.95, 2.2), height - 0.1)
    spot = _free_place(rng, wall, wide, 0.0, high)
    if spot is None:
        return
    is_open = chance(rng, 0.5)
    swing = between(rng, 40, 120) * random_sign(rng) if is_open else 0.0
    parts = door(rng, spot, swing=swing)
    if is_open:
        wall.openings.append(spot)
        layout.builder.add(reveal(spot, thick).moved([wall.x, 0, wall.z], yaw=wall.yaw), white(rng))
        for shape, material in room_beyond_door(rng, spot, thick, height):
            layout.builder.add(shape.moved([wall.x, 0, wall.z], yaw=wall.yaw), material)
        if chance(rng, 0.35):
            parts = parts[:1]
    _fit(layout, parts, wall, "door")
    _reserve(layout, wall, spot, 0.9)


def _skirting(layout: PropLayout, rng: Random, wall: Wall, trim: Material) -> None:
    """Add skirting boards between the openings that reach the floor."""
    if chance(rng, 0.25):
        return
    cuts = sorted((o[0], o[1]) for o in wall.openings if o[2] < 0.1)
    edges = [-wall.length / 2, *(x for cut in cuts for x in cut), wall.length / 2]
    runs = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 0.02]
    high = 0.09
    centers = [[(a + b) / 2, -high / 2, -0.008] for a, b in runs]
    shape = boxes(centers, [[b - a, high, 0.016] for a, b in runs])
    layout.builder.add(shape.moved([wall.x, 0, wall.z], yaw=wall.yaw), trim)


def place_at_wall(
    layout: PropLayout, rng: Random, wall: Wall, prop: Prop, *, height: float = 0.0, tries: int = 5
) -> PlacedProp | None:
    """Place a prop with its back to a wall where there is room, standing or at a height."""
    reach = wall.length / 2 - prop.size[0] / 2 - 0.02
    if reach < 0:
        return None
    for _ in range(tries):
        gap = 0.003 if height else between(rng, 0.01, 0.06)
        x, z = wall.at(between(rng, -reach, reach), prop.size[2] / 2 + gap)
        if layout.is_free(bounding_box(prop, (x, -height, z), wall.yaw), -0.01):
            return layout.put(prop, x, z, height=height, yaw=wall.yaw)
    return None
