"""Build roads: a cross-section from the middle to the houses, its surfaces and markings.

A road runs along z; all surfaces are cut at the same places, so that the whole street can afterwards be
bent and laid over hills without gaps (`Bend`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sightline.scenes.mesh_arrays import Floats, quads
from sightline.scenes.meshes import TriangleMesh, merge
from sightline.scenes.outdoor.fences import markings
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import Material, SceneWorld, WorldBuilder

#: Where surfaces are cut, [m] along the road.
CUTS = np.array([
    -600, -250, -120, -80, -55, -40, -30, -20, -10,
    0, 10, 20, 30, 40, 55, 80, 120, 180, 250, 400, 600,
], np.float64)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RoadSection:
    """Cross-section of a street, [m].

    Attributes:
        lane: width of a lane.
        lanes: lanes in each direction.
        parking: width of the strip for parked cars, 0 without.
        curb: height of the pavement above the road.
        verge: width of grass between road and pavement.
        pavement: width.
        garden: distance from the pavement to the houses.
    """

    lane: float
    lanes: int
    parking: float
    curb: float
    verge: float
    pavement: float
    garden: float

    @property
    def road(self) -> float:
        """Half the width between the curbs."""
        return self.lane * self.lanes + self.parking

    @property
    def walk(self) -> float:
        """Distance from the middle to the pavement."""
        return self.road + self.verge

    @property
    def front(self) -> float:
        """Distance from the middle to the houses."""
        return self.walk + self.pavement + self.garden


@dataclass(frozen=True, slots=True, eq=False)
class RoadBend:
    """Sideways and upward shift of a street at each of `CUTS`, [m]."""

    side: Floats
    rise: Floats

    def apply(self, world: SceneWorld) -> SceneWorld:
        """Bend the geometry of a world."""
        z = world.vertices[:, 2]
        move = np.zeros_like(world.vertices)
        move[:, 0] = np.interp(z, CUTS, self.side)
        move[:, 1] = -np.interp(z, CUTS, self.rise)
        # A surface z → (x + f, y + g) turns its normals by the inverse transpose of the derivative.
        middle = (CUTS[:-1] + CUTS[1:]) / 2
        f = np.interp(z, middle, np.diff(self.side) / np.diff(CUTS))
        g = np.interp(z, middle, -np.diff(self.rise) / np.diff(CUTS))
        normals = world.normals.copy()
        normals[:, 2] -= f * normals[:, 0] + g * normals[:, 1]
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return replace(world, vertices=world.vertices + move, normals=normals)


def sample_bend(rng: Random) -> RoadBend | None:
    """Choose how a street bends; None for the straight ones."""
    if rng.random() < 0.4:
        return None
    reach = between(rng, 40, 90)
    shape = reach**2 * (np.sqrt(1 + (CUTS / reach) ** 2) - 1)
    side = rng.uniform(-1 / 170, 1 / 170) * (rng.random() < 0.7)
    rise = rng.uniform(-1 / 900, 1 / 700) * (rng.random() < 0.6)
    return RoadBend(shape * side, shape * rise)


def sample_section(rng: Random, *, town: bool) -> RoadSection:
    """Choose a cross-section."""
    lanes = int(rng.choice([1, 1, 1, 2])) if town else 1
    return RoadSection(
        lane=between(rng, 2.7, 3.6),
        lanes=lanes,
        parking=float(rng.choice([0.0, 2.1, 2.3], p=[0.35, 0.35, 0.3])) if town else 0.0,
        curb=between(rng, 0.08, 0.16) if town else 0.02,
        verge=float(rng.choice([0.0, 1.0, 2.5], p=[0.55, 0.2, 0.25])),
        pavement=between(rng, 1.4, 4.5) if town else between(rng, 0.5, 1.5),
        garden=float(rng.choice([0.0, 2.5, 6.0], p=[0.6, 0.2, 0.2])) if town else 8.0,
    )


def strip(left: float, right: float, level: float, cuts: Floats = CUTS) -> TriangleMesh:
    """Make a level strip from x = left to right at height `level`, cut along z."""
    start = np.stack([0 * cuts[:-1] + left, 0 * cuts[:-1] - level, cuts[:-1]], -1)
    along = np.stack([0 * cuts[:-1], 0 * cuts[:-1], np.diff(cuts)], -1)
    made = quads(start, [[right - left, 0.0, 0.0]], along)
    return TriangleMesh(made.vertices, made.faces, made.normals, made.vertices[:, [0, 2]].copy())


def add_surfaces(builder: WorldBuilder, rng: Random, cut: RoadSection, *, town: bool) -> None:
    """Add road, curbs, verges, pavements and the ground behind."""
    seed = int(rng.integers(1 << 16))
    tone = between(rng, 0.07, 0.3)
    r, g, b = (float(tone * c) for c in rng.uniform(0.93, 1.07, 3))
    wet = float(rng.random() < 0.12)
    asphalt = Material(
        "asphalt",
        (r, g, b),
        (r * 0.75, g * 0.75, b * 0.75),
        between(rng, 1, 4),
        seed,
        gloss=0.6 * wet,
        mirror=0.35 * wet,
    )
    if rng.random() < 0.12:
        asphalt = Material("tiles", (0.3, 0.28, 0.26), (0.15, 0.14, 0.13), 0.14, seed)
    gray = between(rng, 0.25, 0.5)
    paving = Material(
        ("tiles", "noise", "brick", "asphalt")[rng.integers(4)],
        (gray, gray * 0.97, gray * 0.92), (gray * 0.7, gray * 0.68, gray * 0.65),
        between(rng, 0.3, 0.8), seed + 1,
    )  # fmt: skip
    curb = Material("noise", (0.45, 0.44, 0.42), (0.35, 0.34, 0.33), 0.5, seed + 2)
    lawn = grass_ground(rng)
    ground = lawn if not town or rng.random() < 0.6 else paving
    near = CUTS[(CUTS >= -250) & (CUTS <= 400)]
    builder.add(strip(-cut.road, cut.road, 0.0), asphalt)
    inner, outer = cut.walk, cut.walk + cut.pavement
    sides = [(inner, outer, paving), (outer, 600.0, ground)]
    if cut.verge > 0:
        sides.append((cut.road, inner, lawn))
    for a, b_, paint in sides:
        builder.add(merge([strip(-b_, -a, cut.curb), strip(a, b_, cut.curb)]), paint)
    z = near[:-1]
    along = np.stack([0 * z, 0 * z, np.diff(near)], -1)
    rims = [
        quads(np.stack([0 * z + s * cut.road, 0 * z - cut.curb, z], -1), along, [[0, cut.curb, 0]])
        for s in (-1.0, 1.0)
    ]
    tops = [
        strip(s * cut.road - 0.08, s * cut.road + 0.08, cut.curb + 0.004, near) for s in (-1, 1)
    ]
    builder.add(merge([*rims, *tops]), curb)


def grass_ground(rng: Random) -> Material:
    """Choose the look of grown ground: lawn, dry grass, earth."""
    r, g, b = (
        np.array([0.14, 0.24, 0.06])
        * rng.uniform(0.6, 1.5)
        * rng.uniform([0.8, 0.85, 0.7], [1.7, 1.1, 1.5])
    )
    return Material(
        "grass", (float(r), float(g), float(b)), (float(r * 0.6), float(g * 0.55), float(b * 0.6)),
        between(rng, 0.4, 2.0), int(rng.integers(1 << 16)),
    )  # fmt: skip


def add_paint(builder: WorldBuilder, rng: Random, cut: RoadSection, crossings: list[float]) -> None:
    """Add lane markings along the road and zebra crossings at the places z in `crossings`."""
    white = (
        Material(tint=(0.65, 0.65, 0.62))
        if rng.random() < 0.85
        else Material(tint=(0.6, 0.45, 0.05))
    )
    paint = builder.paint(white)
    shapes = []
    dash, gap = between(rng, 1.5, 4.0), between(rng, 2.0, 6.0)
    z = np.arange(-60.0, 160.0, dash + gap)
    for k in range(-cut.lanes + 1, cut.lanes):
        x = k * cut.lane
        if k == 0 and rng.random() < 0.3:
            shapes += [strip(x + s - 0.06, x + s + 0.06, 0.006) for s in (-0.12, 0.12)]
        else:
            at = np.stack([0 * z + x, 0 * z, z], -1)
            shapes.append(markings(at, np.array([0.12, dash])))
    if rng.random() < 0.6:
        edge = cut.lanes * cut.lane - 0.15
        shapes += [strip(s * edge - 0.06, s * edge + 0.06, 0.006) for s in (-1, 1)]
    for spot in crossings:
        bars = np.arange(-cut.road + 0.4, cut.road - 0.2, 1.0)
        shapes.append(
            markings(np.stack([bars, 0 * bars, 0 * bars + spot], -1), np.array([0.5, 3.0]))
        )
    if shapes:
        builder.add(merge(shapes), paint)
    if rng.random() < 0.4:
        spots = rng.uniform([-cut.road, 0, 2], [cut.road, 0, 40], (4, 3)) * [0.8, 0, 1]
        lids = markings(spots, np.array([0.65, 0.65]), lift=0.007)
        builder.add(lids, Material("checker", (0.1, 0.1, 0.1), (0.2, 0.2, 0.2), 0.1))
