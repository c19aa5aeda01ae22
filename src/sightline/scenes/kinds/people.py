"""Pictures of people: portraits, groups, people at tables and on benches, indoors and out."""

from __future__ import annotations

import math

import numpy as np

from sightline.scenes.casts import CASTS, Cast, alone, crowd, seated
from sightline.scenes.figures import by
from sightline.scenes.kinds import furnish
from sightline.scenes.parts.buildings import SORTS, add_building
from sightline.scenes.parts.draw import between, chance, pick, some, weighted
from sightline.scenes.parts.indoor_light import indoor_light, sky_outside
from sightline.scenes.parts.pieces import Stage, turned
from sightline.scenes.parts.plants import add_hedge, add_tree, foliage, sort_of_tree
from sightline.scenes.parts.shell import build_room
from sightline.scenes.parts.street_things import SORTS as THINGS
from sightline.scenes.parts.street_things import add_thing
from sightline.scenes.parts.terrain import plane
from sightline.scenes.parts.viewing import best_view, hits
from sightline.scenes.parts.weather import weather
from sightline.scenes.people import Person
from sightline.scenes.shapes import quad
from sightline.scenes.world import Colour, Light, Material, Pattern, View, World

Random = np.random.Generator

#: How much of a person fills the picture, and how many metres high that is on an adult.
FRAMES = {"head": 0.38, "half": 0.9, "full": 1.9, "wide": 3.6}

_GROUNDS: tuple[tuple[Pattern, Colour, Colour, float], ...] = (
    ("grass", (0.10, 0.20, 0.05), (0.16, 0.22, 0.07), 0.5),
    ("asphalt", (0.13, 0.13, 0.13), (0.2, 0.2, 0.2), 0.4),
    ("tiles", (0.42, 0.40, 0.37), (0.28, 0.27, 0.25), 0.5),
    ("brick", (0.35, 0.2, 0.15), (0.3, 0.28, 0.25), 0.22),
    ("noise", (0.55, 0.46, 0.33), (0.45, 0.37, 0.26), 0.7),
    ("noise", (0.75, 0.77, 0.8), (0.65, 0.68, 0.73), 1.5),
)


def build(rng: Random) -> tuple[World, View]:
    """Build a picture of people and its camera."""
    return weighted(rng, [(_indoors, 0.42), (_outdoors, 0.44), (_studio, 0.14)])(rng)


def _frame(rng: Random, cast: Cast) -> str:
    """Choose how close to get."""
    if cast is crowd:
        return pick(rng, ("full", "wide", "wide"))
    close = cast in (alone, seated)
    return weighted(
        rng, [("head", 2.0 if close else 0.7), ("half", 3.0), ("full", 3.0), ("wide", 0.8)]
    )


def _indoors(rng: Random) -> tuple[World, View]:
    """Build a furnished room with people in it."""
    width, depth, height = between(rng, 3.4, 8.0), between(rng, 3.4, 8.0), between(rng, 2.3, 3.2)
    stage = Stage((-width / 2, width / 2, -depth / 2, depth / 2))
    room = build_room(
        stage, rng, width, depth, height, windows=some(rng, 0, 3), doors=some(rng, 0, 2)
    )
    cast = weighted(rng, CASTS)
    frame = _frame(rng, cast)
    # Towards one side of the room, with the camera on the other.
    yaw = between(rng, -180, 180)
    away = between(rng, 0.0, 0.28) * min(width, depth)
    x, z = turned(0.0, -away, yaw)
    people = cast(stage, rng, x, z, yaw, "far" if frame == "wide" else "near")
    makers = (furnish.living, furnish.office, furnish.classroom, furnish.store)
    if chance(rng, 0.55):
        pick(rng, makers)(stage, rng, room)
    furnish.on_walls(stage, rng, room, some(rng, 1, 6))
    light = indoor_light(rng, width, depth, height, sun=room.sky, lamps=[])
    walls = np.array([[-width / 2, -height, -depth / 2], [width / 2, 0.0, depth / 2]])
    view = _view(rng, stage, people, yaw, frame, walls)
    return stage.builder.finish(light, sky_outside(rng) if room.sky else None), view


