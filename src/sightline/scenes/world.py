"""Describe a scene: meshes, materials, light and sky, and a `WorldBuilder` that collects them.

World frame as the camera's: x right, y down, z forward, in [m]; so "up" is −y and the ground is y = 0.
Colors are linear RGB from 0 to 1. Everything that is chosen at random comes from a generator that the
caller hands in: the same seed gives the same world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.scenes.meshes import TriangleMesh, Vector, merge

#: Position (x, y, z) in the world, [m].
Point = tuple[float, float, float]
#: Linear RGB, 0 to 1.
Color = tuple[float, float, float]


def as_color(values: Iterable[float]) -> Color:
    """Convert three numbers, such as an array (3,), to a color."""
    r, g, b = (float(value) for value in values)
    return r, g, b


def scale_color(color: Color, factor: float) -> Color:
    """Multiply a color by a factor."""
    return color[0] * factor, color[1] * factor, color[2] * factor


#: Patterns of a surface, described in `rendering.textures`; `photo` takes its colors from a picture.
Pattern = Literal[
    "plain", "noise", "plaster", "planks", "brick", "tiles", "checker", "stripes", "cloth",
    "marble", "grass", "asphalt", "bark", "leaves", "facade", "water", "skin", "print", "photo",
]  # fmt: skip

#: Instance number of the background: ground, walls, sky.
BACKGROUND = 0


@dataclass(frozen=True, slots=True)
class Material:
    """Appearance of a surface.

    Attributes:
        pattern: variation over the surface.
        tint: main color.
        second: other color of the pattern (mortar, grout, dark squares of a checker).
        scale: size of one unit of the pattern (length of a brick, a wave of the noise), [m].
        seed: random seed of the pattern.
        gloss: strength of the highlight, 0 (chalk) to 1 (lacquer).
        glow: emitted light as a share of the color: lamps, screens, windows at night.
        mirror: share of reflected surroundings in the color, 0 to 1.
        clear: share of transmitted light, 0 to 1: glass.
        photo: number of the picture for the pattern `photo`, modulo the number of pictures.
    """

    pattern: Pattern = "plain"
    tint: Color = (0.6, 0.6, 0.6)
    second: Color = (0.3, 0.3, 0.3)
    scale: float = 1.0
    seed: int = 0
    gloss: float = 0.0
    glow: float = 0.0
    mirror: float = 0.0
    clear: float = 0.0
    photo: int = 0


@dataclass(frozen=True, slots=True)
class Sky:
    """The sky: infinitely far, disparity zero.

    Attributes:
        zenith: color overhead.
        horizon: color at eye level.
        clouds: share of the sky that is covered, 0 to 1.
        seed: random seed of the clouds.
    """

    zenith: Color = (0.20, 0.40, 0.85)
    horizon: Color = (0.75, 0.85, 0.95)
    clouds: float = 0.3
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Light:
    """Light sources and fog.

    Attributes:
        to_sun: (3,) unit vector toward the sun, which casts shadows; None without a sun.
        sun: color times strength of the sun.
        lamps: (L, 3) positions of the lamps, [m]; without a sun the first one casts shadows.
        lamp_power: (L, 3) color times brightness of a white surface at 1 m.
        above: ambient light from the upper hemisphere (sky, ceiling), color times strength.
        below: ambient light from the lower hemisphere (bounced off the ground).
        fog: share of light lost per meter; it is replaced by `fog_color`.
        fog_color: color of the haze.
    """

    to_sun: NDArray[np.float64] | None = None
    sun: Color = (0.0, 0.0, 0.0)
    lamps: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    lamp_power: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    above: Color = (0.4, 0.4, 0.4)
    below: Color = (0.2, 0.2, 0.2)
    fog: float = 0.0
    fog_color: Color = (0.8, 0.85, 0.9)


@dataclass(frozen=True, slots=True, eq=False)
class SceneWorld:
    """A finished scene: one mesh with materials, instances, light and sky.

    Attributes:
        vertices: (V, 3) float64, [m].
        faces: (F, 3) int32.
        normals: (V, 3) float64 unit normals for shading; either side may face the camera.
        uv: (V, 2) float64 texture coordinates along the surface, [m].
        material: (F,) int32 index into `materials`.
        instance: (F,) int32; 0 for the background, else 1 + index into `kinds`.
        materials: all materials.
        kinds: name of each instance: chair, car, tree, person …
        light: light sources and fog.
        sky: the sky; None in closed rooms.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]
    normals: NDArray[np.float64]
    uv: NDArray[np.float64]
    material: NDArray[np.int32]
    instance: NDArray[np.int32]
    materials: tuple[Material, ...]
    kinds: tuple[str, ...]
    light: Light
    sky: Sky | None


@dataclass(frozen=True, slots=True)
class CameraView:
    """Position, direction and field of view of a camera, before the picture size is known.

    Attributes:
        eye: position of the camera, [m].
        target: point that it looks at, [m].
        roll: roll about the optical axis, [degrees].
        fov: horizontal field of view of a 4:3 picture, [degrees]; 35 to 100.
    """

    eye: Point
    target: Point
    roll: float = 0.0
    fov: float = 65.0


#: Builds a scene: the world and the view of a camera in it.
SceneBuilder = Callable[[np.random.Generator], tuple[SceneWorld, CameraView]]


