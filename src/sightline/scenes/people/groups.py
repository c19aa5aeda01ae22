"""Place people: alone, in groups, at tables, on seats, in crowds.

Each cast gathers around a place (x, z) on the ground and knows where the camera will come from, as the
yaw of a person who looks straight into it. Lengths in [m], angles in [degrees].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sightline.scenes.indoor import arrangements, furniture
from sightline.scenes.layout import PlacedProp, Prop, PropLayout, rotate_xz
from sightline.scenes.people.bodies import Detail
from sightline.scenes.people.person import (
    FREE_POSES,
    ScenePerson,
    place_person,
    sample_figure,
    seat_height,
)
from sightline.scenes.people.poses import PosedBody, offset
from sightline.scenes.sampling import Random, between, chance, pick, randint, weighted

#: Places people: (layout, rng, x, z, yaw toward the camera, detail) → people.
PersonGroup = Callable[[PropLayout, Random, float, float, float, Detail], list[ScenePerson]]


def place_figure(
    layout: PropLayout, rng: Random, figure: PosedBody, x: float, z: float, yaw: float, detail: Detail,
    *, height: float = 0.0,
) -> ScenePerson:  # fmt: skip
    """Put one figure `height` above the ground and mark its space as occupied."""
    person = place_person(layout.builder, rng, figure, (x, -height, z), yaw, detail=detail)
    low, high = figure.vertices.min(0), figure.vertices.max(0)
    reach = np.maximum(np.abs(low), np.abs(high))
    wide = float(max(reach[0], reach[2])) * 2
    prop = Prop("person", [], (wide, -float(low[1]), wide))
    middle = np.array([x, -height, z])
    bounds = np.stack(
        [middle - offset(wide / 2, -low[1], wide / 2), middle + offset(wide / 2, 0, wide / 2)]
    )
    layout.placed.append(PlacedProp(prop, (x, -height, z), yaw, bounds))
    return person


def alone(
    layout: PropLayout, rng: Random, x: float, z: float, yaw: float, detail: Detail
) -> list[ScenePerson]:
    """Place one person, roughly facing the camera."""
    turn = rng.normal(0, 30) if chance(rng, 0.8) else between(rng, -180, 180)
    pose = weighted(rng, [*FREE_POSES, ("kneeling", 0.3), ("lying", 0.4)])
    return [place_figure(layout, rng, sample_figure(rng, pose), x, z, yaw + turn, detail)]


def group(
    layout: PropLayout, rng: Random, x: float, z: float, yaw: float, detail: Detail
) -> list[ScenePerson]:
    """Place two to seven people in one or two rows, or in a circle."""
    count = pick(rng, (2, 2, 2, 3, 3, 4, 5, 6, 7))
    gap, circle = between(rng, 0.5, 0.85), chance(rng, 0.3)
    found = []
    for k in range(count):
        if circle:
            angle, radius = 360 * k / count, 0.35 + gap * count / 6
            across, ahead = rotate_xz(0.0, radius, angle)
            turn = 180 + angle + rng.normal(0, 15)
        else:
            row, rows = k % 2 if count > 4 else 0, 2 if count > 4 else 1
            across = (k // rows - (count / rows - 1) / 2) * gap + row * gap / 2
            ahead, turn = row * -0.6 + rng.normal(0, 0.08), rng.normal(0, 15)
        dx, dz = rotate_xz(across, ahead, yaw)
        pose = pick(
            rng, ("standing", "standing", "hips", "crossed", "holding", "raised", "walking")
        )
        figure = sample_figure(rng, pose)
        found.append(place_figure(layout, rng, figure, x + dx, z + dz, yaw + turn, detail))
    return found


def crowd(
    layout: PropLayout, rng: Random, x: float, z: float, yaw: float, detail: Detail
) -> list[ScenePerson]:
    """Place five to ten people over a wide area."""
    del detail  # most of them are far from the camera
    wide = between(rng, 2.0, 6.0)
    headings = (yaw, yaw + 180, yaw + 90, yaw - 90)
    found: list[ScenePerson] = []
    for _ in range(randint(rng, 5, 10)):
        dx, dz = rotate_xz(between(rng, -wide, wide), between(rng, -1.3 * wide, 1.0), yaw)
        free = all(math.hypot(x + dx - p.foot[0], z + dz - p.foot[2]) > 0.7 for p in found)
        if free and _inside(layout, x + dx, z + dz):
            turn = pick(rng, headings) + rng.normal(0, 20)
            found.append(place_figure(layout, rng, sample_figure(rng), x + dx, z + dz, turn, "far"))
    return found or alone(layout, rng, x, z, yaw, "far")


def _inside(layout: PropLayout, x: float, z: float) -> bool:
    """Return whether a point lies well within the floor of the layout."""
    if layout.area is None:
        return True
    x0, x1, z0, z1 = layout.area
    return x0 + 0.5 < x < x1 - 0.5 and z0 + 0.5 < z < z1 - 0.5


def seated(
    layout: PropLayout, rng: Random, x: float, z: float, yaw: float, detail: Detail
) -> list[ScenePerson]:
    """Place one to three people on a chair, sofa, bench or stool."""
    maker = pick(
        rng,
        (
            furniture.chair,
            furniture.sofa,
            furniture.sofa,
            furniture.bench,
            furniture.bench,
            furniture.stool,
        ),
    )
    turn = yaw + rng.normal(0, 25)
    prop = maker(rng)
    top = prop.tops[0] if prop.tops else None
    wide = 0.0 if top is None else top.x[1] - top.x[0]
    count = min(3, max(1, int(wide / 0.6) - chance(rng, 0.4)))
    places = [(k - (count - 1) / 2) * min(0.75, max(wide, 0.5) / count) for k in range(count)]
    return _sit(layout, rng, prop, x, z, turn, detail, places)


def _sit(
    layout: PropLayout, rng: Random, prop: Prop, x: float, z: float, turn: float, detail: Detail,
    places: list[float],
) -> list[ScenePerson]:  # fmt: skip
    """Put a seat down and people on it, who look where `turn` points; seats are made to fit adults."""
    figures = [sample_figure(rng, "sitting") for _ in places]
    own = prop.tops[0].height if prop.tops else prop.size[1]
    knees = max(seat_height(figure) for figure in figures)
    high = float(np.clip(knees, 0.34, 0.5))
    grow = high / own
    tops = tuple(replace(top, height=top.height * grow) for top in prop.tops)
    size = (prop.size[0], prop.size[1] * grow, prop.size[2])
    fitted = Prop(prop.kind, prop.parts, size, tops, (1.0, grow, 1.0))
    seat = layout.put(fitted, x, z, yaw=turn + 180)
    found = []
    for figure, across in zip(figures, places, strict=True):
        # A little to the back of the seat, which is at +z in a seat's own frame.
        px, _, pz = seat.point(across, 0.0, between(rng, -0.02, 0.06))
        lift = max(0.0, high - seat_height(figure))
        facing = turn + rng.normal(0, 6)
        found.append(place_figure(layout, rng, figure, px, pz, facing, detail, height=lift))
    return found


def at_table(
    layout: PropLayout, rng: Random, x: float, z: float, yaw: float, detail: Detail
) -> list[ScenePerson]:
    """Place one to four people on chairs around a table with items on it."""
    prop = furniture.table(rng, width=(0.8, 1.8), depth=(0.7, 1.0), height=(0.7, 0.78))
    turn = yaw + pick(rng, (0.0, 90.0, 30.0, -40.0)) + rng.normal(0, 8)
    table = layout.put(prop, x, z, yaw=turn)
    arrangements.place_on(layout, table, rng, arrangements.KITCHEN, randint(rng, 2, 7))
    sides = [(0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0)]
    found = []
    for k in range(randint(rng, 1, 4)):
        sx, sz = sides[k]
        cx, _, cz = table.point(
            sx * (prop.size[0] / 2 + 0.3), 0.0, sz * (prop.size[2] / 2 + between(rng, 0.22, 0.35))
        )
        inward = math.degrees(math.atan2(x - cx, z - cz))
        maker = pick(rng, (furniture.chair, furniture.chair, furniture.stool))
        found += _sit(layout, rng, maker(rng), cx, cz, inward, detail, [0.0])
    return found


#: Casts with how often each is drawn.
PERSON_GROUPS: tuple[tuple[PersonGroup, float], ...] = (
    (alone, 0.34),
    (group, 0.26),
    (seated, 0.16),
    (at_table, 0.14),
    (crowd, 0.10),
)