def _studio(rng: Random) -> tuple[World, View]:
    """Build a plain or painted backdrop, lit by lamps, with one or a few people before it."""
    stage = Stage()
    cast = weighted(rng, CASTS[:3])
    frame = _frame(rng, cast)
    people = cast(stage, rng, 0.0, 0.0, 180.0, "near")
    back = between(rng, 0.9, 3.5)
    paint = Material(
        pick(rng, ("plain", "noise", "plaster", "cloth", "photo", "brick", "planks")),
        _light_colour(rng), _light_colour(rng), between(rng, 0.2, 2.0), int(rng.integers(1 << 30)),
        photo=int(rng.integers(1 << 20)),
    )  # fmt: skip
    floor = paint if chance(rng, 0.5) else Material("planks", (0.4, 0.28, 0.18), scale=0.15)
    stage.builder.add(quad([-9, 0, -9], [18, 0, 0], [0, 0, 9 + back]), floor)
    stage.builder.add(quad([-9, 0, back], [18, 0, 0], [0, -7, 0]), paint)
    lamps = np.array([[side * between(rng, 0.8, 2.5), -between(rng, 1.6, 3), -between(rng, 0.8, 2.5)]
                      for side in (-1, 1)])  # fmt: skip
    power = np.array([[1.0, 0.95, 0.88], [0.9, 0.95, 1.0]]) * rng.uniform(0.4, 3.0, (2, 1))
    ambient = between(rng, 0.08, 0.4)
    light = Light(lamps=lamps, lamp_power=power, above=(ambient,) * 3, below=(ambient * 0.6,) * 3)
    walls = np.array([[-9.0, -7.0, -9.0], [9.0, 0.0, back]])
    return stage.builder.finish(light), _view(rng, stage, people, 180.0, frame, walls)


def _light_colour(rng: Random) -> Colour:
    """Draw any colour that is not too dark."""
    base = between(rng, 0.08, 0.6)
    r, g, b = (base * between(rng, 0.6, 1.3) for _ in range(3))
    return (r, g, b)


def _outdoors(rng: Random) -> tuple[World, View]:
    """Build a street corner, plaza, park or field with people."""
    stage, day = Stage(), weather(rng, night=0.08)
    pattern, tint, second, scale = pick(rng, _GROUNDS)
    ground = Material(
        pattern, tint, second, scale * between(rng, 0.7, 1.5), int(rng.integers(1 << 30))
    )
    stage.builder.add(plane(0.0), ground)
    cast = weighted(rng, CASTS)
    frame = _frame(rng, cast)
    people = cast(stage, rng, 0.0, 0.0, 180.0, "far" if frame == "wide" else "near")
    if cast is not crowd and chance(rng, 0.3):
        crowd(stage, rng, between(rng, -2, 2), between(rng, 4, 9), 180.0, "far")
    behind = max(float(placed.bounds[1, 2]) for placed in stage.placed)
    _backdrop(rng, stage, behind, dark=day.dark)
    view = _view(rng, stage, people, 180.0, frame, None)
    lamps = np.array([[-3.0, -4.5, -2.0], [3.0, -4.5, 4.0]])
    day = day.with_lamps(lamps, view.eye)
    return stage.builder.finish(day.light, day.sky), view


