"""Track an outdoor site: occupied ground, what the camera sees, and the level of detail."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.lighting import Weather, sample_weather
from sightline.scenes.mesh_arrays import Floats
from sightline.scenes.outdoor.buildings import BUILDING_VARIANTS, add_building
from sightline.scenes.outdoor.street_furniture import add_street_object
from sightline.scenes.outdoor.vegetation import add_tree
from sightline.scenes.outdoor.vehicles import add_car
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import CameraView, Material, Point, SceneWorld, WorldBuilder

#: Where detail ends at a lens of 65 degrees, [m]: nearer than the first is finest.
_STEPS = (11.0, 28.0, 75.0)


@dataclass(slots=True, eq=False)
class Site:
    """An outdoor scene under construction around a known camera.

    Attributes:
        builder: collects the shapes.
        rng: random generator.
        view: the camera's; nothing is put where it stands, little behind its back.
        weather: light of the day; tells whether lamps are lit.
        taken: circles (x, z, radius) that are occupied, [m].
        lamps: places of street lamps, for the night.
        budget: how many more plants, cars and buildings may be built at detail 0, 1 and 2.
    """

    builder: WorldBuilder
    rng: Random
    view: CameraView
    weather: Weather
    taken: list[Point] = field(default_factory=list)
    lamps: list[Point] = field(default_factory=list)
    budget: dict[str, list[int]] = field(
        default_factory=lambda: {"plant": [2, 5, 24], "car": [2, 4, 12], "building": [2, 5, 16]}
    )

    def distance(self, x: float, z: float) -> float:
        """Return the horizontal distance from the camera, [m]."""
        return math.hypot(x - self.view.eye[0], z - self.view.eye[2])

    def sees(self, x: float, z: float, radius: float = 2.0) -> bool:
        """Return whether an object at (x, z) may be in the picture or cast a shadow into it."""
        dx, dz = x - self.view.eye[0], z - self.view.eye[2]
        away = math.hypot(dx, dz)
        if away < radius + 5.0:
            return True
        ahead_x, ahead_z = (self.view.target[k] - self.view.eye[k] for k in (0, 2))
        turn = math.atan2(dx * ahead_z - dz * ahead_x, dx * ahead_x + dz * ahead_z)
        level = math.hypot(ahead_x, ahead_z)
        steep = math.degrees(math.atan2(max(self.view.target[1] - self.view.eye[1], 0.0), level))
        # Looking steeply down, the lower edge of the picture reaches behind the camera's own foot.
        behind = min(steep + self.view.fov / 2 + 12.0 - 90.0, 85.0)
        if behind > 0 and away < radius + 1.1 * -self.view.eye[1] * math.tan(math.radians(behind)):
            return True
        wide = self.view.fov / 2 + 8.0 + math.degrees(math.asin(min(radius / away, 1.0)))
        return abs(math.degrees(turn)) < wide * (1.0 + steep / 60.0)

    def detail(self, x: float, z: float) -> int:
        """Return the level of detail at (x, z): 0 close by to 3 far away, by distance and lens."""
        high = self.view.eye[1]
        away = math.hypot(self.distance(x, z), high) * self.view.fov / 65.0
        return bisect.bisect_left(_STEPS, away)

    def grade(self, x: float, z: float, what: str = "plant") -> int:
        """Return the level of detail for an object at (x, z) within the budget, and deduct it.

        Plants become at most one step coarser than their distance asks for, or leaves would be as large
        as sails; when that is used up too the answer is −1: leave the plant out.
        """
        purse = self.budget[what]
        wanted = self.detail(x, z)
        for detail in range(wanted, wanted + 2 if what == "plant" else len(purse)):
            if detail >= len(purse):
                return 3
            if purse[detail] > 0:
                purse[detail] -= 1
                return detail
        return -1 if what == "plant" else 3

    def free(self, x: float, z: float, radius: float, *, gap: float = 0.9) -> bool:
        """Return whether a circle is free of objects and keeps `gap` [m] to the camera."""
        if self.distance(x, z) < radius + gap:
            return False
        return all((x - a) ** 2 + (z - b) ** 2 > (radius + r) ** 2 for a, b, r in self.taken)

    def claim(self, x: float, z: float, radius: float, *, gap: float = 0.9) -> bool:
        """Occupy a circle if it is free and visible; return whether it was."""
        if not self.sees(x, z, radius) or not self.free(x, z, radius, gap=gap):
            return False
        self.taken.append((x, z, radius))
        return True

    def scatter(self, count: int, near: float, far: float, spread: float = 1.1) -> Floats:
        """Sample (count, 2) positions (x, z) in view, log-uniform in distance, nearest first."""
        half = self.view.fov / 2 * spread
        yaw = self.yaw + self.rng.uniform(-half, half, count)
        away = np.sort(np.exp(self.rng.uniform(np.log(near), np.log(far), count)))
        turn = np.radians(yaw)
        return np.stack(
            [self.view.eye[0] + away * np.sin(turn), self.view.eye[2] + away * np.cos(turn)], -1
        )

    def finish(self) -> tuple[SceneWorld, CameraView]:
        """Add lamps if it is dark, and return the finished world and view."""
        lit = self.weather.with_lamps(np.array(self.lamps).reshape(-1, 3), self.view.eye)
        return self.builder.finish(lit.light, lit.sky), self.view

    @property
    def axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Horizontal unit vectors ahead of the camera and to its right."""
        turn = np.radians(self.yaw)
        ahead, right = [np.sin(turn), 0.0, np.cos(turn)], [np.cos(turn), 0.0, -np.sin(turn)]
        return np.array(ahead), np.array(right)

    @property
    def yaw(self) -> float:
        """Heading of the camera, [degrees] from +z toward +x."""
        dx, dz = (self.view.target[k] - self.view.eye[k] for k in (0, 2))
        return float(np.degrees(np.arctan2(dx, dz)))

    def building(
        self,
        place: Point,
        yaw: float,
        sort: str,
        detail: int,
        *,
        variant: int | None = None,
        paints: dict[str, Material] | None = None,
    ) -> None:
        """Put a building of a type down, lit by night; a random variant unless one is given."""
        number = int(self.rng.integers(BUILDING_VARIANTS)) if variant is None else variant
        add_building(
            self.builder, self.rng, place, yaw, sort=sort, variant=number, detail=detail,
            dark=self.weather.dark, paints=paints,
        )  # fmt: skip

    def tree(
        self,
        place: Point,
        height: float,
        *,
        sort: str = "broadleaf",
        detail: int | None = None,
        leaf: Material | None = None,
        wood: Material | None = None,
    ) -> None:
        """Put a tree or bush down, by default in the detail that the budget allows."""
        fine = self.grade(place[0], place[2]) if detail is None else detail
        add_tree(
            self.builder, self.rng, place, height, sort=sort, detail=fine, leaf=leaf, wood=wood
        )

    def car(
        self,
        place: Point,
        yaw: float,
        *,
        detail: int | None = None,
        sort: str | None = None,
        lit: bool = False,
    ) -> None:
        """Put a vehicle down, by default in the detail that the budget allows."""
        fine = self.grade(place[0], place[2], "car") if detail is None else detail
        add_car(self.builder, self.rng, place, yaw, detail=fine, sort=sort, lit=lit)

    def street_object(
        self, sort: str, place: Point, yaw: float, *, dark: bool | None = None
    ) -> float:
        """Put a street object down, lit by night or as `dark` says; return its height, [m]."""
        lit = self.weather.dark if dark is None else dark
        return add_street_object(self.builder, self.rng, sort, place, yaw, dark=lit)

    def person(
        self, x: float, z: float, yaw: float, *, foot: float = 0.0, pose: str | None = None
    ) -> None:
        """Put a person at (x, z) with the feet `foot` [m] above y = 0, if the place is free."""
        from sightline.scenes.people.person import add_person

        if self.claim(x, z, 0.4, gap=1.3):
            add_person(self.builder, self.rng, (x, -foot, z), yaw, pose=pose)


