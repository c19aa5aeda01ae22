"""People: portraits, groups, people at tables and on benches, indoors and outdoors."""

from __future__ import annotations

import math

import numpy as np

from sightline.scenes.camera import as_point, best_view, ray_box_hits
from sightline.scenes.indoor import room_types
from sightline.scenes.indoor.room_shell import build_room
from sightline.scenes.layout import PropLayout, rotate_xz
from sightline.scenes.lighting import indoor_light, sample_weather, sky_outside
from sightline.scenes.meshes import quad
from sightline.scenes.outdoor.buildings import BUILDING_TYPES, add_building
from sightline.scenes.outdoor.street_furniture import STREET_OBJECTS as THINGS
from sightline.scenes.outdoor.street_furniture import add_street_object
from sightline.scenes.outdoor.terrain import plane
from sightline.scenes.outdoor.vegetation import add_hedge, add_tree, foliage, sample_species
from sightline.scenes.people.groups import PERSON_GROUPS, PersonGroup, alone, crowd, seated
from sightline.scenes.people.person import ScenePerson
from sightline.scenes.people.poses import offset
from sightline.scenes.sampling import Random, between, chance, pick, randint, weighted
from sightline.scenes.world import (
    CameraView,
    Color,
    Light,
    Material,
    Pattern,
    SceneKind,
    SceneWorld,
)

#: How much of a person fills the picture, and how many meters high that is on an adult.
FRAMING_HEIGHTS = {"head": 0.38, "half": 0.9, "full": 1.9, "wide": 3.6}

_GROUNDS: tuple[tuple[Pattern, Color, Color, float], ...] = (
    ("grass", (0.10, 0.20, 0.05), (0.16, 0.22, 0.07), 0.5),
    ("asphalt", (0.13, 0.13, 0.13), (0.2, 0.2, 0.2), 0.4),
    ("tiles", (0.42, 0.40, 0.37), (0.28, 0.27, 0.25), 0.5),
    ("brick", (0.35, 0.2, 0.15), (0.3, 0.28, 0.25), 0.22),
    ("noise", (0.55, 0.46, 0.33), (0.45, 0.37, 0.26), 0.7),
    ("noise", (0.75, 0.77, 0.8), (0.65, 0.68, 0.73), 1.5),
)


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build a picture of people and its camera."""
    return weighted(rng, [(_indoors, 0.42), (_outdoors, 0.44), (_studio, 0.14)])(rng)


def _framing(rng: Random, cast: PersonGroup) -> str:
    """Choose how close to get."""
    if cast is crowd:
        return pick(rng, ("full", "wide", "wide"))
    close = cast in (alone, seated)
    return weighted(
        rng, [("head", 2.0 if close else 0.7), ("half", 3.0), ("full", 3.0), ("wide", 0.8)]
    )


def _indoors(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build a furnished room with people in it."""
    width, depth, height = between(rng, 3.4, 8.0), between(rng, 3.4, 8.0), between(rng, 2.3, 3.2)
    layout = PropLayout((-width / 2, width / 2, -depth / 2, depth / 2))
    room = build_room(
        layout, rng, width, depth, height, windows=randint(rng, 0, 3), doors=randint(rng, 0, 2)
    )
    cast = weighted(rng, PERSON_GROUPS)
    frame = _framing(rng, cast)
    # Towards one side of the room, with the camera on the other.
    yaw = between(rng, -180, 180)
    away = between(rng, 0.0, 0.28) * min(width, depth)
    x, z = rotate_xz(0.0, -away, yaw)
    people = cast(layout, rng, x, z, yaw, "far" if frame == "wide" else "near")
    makers = (room_types.living, room_types.office, room_types.classroom, room_types.store)
    if chance(rng, 0.55):
        pick(rng, makers)(layout, rng, room)
    room_types.on_walls(layout, rng, room, randint(rng, 1, 6))
    light = indoor_light(rng, width, depth, height, sun=room.sky, lamps=[])
    walls = np.array([[-width / 2, -height, -depth / 2], [width / 2, 0.0, depth / 2]])
    view = _sample_view(rng, layout, people, yaw, frame, walls)
    return layout.builder.finish(light, sky_outside(rng) if room.sky else None), view


