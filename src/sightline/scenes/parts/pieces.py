"""A `Piece` is a thing before it has a place; a `Stage` is where pieces are put, and what is taken.

A piece stands on the origin of its own frame, centred on x = z = 0, its front towards −z (towards a
camera that looks along +z). Lengths in [m], angles in [degrees].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.shapes import Shape, merge, rotation
from sightline.scenes.world import Builder, Material

Parts = list[tuple[Shape, Material]]


@dataclass(frozen=True, slots=True)
class Top:
    """A level rectangle on a piece that things may stand on.

    Attributes:
        height: above the foot of the piece.
        x: (low, high) of the rectangle across.
        z: (low, high) of the rectangle forward.
        room: free height above it.
    """

    height: float
    x: tuple[float, float]
    z: tuple[float, float]
    room: float = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A thing in its own frame.

    Attributes:
        kind: plain English name: chair, cup.
        parts: shapes with their materials.
        size: (width along x, height, depth along z).
        tops: where other things may stand.
        scale: by which `parts` are still to be scaled along (x, y, z); size and tops already are.
    """

    kind: str
    parts: Parts
    size: tuple[float, float, float]
    tops: tuple[Top, ...] = ()
    scale: tuple[float, float, float] | None = None


def made(kind: str, parts: Parts, tops: tuple[Top, ...] = ()) -> Piece:
    """Make a piece, measuring its size; shapes of one material become one shape."""
    groups: dict[Material, list[Shape]] = {}
    for shape, material in parts:
        groups.setdefault(material, []).append(shape)
    joined = [
        (shapes[0] if len(shapes) == 1 else merge(shapes), material)
        for material, shapes in groups.items()
    ]
    reach = np.stack([np.abs(shape.vertices).max(0) for shape, _ in joined]).max(0)
    height = -min(float(shape.vertices[:, 1].min()) for shape, _ in joined)
    return Piece(kind, joined, (2 * float(reach[0]), height, 2 * float(reach[2])), tops)


def moved(piece: Piece, at: tuple[float, float, float], yaw: float) -> Parts:
    """Bring the parts of a piece to their place, as `Shape.moved` would one by one."""
    turn = rotation(yaw).T
    to = np.array(at)
    if piece.scale is None:
        return [
            (Shape(s.vertices @ turn + to, s.faces, s.normals @ turn, s.uv), m)
            for s, m in piece.parts
        ]
    factors = np.array(piece.scale)
    size = float(np.cbrt(factors.prod()))
    matrix, inverse = factors[:, None] * turn, turn / factors[:, None]
    result: Parts = []
    for shape, material in piece.parts:
        normals = shape.normals @ inverse
        normals /= np.sqrt(np.einsum("ij,ij->i", normals, normals))[:, None]
        vertices = shape.vertices @ matrix + to
        result.append((Shape(vertices, shape.faces, normals, shape.uv * size), material))
    return result


def turned(x: float, z: float, yaw: float) -> tuple[float, float]:
    """Turn (x, z) about the vertical as `Shape.moved` does."""
    cos, sin = math.cos(math.radians(yaw)), math.sin(math.radians(yaw))
    return cos * x + sin * z, -sin * x + cos * z


def facing(x: float, z: float) -> float:
    """Yaw that turns a piece's front towards the direction (x, z)."""
    return math.degrees(math.atan2(-x, -z))


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A piece at its place: foot (x, y, z), yaw, and box (2, 3) of lowest and highest corner."""

    piece: Piece
    at: tuple[float, float, float]
    yaw: float
    bounds: NDArray[np.float64]

    def point(self, x: float, height: float, z: float) -> tuple[float, float, float]:
        """Give the place in the world of a point of the piece's own frame."""
        across, forward = turned(x, z, self.yaw)
        return self.at[0] + across, self.at[1] - height, self.at[2] + forward


class Stage:
    """A builder that remembers where things stand, so that neither they nor the camera collide.

    `area` is the floor as x from, x to, z from, z to, or None without limits.
    """

    def __init__(self, area: tuple[float, float, float, float] | None = None) -> None:
        self.area = area
        self.builder = Builder()
        self.placed: list[Placed] = []
        self.reserved: list[NDArray[np.float64]] = []

    def put(
        self, piece: Piece, x: float, z: float, *, height: float = 0.0, yaw: float = 0.0
    ) -> Placed:
        """Stand a piece with its foot at (x, z), `height` above the ground, as one instance."""
        at = (x, -height, z)
        with self.builder.thing(piece.kind):
            for shape, material in moved(piece, at, yaw):
                self.builder.add(shape, material)
        put = Placed(piece, at, yaw, box_of(piece, at, yaw))
        self.placed.append(put)
        return put

    def is_free(
        self, bounds: NDArray[np.float64], gap: float = 0.02, *, but: Placed | None = None
    ) -> bool:
        """Tell whether a box (2, 3) is clear by `gap` of all that was put (`but` one) or reserved."""
        taken = np.array([*(p.bounds for p in self.placed if p is not but), *self.reserved])
        if not len(taken):
            return True
        apart = (bounds[0] >= taken[:, 1] + gap) | (bounds[1] <= taken[:, 0] - gap)
        return bool(apart.any(1).all())

    def try_put(
        self, piece: Piece, x: float, z: float, *, yaw: float = 0.0, under: Placed | None = None
    ) -> Placed | None:
        """Stand a piece on the ground unless something is in the way, apart from what it goes under."""
        bounds = box_of(piece, (x, 0.0, z), yaw)
        inside = self.area is None or (
            self.area[0] <= bounds[0, 0]
            and bounds[1, 0] <= self.area[1]
            and self.area[2] <= bounds[0, 2]
            and bounds[1, 2] <= self.area[3]
        )
        if not inside or not self.is_free(bounds, -0.02, but=under):
            return None
        return self.put(piece, x, z, yaw=yaw)

    def boxes(self) -> NDArray[np.float64]:
        """(N, 2, 3) lowest and highest corners of everything put so far."""
        return np.stack([p.bounds for p in self.placed]) if self.placed else np.zeros((0, 2, 3))


def box_of(piece: Piece, at: tuple[float, float, float], yaw: float) -> NDArray[np.float64]:
    """(2, 3) upright box around a piece at its place."""
    cos, sin = abs(math.cos(math.radians(yaw))), abs(math.sin(math.radians(yaw)))
    width, height, depth = piece.size
    x, z = (cos * width + sin * depth) / 2, (sin * width + cos * depth) / 2
    return np.array([[at[0] - x, at[1] - height, at[2] - z], [at[0] + x, at[1], at[2] + z]])