@dataclass(frozen=True, slots=True)
class SceneKind:
    """A kind of scene.

    Attributes:
        name: room, street, nature …
        build: builds a scene of this kind from a random generator.
        weight: relative frequency among the requested kinds.
        default: whether the kind belongs to the default mix.
        may_be_flat: whether views without depth or contrast are accepted: sky alone, a plain wall.
        rank: position in the list of kinds. Which kind a scene gets depends on the order of the
            list, so the rank of a kind must not change.
    """

    name: str
    build: SceneBuilder
    weight: float
    default: bool = False
    may_be_flat: bool = False
    rank: int = 100


class WorldBuilder:
    """Collect meshes into one `SceneWorld`.

    >>> from sightline.scenes import meshes
    >>> builder = WorldBuilder()
    >>> wood = Material("planks", (0.6, 0.4, 0.25))
    >>> with builder.instance("table"):
    ...     builder.add(meshes.box([0, -0.7, 2], [1.2, 0.04, 0.8]), wood)
    ...     builder.add(meshes.cylinder([0, 0, 2], 0.05, 0.7), wood)
    >>> builder.finish(Light()).kinds
    ('table',)
    """

    def __init__(self) -> None:
        self._shapes: list[TriangleMesh] = []
        self._material: list[int] = []
        self._instance: list[int] = []
        self._materials: dict[Material, int] = {}
        self._kinds: list[str] = []
        self._current = BACKGROUND

    def paint(self, material: Material) -> int:
        """Register a material and return its number; equal materials share a number."""
        return self._materials.setdefault(material, len(self._materials))

    def add(self, shape: TriangleMesh, material: int | Material) -> None:
        """Add a mesh to the current instance, or to the background outside of `instance`."""
        number = self.paint(material) if isinstance(material, Material) else material
        self._shapes.append(shape)
        self._material.append(number)
        self._instance.append(self._current)

    @contextmanager
    def instance(self, kind: str) -> Iterator[int]:
        """Make everything added inside one instance of this kind; nested ones join the outer one."""
        outer = self._current
        if outer == BACKGROUND:
            self._kinds.append(kind)
            self._current = len(self._kinds)
        try:
            yield self._current
        finally:
            self._current = outer

    def finish(self, light: Light, sky: Sky | None = None) -> SceneWorld:
        """Merge all meshes and return the world."""
        if not self._shapes:
            raise InputError("a scene without a single shape")
        starts = np.cumsum([0] + [len(s.vertices) for s in self._shapes[:-1]])
        counts = [len(s.faces) for s in self._shapes]
        faces = [s.faces + start for s, start in zip(self._shapes, starts, strict=True)]
        return SceneWorld(
            vertices=np.concatenate([s.vertices for s in self._shapes]),
            faces=np.concatenate(faces).astype(np.int32),
            normals=np.concatenate([s.normals for s in self._shapes]),
            uv=np.concatenate([s.uv for s in self._shapes]),
            material=np.repeat(np.array(self._material, np.int32), counts),
            instance=np.repeat(np.array(self._instance, np.int32), counts),
            materials=tuple(self._materials),
            kinds=tuple(self._kinds),
            light=light,
            sky=sky,
        )


def unit_vector(vector: Vector) -> NDArray[np.float64]:
    """Normalize a (3,) vector."""
    v = np.asarray(vector, np.float64)
    return np.asarray(v / np.linalg.norm(v))


@dataclass(frozen=True, slots=True, eq=False)
class PartModel:
    """A model of several materials that is placed often: one mesh with a role per part.

    Attributes:
        shape: all parts in one.
        roles: name of the role each part plays (paint, glass, tire …).
        vertex_ends: where each part's vertices end in `shape`.
        face_ends: where each part's faces end in `shape`.
    """

    shape: TriangleMesh
    roles: tuple[str, ...]
    vertex_ends: tuple[int, ...]
    face_ends: tuple[int, ...]

    def place(
        self,
        builder: WorldBuilder,
        paints: Mapping[str, int | Material],
        to: Vector,
        *,
        yaw: float = 0.0,
        scale: float | Vector = 1.0,
        lean: float = 0.0,
    ) -> None:
        """Add it to a builder: `paints` gives a material for each role, `lean` a roll in [degrees]."""
        whole = self.shape.moved(to, yaw=yaw, roll=lean, scale=scale)
        v0 = f0 = 0
        for role, v1, f1 in zip(self.roles, self.vertex_ends, self.face_ends, strict=True):
            part = TriangleMesh(
                whole.vertices[v0:v1],
                whole.faces[f0:f1] - v0,
                whole.normals[v0:v1],
                whole.uv[v0:v1],
            )
            builder.add(part, paints[role])
            v0, f0 = v1, f1


def make_model(parts: Sequence[tuple[str, TriangleMesh]]) -> PartModel:
    """Make a `Model` of (role, shape) pairs; parts of one role are joined."""
    roles = tuple(dict.fromkeys(role for role, _ in parts))
    joined = [merge([s for r, s in parts if r == role]) for role in roles]
    return PartModel(
        merge(joined),
        roles,
        tuple(int(n) for n in np.cumsum([len(s.vertices) for s in joined])),
        tuple(int(n) for n in np.cumsum([len(s.faces) for s in joined])),
    )