def view_from_angles(
    eye: Point, yaw: float, pitch: float, *, roll: float = 0.0, fov: float = 65.0
) -> CameraView:
    """Make a view from `eye` toward `yaw` (+z toward +x) and `pitch` (up is positive), [degrees]."""
    up, turn = np.radians(pitch), np.radians(yaw)
    ahead = np.array([np.cos(up) * np.sin(turn), -np.sin(up), np.cos(up) * np.cos(turn)]) * 10.0
    x, y, z = (float(a + b) for a, b in zip(eye, ahead, strict=True))
    return CameraView(eye, (x, y, z), float(roll), float(fov))


def handheld_site(
    rng: Random, at: tuple[float, float], toward: tuple[float, float], spread: float
) -> Site:
    """Start a site with a hand-held camera at (x, z) that looks roughly toward another (x, z).

    `spread` is how far it may look past that, [degrees]; the weather is chosen too.
    """
    aim = float(np.degrees(np.arctan2(toward[0] - at[0], toward[1] - at[1])))
    yaw = aim + float(rng.normal(0, spread / 2))
    eye = (at[0], -between(rng, 0.6, 1.9), at[1])
    pitch, roll = float(rng.normal(-3, 6)), float(rng.normal(0, 2.5))
    view = view_from_angles(eye, yaw, pitch, roll=roll, fov=between(rng, 42, 90))
    return Site(WorldBuilder(), rng, view, sample_weather(rng))
