"""Place props: a `Prop` is an object before it has a position, a `PropLayout` tracks placed ones.

A prop stands on the origin of its own frame, centered on x = z = 0, its front toward −z (toward a
camera that looks along +z). Building a prop costs as much as placing twenty, so each prop maker has a
fixed number of cached variants; a scene stretches and recolors them. Lengths in [m], angles in
[degrees].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.materials import seed
from sightline.scenes.meshes import TriangleMesh, merge, rotation
from sightline.scenes.sampling import Random, between, chance, pick
from sightline.scenes.world import Color, Material, WorldBuilder

Parts = list[tuple[TriangleMesh, Material]]


@dataclass(frozen=True, slots=True)
class SupportSurface:
    """A level rectangle of a prop that items may stand on.

    Attributes:
        height: height above the foot of the prop.
        x: (low, high) of the rectangle across.
        z: (low, high) of the rectangle forward.
        room: free height above it.
    """

    height: float
    x: tuple[float, float]
    z: tuple[float, float]
    room: float = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class Prop:
    """An object in its own frame.

    Attributes:
        kind: plain English name: chair, cup.
        parts: shapes with their materials.
        size: (width along x, height, depth along z).
        tops: surfaces that items may stand on.
        scale: scale still to be applied to `parts` along (x, y, z); size and tops are scaled already.
    """

    kind: str
    parts: Parts
    size: tuple[float, float, float]
    tops: tuple[SupportSurface, ...] = ()
    scale: tuple[float, float, float] | None = None


def make_prop(kind: str, parts: Parts, tops: tuple[SupportSurface, ...] = ()) -> Prop:
    """Make a prop and measure its size; meshes of one material are merged."""
    groups: dict[Material, list[TriangleMesh]] = {}
    for shape, material in parts:
        groups.setdefault(material, []).append(shape)
    joined = [
        (shapes[0] if len(shapes) == 1 else merge(shapes), material)
        for material, shapes in groups.items()
    ]
    reach = np.stack([np.abs(shape.vertices).max(0) for shape, _ in joined]).max(0)
    height = -min(float(shape.vertices[:, 1].min()) for shape, _ in joined)
    return Prop(kind, joined, (2 * float(reach[0]), height, 2 * float(reach[2])), tops)


def placed_parts(prop: Prop, at: tuple[float, float, float], yaw: float) -> Parts:
    """Return the parts of a prop moved to a position, as `TriangleMesh.moved` would one by one."""
    turn = rotation(yaw).T
    to = np.array(at)
    if prop.scale is None:
        return [
            (TriangleMesh(s.vertices @ turn + to, s.faces, s.normals @ turn, s.uv), m)
            for s, m in prop.parts
        ]
    factors = np.array(prop.scale)
    size = float(np.cbrt(factors.prod()))
    matrix, inverse = factors[:, None] * turn, turn / factors[:, None]
    result: Parts = []
    for shape, material in prop.parts:
        normals = shape.normals @ inverse
        normals /= np.sqrt(np.einsum("ij,ij->i", normals, normals))[:, None]
        vertices = shape.vertices @ matrix + to
        result.append((TriangleMesh(vertices, shape.faces, normals, shape.uv * size), material))
    return result


def rotate_xz(x: float, z: float, yaw: float) -> tuple[float, float]:
    """Rotate (x, z) about the vertical as `TriangleMesh.moved` does."""
    cos, sin = math.cos(math.radians(yaw)), math.sin(math.radians(yaw))
    return cos * x + sin * z, -sin * x + cos * z


def yaw_towards(x: float, z: float) -> float:
    """Return the yaw that turns the front of a prop toward the direction (x, z)."""
    return math.degrees(math.atan2(-x, -z))


@dataclass(frozen=True, slots=True, eq=False)
class PlacedProp:
    """A prop at its position: foot (x, y, z), yaw, and (2, 3) bounding box."""

    prop: Prop
    at: tuple[float, float, float]
    yaw: float
    bounds: NDArray[np.float64]

    def point(self, x: float, height: float, z: float) -> tuple[float, float, float]:
        """Return the position in the world of a point of the prop's own frame."""
        across, forward = rotate_xz(x, z, self.yaw)
        return self.at[0] + across, self.at[1] - height, self.at[2] + forward