def _backdrop(rng: Random, stage: Stage, behind: float, *, dark: bool) -> None:
    """Stand houses, trees, hedges and things of the street farther than `behind` [m] along z."""
    kind = weighted(rng, [("town", 0.45), ("park", 0.4), ("open", 0.15)])
    builder = stage.builder
    if kind == "town":
        x, far = -30.0, behind + between(rng, 1.0, 14.0)
        while x < 26.0:
            sort, wide = pick(rng, SORTS), between(rng, 9, 14)
            place = (x + wide / 2, 0.0, far + between(rng, 0, 2))
            add_building(builder, rng, place, 0.0, sort=sort, variant=some(rng, 0, 9),
                         detail=1 if abs(x + wide / 2) < 8 else 2, dark=dark)  # fmt: skip
            x += wide + between(rng, 0, 4)
        for _ in range(some(rng, 0, 4)):
            place = (between(rng, -6, 6), 0.0, between(rng, behind + 0.3, far - 0.5))
            add_thing(builder, rng, pick(rng, THINGS), place, between(rng, -180, 180), dark=dark)
    for _ in range(
        {"town": some(rng, 0, 2), "park": some(rng, 3, 9), "open": some(rng, 0, 3)}[kind]
    ):
        z = behind + between(rng, 2, 7) * between(rng, 1, 5)
        place = (between(rng, -0.7, 0.7) * (z + 5), 0.0, z)
        detail = 0 if z < 9 else 1 if z < 22 else 2
        add_tree(builder, rng, place, between(rng, 2.5, 11), sort=sort_of_tree(rng), detail=detail)
    if chance(rng, 0.3):
        z = behind + between(rng, 0.8, 6)
        start, end = np.array([-12.0, 0, z]), np.array([12.0, 0, z + between(rng, -2, 3)])
        add_hedge(builder, rng, start, end, between(rng, 0.6, 2.2), leaf=foliage(rng), fine=z < 6)


def _view(
    rng: Random,
    stage: Stage,
    people: list[Person],
    yaw: float,
    frame: str,
    walls: np.ndarray | None,
) -> View:
    """Choose a camera that looks at the people from about where they look."""
    first = people[int(rng.integers(len(people)))]
    fov = between(rng, 38, 66) if frame == "head" else between(rng, 38, 85)
    eyes, pelvis = (first.point("eye.L") + first.point("eye.R")) / 2, first.point("pelvis")
    middle = np.mean([p.point("chest") for p in people], 0)
    aims = {
        "head": eyes + by(0, 0.05, 0),
        "half": 0.55 * eyes + 0.45 * pelvis,
        "full": 0.4 * pelvis + 0.6 * middle,
        "wide": middle,
    }
    aim = np.asarray(aims[frame], np.float64)
    if frame == "half" and len(people) > 1:
        aim = 0.5 * (aim + middle)
    span = FRAMES[frame] * max(first.height / 1.7, 0.75)
    away = span / 2 / math.tan(math.radians(fov) * 0.375)
    roll = float(rng.normal(0, 2.5))
    boxes = stage.boxes()
    views = []
    for _ in range(12):
        turn = yaw + float(np.clip(rng.normal(0, 32), -65, 65))
        dx, dz = turned(0.0, away * between(rng, 0.85, 1.5), turn)
        up = -float(aim[1]) + between(rng, -0.25, 0.45) * away * 0.6
        eye = np.array([aim[0] + dx, -float(np.clip(up, 0.3, 2.6)), aim[2] + dz])
        if walls is not None:
            eye = np.clip(eye, walls[0] + 0.2, walls[1] - 0.2)
        look = aim + rng.normal(0, 0.06, 3) * span
        views.append(View(_triple(eye), _triple(look), roll, fov))
    return best_view(rng, _unblocked(views, stage), boxes, room=walls, near=0.3)


def _unblocked(views: list[View], stage: Stage) -> list[View]:
    """Keep the views in which no furniture stands before what they look at; all if it always does."""
    boxes = np.array([p.bounds for p in stage.placed if p.piece.kind != "person"])
    eyes = np.array([view.eye for view in views])
    ahead = np.array([view.target for view in views]) - eyes
    far = np.linalg.norm(ahead, axis=1)
    away, _ = hits(eyes, (ahead / far[:, None])[:, None], boxes.reshape(-1, 2, 3), None)
    clear = away[:, 0] > far - 0.4
    return [view for view, free in zip(views, clear, strict=True) if free] or views


def _triple(point: np.ndarray) -> tuple[float, float, float]:
    """Give (3,) as plain numbers."""
    x, y, z = (float(c) for c in point)
    return (x, y, z)
