"""Layers over a body: the skin of some regions, or cloth that stands off from it, as a `Shape`.

A layer takes the body's own vertices, moved outwards along their normals, so it follows every pose;
a seam between two layers of one thickness does not show.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.bodies import REGIONS, Detail, topology
from sightline.scenes.figures import Figure
from sightline.scenes.shapes import Shape

ARM = ("shoulder", "upper_arm", "forearm", "hand")


def normals_of(vertices: NDArray[np.float64], faces: NDArray[np.int32]) -> NDArray[np.float64]:
    """(V, 3) unit normals, faces weighted by their area; +y where a vertex has no face."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    u, v = b - a, c - a
    across = np.stack(
        [
            u[:, 1] * v[:, 2] - u[:, 2] * v[:, 1],
            u[:, 2] * v[:, 0] - u[:, 0] * v[:, 2],
            u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0],
        ]
    )
    corners = faces.T.ravel()
    summed = np.stack(
        [np.bincount(corners, np.tile(part, 3), len(vertices)) for part in across], -1
    )
    length = np.sqrt((summed * summed).sum(1, keepdims=True))
    return np.where(length > 0, summed / np.maximum(length, 1e-12), [0.0, 1.0, 0.0])


@functools.cache
def patch(detail: Detail, *regions: str) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Vertices (N,) of some regions, and (F, 3) faces that count in them."""
    shared = topology()
    chosen = np.isin(shared.region[detail], [REGIONS.index(name) for name in regions])
    own, place = np.unique(shared.faces[detail][chosen], return_inverse=True)
    return own.astype(np.intp), place.reshape(-1, 3).astype(np.int32)


class Skin:
    """The surface of one figure, from which layers are taken.

    Args:
        figure: body and pose.
        detail: how fine.
        crumple: height of the folds of cloth over it, [m].
        phase: where the folds lie.
    """

    def __init__(
        self, figure: Figure, detail: Detail, *, crumple: float = 0.0, phase: float = 0.0
    ) -> None:
        self.figure = figure
        self.detail: Detail = detail
        faces = topology().faces[detail]
        self.normals = normals_of(figure.vertices, faces)
        rest = figure.body.vertices[: len(figure.vertices)]
        self.folds = crumple * folds(rest, phase)
        folded = figure.vertices + self.folds[:, None] * self.normals
        # Of the whole surface, so that the seam of a sleeve does not show.
        self.folded_normals = normals_of(folded, faces)

    def layer(
        self,
        *regions: str,
        thickness: float | NDArray[np.float64] = 0.0,
        folded: bool = False,
    ) -> Shape:
        """Make a layer over some regions.

        Args:
            regions: names of `REGIONS`; arms are textured along the sleeve, the rest by height.
            thickness: how far it stands off, [m]; one, or (V,) for all vertices of the body.
            folded: with the folds of cloth.
        """
        own, faces = patch(self.detail, *regions)
        normals = self.normals[own]
        uneven = isinstance(thickness, np.ndarray)
        off = thickness[own, None] if isinstance(thickness, np.ndarray) else thickness
        if folded:
            off = off + self.folds[own, None]
        points = self.figure.vertices[own] + off * normals
        if uneven:
            normals = normals_of(points, faces)
        elif folded:
            normals = self.folded_normals[own]
        uv = _cloth_uv(self.figure.body.vertices[own], regions[0] in ARM)
        return Shape(points, faces, normals, uv)


def folds(rest: NDArray[np.float64], phase: float) -> NDArray[np.float64]:
    """(N,) folds between −1 and 1: a few waves across each other."""
    x, y, z = rest.T
    slant = np.sin(31 * y + 17 * np.abs(x) + 9 * z + phase) + np.sin(47 * y - 29 * x + 2.3 * phase)
    return np.asarray(0.5 * slant * np.sin(11 * x + 19 * z + 1.7 * phase))


def _cloth_uv(rest: NDArray[np.float64], sleeve: bool) -> NDArray[np.float64]:
    """(N, 2) place on the cloth, [m]: v runs down the body, or along the arm from the shoulder."""
    x, y, z = rest.T
    if sleeve:
        return np.stack([1.3 * z + 0.4 * (np.abs(x) - y), 0.7 * (np.abs(x) + y)], -1)
    return np.stack([x + 0.5 * z, y], -1)