class PropLayout:
    """A world builder that tracks occupied space, so that props and cameras do not collide.

    `area` is the floor as x from, x to, z from, z to, or None without limits.
    """

    def __init__(self, area: tuple[float, float, float, float] | None = None) -> None:
        self.area = area
        self.builder = WorldBuilder()
        self.placed: list[PlacedProp] = []
        self.reserved: list[NDArray[np.float64]] = []

    def put(
        self, prop: Prop, x: float, z: float, *, height: float = 0.0, yaw: float = 0.0
    ) -> PlacedProp:
        """Place a prop with its foot at (x, z), `height` above the ground, as one instance."""
        at = (x, -height, z)
        with self.builder.instance(prop.kind):
            for shape, material in placed_parts(prop, at, yaw):
                self.builder.add(shape, material)
        put = PlacedProp(prop, at, yaw, bounding_box(prop, at, yaw))
        self.placed.append(put)
        return put

    def is_free(
        self, bounds: NDArray[np.float64], gap: float = 0.02, *, but: PlacedProp | None = None
    ) -> bool:
        """Return whether a box (2, 3) keeps `gap` to placed props (`but` one) and reserved space."""
        taken = np.array([*(p.bounds for p in self.placed if p is not but), *self.reserved])
        if not len(taken):
            return True
        apart = (bounds[0] >= taken[:, 1] + gap) | (bounds[1] <= taken[:, 0] - gap)
        return bool(apart.any(1).all())

    def try_put(
        self, prop: Prop, x: float, z: float, *, yaw: float = 0.0, under: PlacedProp | None = None
    ) -> PlacedProp | None:
        """Place a prop on the ground if the space is free, ignoring the prop it goes under."""
        bounds = bounding_box(prop, (x, 0.0, z), yaw)
        inside = self.area is None or (
            self.area[0] <= bounds[0, 0]
            and bounds[1, 0] <= self.area[1]
            and self.area[2] <= bounds[0, 2]
            and bounds[1, 2] <= self.area[3]
        )
        if not inside or not self.is_free(bounds, -0.02, but=under):
            return None
        return self.put(prop, x, z, yaw=yaw)

    def boxes(self) -> NDArray[np.float64]:
        """Return (N, 2, 3) bounding boxes of all placed props."""
        return np.stack([p.bounds for p in self.placed]) if self.placed else np.zeros((0, 2, 3))


def bounding_box(prop: Prop, at: tuple[float, float, float], yaw: float) -> NDArray[np.float64]:
    """Return the (2, 3) axis-aligned box around a prop at its position."""
    cos, sin = abs(math.cos(math.radians(yaw))), abs(math.sin(math.radians(yaw)))
    width, height, depth = prop.size
    x, z = (cos * width + sin * depth) / 2, (sin * width + cos * depth) / 2
    return np.array([[at[0] - x, at[1] - height, at[2] - z], [at[0] + x, at[1], at[2] + z]])


PropMaker = Callable[[Random], Prop]

#: Shapes per prop maker. Some 2,000 props of 20 kB are cached: about 40 MB per process.
PROP_VARIANTS = 24

_CHANNEL_ORDERS = tuple(permutations(range(3)))
_STREAMS: dict[PropMaker, int] = {}

_Maker = TypeVar("_Maker", bound=PropMaker)


def prop_maker(stream: int) -> Callable[[_Maker], _Maker]:
    """Register a function that builds a prop, under the fixed random stream of its variants.

    Args:
        stream: any number that no other maker uses. Scenes depend on it, so it must never change.
    """

    def register(maker: _Maker) -> _Maker:
        _STREAMS[maker] = stream
        return maker

    return register


@lru_cache(maxsize=2048)
def prop_variant(maker: PropMaker, number: int) -> Prop:
    """Return variant `number` of a registered maker; always the same object, so do not modify it."""
    return maker(np.random.default_rng([number, _STREAMS[maker]]))


def sample_prop(
    rng: Random, maker: PropMaker, *, stretch: float = 0.12, recolor: bool = True
) -> Prop:
    """Sample a variant of a prop, stretched and recolored.

    Args:
        rng: random generator.
        maker: a function decorated with `prop_maker`, such as `furniture.chair`.
        stretch: largest relative change of width, height and depth.
        recolor: permute and fade color channels; otherwise only brighten or darken.
    """
    made = prop_variant(maker, int(rng.integers(PROP_VARIANTS)))
    order = pick(rng, _CHANNEL_ORDERS) if recolor and chance(rng, 0.4) else (0, 1, 2)
    shift, fade = between(rng, 0.65, 1.35), between(rng, 0.0, 0.4) if recolor else 0.0
    photo = seed(rng)
    parts = [(shape, _recolored(m, order, shift, fade, photo)) for shape, m in made.parts]
    factors = 1.0 + stretch * (2 * rng.random(3) - 1)
    return resize_prop(replace(made, parts=parts), *factors.tolist())


def _recolored(
    material: Material, order: tuple[int, ...], shift: float, fade: float, photo: int
) -> Material:
    """Permute, brighten and fade color channels; keep glass, lamps and mirrors."""
    if material.clear or material.glow or material.mirror > 0.7:
        return material

    def other(tint: Color) -> Color:
        mean = fade * sum(tint) / 3
        r, g, b = (min(0.97, max(0.01, (tint[k] * (1 - fade) + mean) * shift)) for k in order)
        return r, g, b

    return Material(
        material.pattern,
        other(material.tint),
        other(material.second),
        material.scale,
        (material.seed ^ photo) & 0x3FFFFFFF,
        material.gloss,
        mirror=material.mirror,
        photo=(material.photo ^ photo) & 0x3FFFFFFF,
    )


def resize_prop(prop: Prop, x: float, y: float, z: float) -> Prop:
    """Stretch a prop along its own axes."""
    before = prop.scale or (1.0, 1.0, 1.0)
    tops = tuple(
        SupportSurface(t.height * y, (t.x[0] * x, t.x[1] * x), (t.z[0] * z, t.z[1] * z), t.room)
        for t in prop.tops
    )
    wide, high, deep = prop.size
    scale = (before[0] * x, before[1] * y, before[2] * z)
    return replace(prop, size=(wide * x, high * y, deep * z), tops=tops, scale=scale)
