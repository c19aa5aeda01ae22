"""Fewer triangles: quadric edge collapse (Garland and Heckbert, 1997) for a family of bodies at once.

Every body of the library has the same triangles, so what is collapsed is judged on several shapes
together, and a vertex is only ever moved onto a neighbor: those that stay are vertices of the input,
with their skinning weights, in every body. What a later level keeps, the earlier ones have too.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

#: How hard a border between regions, or the rim of a hole, resists being bent.
BORDER = 4.0


class Collapser:
    """Triangles that are taken away one edge at a time.

    Args:
        shapes: (S, V, 3) the same mesh in several shapes, [m].
        faces: (F, 3) corners, the same for all.
        labels: (F,) regions whose borders should keep their course.
        weights: (F,) how much an error on each face counts.
        fixed: vertices that stay whatever happens.
    """

    def __init__(
        self,
        shapes: NDArray[np.float64],
        faces: NDArray[np.int64],
        labels: NDArray[np.int64],
        weights: NDArray[np.float64],
        fixed: NDArray[np.int64],
    ) -> None:
        self.shapes = shapes
        self.fixed = {int(v) for v in fixed}
        self.faces = faces.copy()
        self.labels = labels
        self.alive = np.ones(len(faces), bool)
        self.around: list[set[int]] = [set() for _ in range(shapes.shape[1])]
        for number, corners in enumerate(faces):
            for corner in corners:
                self.around[corner].add(number)
        self.quadric = self._quadrics(weights)
        self.version = np.zeros(shapes.shape[1], np.int64)
        self.heap: list[tuple[float, int, int, int, int]] = []
        for u in range(shapes.shape[1]):
            self._offer(u)

    def _quadrics(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(S, V, 4, 4) sum of squared distances from the planes around each vertex."""
        out = np.zeros((*self.shapes.shape[:2], 4, 4))
        for shape, quadric in zip(self.shapes, out, strict=True):
            a, b, c = (shape[self.faces[:, k]] for k in range(3))
            normal = np.cross(b - a, c - a)
            double_area = np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
            normal /= double_area
            share = weights * double_area[:, 0] / 6
            for k in range(3):
                np.add.at(quadric, self.faces[:, k], _planes(normal, a, share))
            for u, v, face in self._border_edges():
                along = shape[v] - shape[u]
                across = np.cross(along, normal[face])
                across /= max(float(np.linalg.norm(across)), 1e-12)
                share_here = np.array([BORDER * weights[face] * float(along @ along)])
                wall = _planes(across[None], shape[u][None], share_here)[0]
                quadric[u] += wall
                quadric[v] += wall
        return out

    def _border_edges(self) -> list[tuple[int, int, int]]:
        """Edges with one face, or with two of different labels: (vertex, vertex, face)."""
        owner: dict[tuple[int, int], list[int]] = {}
        for number, corners in enumerate(self.faces):
            for k in range(3):
                u, v = int(corners[k]), int(corners[(k + 1) % 3])
                owner.setdefault((min(u, v), max(u, v)), []).append(number)
        return [
            (u, v, faces[0])
            for (u, v), faces in owner.items()
            if len({int(self.labels[f]) for f in faces}) > 1 or len(faces) == 1
        ]

    def _neighbors(self, u: int) -> set[int]:
        return {int(x) for f in self.around[u] for x in self.faces[f]} - {u}

    def _offer(self, u: int, onto: set[int] | None = None) -> None:
        """Put the collapses of `u` onto these neighbors, or all of them, into the queue."""
        near = np.fromiter(sorted(self._neighbors(u) if onto is None else onto), np.int64)
        if not len(near):
            return
        both = self.quadric[:, u, None] + self.quadric[:, near]
        place = np.concatenate([self.shapes[:, near], np.ones((len(self.shapes), len(near), 1))], 2)
        cost = np.einsum("sni,snij,snj->n", place, both, place)
        # The length keeps flat places from collapsing into slivers.
        cost = cost + 1e-7 * ((self.shapes[:, near] - self.shapes[:, u, None]) ** 2).sum((0, 2))
        for v, c in zip(near, cost, strict=True):
            entry = (float(c), u, int(v), int(self.version[u]), int(self.version[v]))
            heapq.heappush(self.heap, entry)

    def _allowed(self, u: int, v: int) -> bool:
        """Tell whether the surface stays a surface and no triangle turns over."""
        if u in self.fixed:
            return False
        shared = self.around[u] & self.around[v]
        common = self._neighbors(u) & self._neighbors(v)
        if not shared or len(common) != len(shared):
            return False
        border_u = any(len(self.around[u] & self.around[w]) == 1 for w in self._neighbors(u))
        if border_u and len(shared) == 2:
            return False
        moved = np.array(sorted(self.around[u] - shared), np.int64)
        if not len(moved):
            return False
        before = self.faces[moved]
        after = np.where(before == u, v, before)
        for shape in self.shapes:
            old, new = (
                np.cross(shape[f[:, 1]] - shape[f[:, 0]], shape[f[:, 2]] - shape[f[:, 0]])
                for f in (before, after)
            )
            length = np.linalg.norm(old, axis=1) * np.linalg.norm(new, axis=1)
            if ((old * new).sum(1) <= 0.2 * length).any():
                return False
        return True

    def run(self, target: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Collapse until at most `target` faces are left; give (F, 3) faces and (F,) labels."""
        left = int(self.alive.sum())
        while left > target and self.heap:
            _, u, v, was_u, was_v = heapq.heappop(self.heap)
            if (self.version[u], self.version[v]) != (was_u, was_v) or not self._allowed(u, v):
                continue
            gone = self.around[u] & self.around[v]
            for f in gone:
                self.alive[f] = False
                for x in self.faces[f]:
                    self.around[x].discard(f)
            for f in self.around[u]:
                self.faces[f][self.faces[f] == u] = v
                self.around[v].add(f)
            self.around[u] = set()
            left -= len(gone)
            self.quadric[:, v] += self.quadric[:, u]
            self.version[[u, v]] += 1
            self._offer(v)
            for w in self._neighbors(v):
                self._offer(w, {v})
        return self.faces[self.alive], self.labels[self.alive]


def _planes(
    normal: NDArray[np.float64], point: NDArray[np.float64], share: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(N, 4, 4) quadrics of planes through (N, 3) points."""
    plane = np.concatenate([normal, -(normal * point).sum(1, keepdims=True)], 1)
    return np.asarray(plane[:, :, None] * plane[:, None] * share[:, None, None])
