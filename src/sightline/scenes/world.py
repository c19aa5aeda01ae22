"""What a scene is made of: shapes, materials, light, and a `Builder` that puts them together.

World frame as the camera's: x right, y down, z forward, in [m]; so "up" is −y and the ground is y = 0.
Colours are linear RGB from 0 to 1. Everything that is chosen at random comes from a generator that the
caller hands in: the same seed gives the same world.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.scenes.shapes import Shape, Vector

Colour = tuple[float, float, float]

#: What a surface may look like; `textures` says what each is. `photo` takes its colours from a picture.
Pattern = Literal[
    "plain",
    "noise",
    "plaster",
    "planks",
    "brick",
    "tiles",
    "checker",
    "stripes",
    "cloth",
    "marble",
    "grass",
    "asphalt",
    "bark",
    "leaves",
    "facade",
    "water",
    "skin",
    "print",
    "photo",
]

#: No instance: what surrounds things rather than being one (ground, walls, sky).
BACKGROUND = 0


@dataclass(frozen=True, slots=True)
class Material:
    """How a surface looks.

    Attributes:
        pattern: the kind of variation over the surface.
        tint: main colour.
        second: other colour of the pattern (mortar, grout, the dark squares of a checker).
        scale: size of one unit of the pattern (a brick's length, a wave of the noise) in [m].
        seed: two materials of one pattern look different by their seeds.
        gloss: strength of the highlight, 0 (chalk) to 1 (lacquer).
        glow: light of its own, as a share of its colour: lamps, screens, windows at night.
        mirror: share of the colour that is a reflection of the surroundings; depth stays the surface's.
        clear: share of what is behind that shines through: glass. Depth stays the surface's.
        photo: for the pattern `photo`, which picture of the folder of textures (taken modulo).
    """

    pattern: Pattern = "plain"
    tint: Colour = (0.6, 0.6, 0.6)
    second: Colour = (0.3, 0.3, 0.3)
    scale: float = 1.0
    seed: int = 0
    gloss: float = 0.0
    glow: float = 0.0
    mirror: float = 0.0
    clear: float = 0.0
    photo: int = 0


@dataclass(frozen=True, slots=True)
class Sky:
    """What is seen where nothing is: infinitely far, disparity zero.

    Attributes:
        zenith: colour overhead.
        horizon: colour at eye level.
        clouds: share of the sky that is covered, 0 to 1.
        seed: of the clouds.
    """

    zenith: Colour = (0.20, 0.40, 0.85)
    horizon: Colour = (0.75, 0.85, 0.95)
    clouds: float = 0.3
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Light:
    """Where light comes from.

    Attributes:
        to_sun: (3,) unit vector towards the sun, None indoors and on dull days. Casts shadows.
        sun: colour times strength of the sun.
        lamps: (L, 3) places of the lamps, [m]; the first one casts shadows when there is no sun.
        lamp_power: (L, 3) colour times brightness of a white surface one metre away.
        above: light from all over the upper half (sky, ceiling), colour times strength.
        below: light from all over the lower half (bounced off the ground).
        fog: share of light lost per metre; what is lost is replaced by `fog_colour`.
        fog_colour: colour of the haze.
    """

    to_sun: NDArray[np.float64] | None = None
    sun: Colour = (0.0, 0.0, 0.0)
    lamps: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    lamp_power: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    above: Colour = (0.4, 0.4, 0.4)
    below: Colour = (0.2, 0.2, 0.2)
    fog: float = 0.0
    fog_colour: Colour = (0.8, 0.85, 0.9)


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A finished scene.

    Attributes:
        vertices: (V, 3) float64, [m].
        faces: (F, 3) int32.
        normals: (V, 3) float64 unit normals for shading; either side may face the camera.
        uv: (V, 2) float64 place on the surface in [m], so bricks keep their size.
        material: (F,) int32, which of `materials`.
        instance: (F,) int32, 0 for the background, else 1 + place in `kinds`.
        materials: what `material` counts.
        kinds: name of each instance: chair, car, tree, person …
        light: where light comes from.
        sky: what is seen where nothing is; None in closed rooms.
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
class View:
    """Where the camera stands and looks, before the picture's size is known.

    Attributes:
        eye: place of the camera, [m].
        target: a point it looks at, [m].
        roll: tilt of the horizon, [degrees].
        fov: horizontal field of view of a picture with the aspect 4:3, [degrees]; 35 to 100.
    """

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    roll: float = 0.0
    fov: float = 65.0


class Builder:
    """Collects shapes into one `World`.

    >>> from sightline.scenes import shapes
    >>> b = Builder()
    >>> wood = b.paint(Material("planks", (0.6, 0.4, 0.25)))
    >>> with b.thing("table"):
    ...     b.add(shapes.box([0, -0.7, 2], [1.2, 0.04, 0.8]), wood)
    ...     b.add(shapes.cylinder([0, 0, 2], 0.05, 0.7), wood)
    >>> b.finish(Light()).kinds
    ('table',)
    """

    def __init__(self) -> None:
        self._shapes: list[Shape] = []
        self._material: list[int] = []
        self._instance: list[int] = []
        self._materials: dict[Material, int] = {}
        self._kinds: list[str] = []
        self._current = BACKGROUND

    def paint(self, material: Material) -> int:
        """Enter a material and give its number; the same one twice is the same number."""
        return self._materials.setdefault(material, len(self._materials))

    def add(self, shape: Shape, material: int | Material) -> None:
        """Add a shape to the thing being built, or to the background outside of `thing`."""
        number = self.paint(material) if isinstance(material, Material) else material
        self._shapes.append(shape)
        self._material.append(number)
        self._instance.append(self._current)

    @contextmanager
    def thing(self, kind: str) -> Iterator[int]:
        """Make what is added inside one instance of this kind; an inner thing is part of the outer."""
        outer = self._current
        if outer == BACKGROUND:
            self._kinds.append(kind)
            self._current = len(self._kinds)
        try:
            yield self._current
        finally:
            self._current = outer

    def finish(self, light: Light, sky: Sky | None = None) -> World:
        """Put everything side by side into one mesh."""
        if not self._shapes:
            raise InputError("a scene without a single shape")
        starts = np.cumsum([0] + [len(s.vertices) for s in self._shapes[:-1]])
        counts = [len(s.faces) for s in self._shapes]
        faces = [s.faces + start for s, start in zip(self._shapes, starts, strict=True)]
        return World(
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


def unit(vector: Vector) -> NDArray[np.float64]:
    """Scale (3,) to length one."""
    v = np.asarray(vector, np.float64)
    return np.asarray(v / np.linalg.norm(v))