def _studio(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build a plain or painted backdrop, lit by lamps, with one or a few people before it."""
    layout = PropLayout()
    cast = weighted(rng, PERSON_GROUPS[:3])
    frame = _framing(rng, cast)
    people = cast(layout, rng, 0.0, 0.0, 180.0, "near")
    back = between(rng, 0.9, 3.5)
    paint = Material(
        pick(rng, ("plain", "noise", "plaster", "cloth", "photo", "brick", "planks")),
        _light_color(rng), _light_color(rng), between(rng, 0.2, 2.0), int(rng.integers(1 << 30)),
        photo=int(rng.integers(1 << 20)),
    )  # fmt: skip
    floor = paint if chance(rng, 0.5) else Material("planks", (0.4, 0.28, 0.18), scale=0.15)
    layout.builder.add(quad([-9, 0, -9], [18, 0, 0], [0, 0, 9 + back]), floor)
    layout.builder.add(quad([-9, 0, back], [18, 0, 0], [0, -7, 0]), paint)
    lamps = np.array([[side * between(rng, 0.8, 2.5), -between(rng, 1.6, 3), -between(rng, 0.8, 2.5)]
                      for side in (-1, 1)])  # fmt: skip
    power = np.array([[1.0, 0.95, 0.88], [0.9, 0.95, 1.0]]) * rng.uniform(0.4, 3.0, (2, 1))
    ambient = between(rng, 0.08, 0.4)
    light = Light(lamps=lamps, lamp_power=power, above=(ambient,) * 3, below=(ambient * 0.6,) * 3)
    walls = np.array([[-9.0, -7.0, -9.0], [9.0, 0.0, back]])
    return layout.builder.finish(light), _sample_view(rng, layout, people, 180.0, frame, walls)


def _light_color(rng: Random) -> Color:
    """Draw any color that is not too dark."""
    base = between(rng, 0.08, 0.6)
    r, g, b = (base * between(rng, 0.6, 1.3) for _ in range(3))
    return (r, g, b)


def _outdoors(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build a street corner, plaza, park or field with people."""
    layout, day = PropLayout(), sample_weather(rng, night=0.08)
    pattern, tint, second, scale = pick(rng, _GROUNDS)
    ground = Material(
        pattern, tint, second, scale * between(rng, 0.7, 1.5), int(rng.integers(1 << 30))
    )
    layout.builder.add(plane(0.0), ground)
    cast = weighted(rng, PERSON_GROUPS)
    frame = _framing(rng, cast)
    people = cast(layout, rng, 0.0, 0.0, 180.0, "far" if frame == "wide" else "near")
    if cast is not crowd and chance(rng, 0.3):
        crowd(layout, rng, between(rng, -2, 2), between(rng, 4, 9), 180.0, "far")
    behind = max(float(placed.bounds[1, 2]) for placed in layout.placed)
    _backdrop(rng, layout, behind, dark=day.dark)
    view = _sample_view(rng, layout, people, 180.0, frame, None)
    lamps = np.array([[-3.0, -4.5, -2.0], [3.0, -4.5, 4.0]])
    day = day.with_lamps(lamps, view.eye)
    return layout.builder.finish(day.light, day.sky), view


def _backdrop(rng: Random, layout: PropLayout, behind: float, *, dark: bool) -> None:
    """Add houses, trees, hedges and street objects beyond `behind` [m] along z."""
    kind = weighted(rng, [("town", 0.45), ("park", 0.4), ("open", 0.15)])
    builder = layout.builder
    if kind == "town":
        x, far = -30.0, behind + between(rng, 1.0, 14.0)
        while x < 26.0:
            sort, wide = pick(rng, BUILDING_TYPES), between(rng, 9, 14)
            place = (x + wide / 2, 0.0, far + between(rng, 0, 2))
            add_building(builder, rng, place, 0.0, sort=sort, variant=randint(rng, 0, 9),
                         detail=1 if abs(x + wide / 2) < 8 else 2, dark=dark)  # fmt: skip
            x += wide + between(rng, 0, 4)
        for _ in range(randint(rng, 0, 4)):
            place = (between(rng, -6, 6), 0.0, between(rng, behind + 0.3, far - 0.5))
            add_street_object(
                builder, rng, pick(rng, THINGS), place, between(rng, -180, 180), dark=dark
            )
    for _ in range(
        {"town": randint(rng, 0, 2), "park": randint(rng, 3, 9), "open": randint(rng, 0, 3)}[kind]
    ):
        z = behind + between(rng, 2, 7) * between(rng, 1, 5)
        place = (between(rng, -0.7, 0.7) * (z + 5), 0.0, z)
        detail = 0 if z < 9 else 1 if z < 22 else 2
        add_tree(
            builder, rng, place, between(rng, 2.5, 11), sort=sample_species(rng), detail=detail
        )
    if chance(rng, 0.3):
        z = behind + between(rng, 0.8, 6)
        start, end = np.array([-12.0, 0, z]), np.array([12.0, 0, z + between(rng, -2, 3)])
        add_hedge(builder, rng, start, end, between(rng, 0.6, 2.2), leaf=foliage(rng), fine=z < 6)


def _sample_view(
    rng: Random,
    layout: PropLayout,
    people: list[ScenePerson],
    yaw: float,
    frame: str,
    walls: np.ndarray | None,
) -> CameraView:
    """Choose a camera that looks at the people from about where they look."""
    first = people[int(rng.integers(len(people)))]
    fov = between(rng, 38, 66) if frame == "head" else between(rng, 38, 85)
    eyes, pelvis = (first.point("eye.L") + first.point("eye.R")) / 2, first.point("pelvis")
    middle = np.mean([p.point("chest") for p in people], 0)
    aims = {
        "head": eyes + offset(0, 0.05, 0),
        "half": 0.55 * eyes + 0.45 * pelvis,
        "full": 0.4 * pelvis + 0.6 * middle,
        "wide": middle,
    }
    aim = np.asarray(aims[frame], np.float64)
    if frame == "half" and len(people) > 1:
        aim = 0.5 * (aim + middle)
    span = FRAMING_HEIGHTS[frame] * max(first.height / 1.7, 0.75)
    away = span / 2 / math.tan(math.radians(fov) * 0.375)
    roll = float(rng.normal(0, 2.5))
    boxes = layout.boxes()
    views = []
    for _ in range(12):
        turn = yaw + float(np.clip(rng.normal(0, 32), -65, 65))
        dx, dz = rotate_xz(0.0, away * between(rng, 0.85, 1.5), turn)
        up = -float(aim[1]) + between(rng, -0.25, 0.45) * away * 0.6
        eye = np.array([aim[0] + dx, -float(np.clip(up, 0.3, 2.6)), aim[2] + dz])
        if walls is not None:
            eye = np.clip(eye, walls[0] + 0.2, walls[1] - 0.2)
        look = aim + rng.normal(0, 0.06, 3) * span
        views.append(CameraView(as_point(eye), as_point(look), roll, fov))
    return best_view(rng, _unblocked(views, layout), boxes, room=walls, near=0.3)


def _unblocked(views: list[CameraView], layout: PropLayout) -> list[CameraView]:
    """Keep views whose target is not hidden by furniture; all of them if it always is."""
    boxes = np.array([p.bounds for p in layout.placed if p.prop.kind != "person"])
    eyes = np.array([view.eye for view in views])
    ahead = np.array([view.target for view in views]) - eyes
    far = np.linalg.norm(ahead, axis=1)
    away, _ = ray_box_hits(eyes, (ahead / far[:, None])[:, None], boxes.reshape(-1, 2, 3), None)
    clear = away[:, 0] > far - 0.4
    return [view for view, free in zip(views, clear, strict=True) if free] or views


KIND = SceneKind("people", build, weight=0.07, rank=6, default=True)
