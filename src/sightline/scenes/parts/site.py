"""A place being furnished: what is taken already, what the camera will see, how fine to build."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.parts.many import Floats
from sightline.scenes.parts.weather import Weather, weather
from sightline.scenes.world import Builder, View, World

#: Where detail ends at a lens of 65 degrees, [m]: nearer than the first is finest.
_STEPS = (11.0, 28.0, 75.0)


@dataclass(slots=True, eq=False)
class Site:
    """Where things are put down around a camera that is known from the start.

    Attributes:
        builder: collects the shapes.
        rng: where chance comes from.
        view: the camera's; nothing is put where it stands, little behind its back.
        weather: light of the day; tells whether lamps are lit.
        taken: circles (x, z, radius) that are occupied, [m].
        lamps: places of street lamps, for the night.
        budget: how many more plants, cars and buildings may be built at detail 0, 1 and 2.
    """

    builder: Builder
    rng: np.random.Generator
    view: View
    weather: Weather
    taken: list[tuple[float, float, float]] = field(default_factory=list)
    lamps: list[tuple[float, float, float]] = field(default_factory=list)
    budget: dict[str, list[int]] = field(
        default_factory=lambda: {"plant": [2, 5, 24], "car": [2, 4, 12], "building": [2, 5, 16]}
    )

    def distance(self, x: float, z: float) -> float:
        """Level distance from the camera, [m]."""
        return math.hypot(x - self.view.eye[0], z - self.view.eye[2])

    def sees(self, x: float, z: float, radius: float = 2.0) -> bool:
        """Say whether a thing at (x, z) can be in the picture, or is close enough to shade it."""
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
        """How fine to build at (x, z): 0 close by to 3 far away, further out with a longer lens."""
        high = self.view.eye[1]
        away = math.hypot(self.distance(x, z), high) * self.view.fov / 65.0
        return bisect.bisect_left(_STEPS, away)

    def grade(self, x: float, z: float, what: str = "plant") -> int:
        """Give the detail for a plant, car or building at (x, z) that can be afforded, and pay for it.

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
        """Say whether a circle is clear of everything taken and of the camera by `gap` [m]."""
        if self.distance(x, z) < radius + gap:
            return False
        return all((x - a) ** 2 + (z - b) ** 2 > (radius + r) ** 2 for a, b, r in self.taken)

    def claim(self, x: float, z: float, radius: float, *, gap: float = 0.9) -> bool:
        """Take a circle if it is free and within sight; say whether it was."""
        if not self.sees(x, z, radius) or not self.free(x, z, radius, gap=gap):
            return False
        self.taken.append((x, z, radius))
        return True

    def scatter(self, count: int, near: float, far: float, spread: float = 1.1) -> Floats:
        """(count, 2) places (x, z) in view, nearest first, as many close by as far away."""
        half = self.view.fov / 2 * spread
        yaw = self.yaw + self.rng.uniform(-half, half, count)
        away = np.sort(np.exp(self.rng.uniform(np.log(near), np.log(far), count)))
        turn = np.radians(yaw)
        return np.stack(
            [self.view.eye[0] + away * np.sin(turn), self.view.eye[2] + away * np.cos(turn)], -1
        )

    def finish(self) -> tuple[World, View]:
        """Switch on the lamps if it is dark, and close the world."""
        lit = self.weather.with_lamps(np.array(self.lamps).reshape(-1, 3), self.view.eye)
        return self.builder.finish(lit.light, lit.sky), self.view

    @property
    def axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Level unit vectors ahead of the camera and to its right."""
        turn = np.radians(self.yaw)
        ahead, right = [np.sin(turn), 0.0, np.cos(turn)], [np.cos(turn), 0.0, -np.sin(turn)]
        return np.array(ahead), np.array(right)

    @property
    def yaw(self) -> float:
        """Where the camera looks, [degrees] from +z towards +x."""
        dx, dz = (self.view.target[k] - self.view.eye[k] for k in (0, 2))
        return float(np.degrees(np.arctan2(dx, dz)))

    def person(
        self, x: float, z: float, yaw: float, *, foot: float = 0.0, pose: str | None = None
    ) -> None:
        """Put a person at (x, z) with the feet `foot` [m] above y = 0, if the place is free."""
        from sightline.scenes.people import add_person

        if self.claim(x, z, 0.4, gap=1.3):
            add_person(self.builder, self.rng, (x, -foot, z), yaw, pose=pose)


def look(
    eye: tuple[float, float, float],
    yaw: float,
    pitch: float,
    *,
    roll: float = 0.0,
    fov: float = 65.0,
) -> View:
    """Make a view from `eye` towards `yaw` (+z towards +x) and `pitch` (up is positive), [degrees]."""
    up, turn = np.radians(pitch), np.radians(yaw)
    ahead = np.array([np.cos(up) * np.sin(turn), -np.sin(up), np.cos(up) * np.cos(turn)]) * 10.0
    x, y, z = (float(a + b) for a, b in zip(eye, ahead, strict=True))
    return View(eye, (x, y, z), float(roll), float(fov))


def stand(
    rng: np.random.Generator, at: tuple[float, float], towards: tuple[float, float], spread: float
) -> Site:
    """Start a site with a hand-held camera at (x, z) that looks about towards another (x, z).

    `spread` is how far it may look past that, [degrees]; the weather is chosen too.
    """
    aim = float(np.degrees(np.arctan2(towards[0] - at[0], towards[1] - at[1])))
    yaw = aim + float(rng.normal(0, spread / 2))
    eye = (at[0], -float(rng.uniform(0.6, 1.9)), at[1])
    pitch, roll = float(rng.normal(-3, 6)), float(rng.normal(0, 2.5))
    view = look(eye, yaw, pitch, roll=roll, fov=float(rng.uniform(42, 90)))
    return Site(Builder(), rng, view, weather(rng))
