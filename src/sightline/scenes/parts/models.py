"""Things of several materials that are made once and put down often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sightline.scenes.shapes import Shape, Vector, merge
from sightline.scenes.world import Builder, Material


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A thing of several materials, ready to be put down often: geometry with a role per part.

    Attributes:
        shape: all parts in one.
        roles: name of the role each part plays (paint, glass, tyre …).
        vertex_ends: where each part's vertices end in `shape`.
        face_ends: where each part's faces end in `shape`.
    """

    shape: Shape
    roles: tuple[str, ...]
    vertex_ends: tuple[int, ...]
    face_ends: tuple[int, ...]

    def place(
        self,
        builder: Builder,
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
            part = Shape(
                whole.vertices[v0:v1],
                whole.faces[f0:f1] - v0,
                whole.normals[v0:v1],
                whole.uv[v0:v1],
            )
            builder.add(part, paints[role])
            v0, f0 = v1, f1


def model(parts: Sequence[tuple[str, Shape]]) -> Model:
    """Make a `Model` of (role, shape) pairs; parts of one role are joined."""
    roles = tuple(dict.fromkeys(role for role, _ in parts))
    joined = [merge([s for r, s in parts if r == role]) for role in roles]
    return Model(
        merge(joined),
        roles,
        tuple(int(n) for n in np.cumsum([len(s.vertices) for s in joined])),
        tuple(int(n) for n in np.cumsum([len(s.faces) for s in joined])),
    )
