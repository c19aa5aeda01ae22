"""The surface of anny's body: what of it is seen, which region each face belongs to, landmarks.

All is found once, on one adult at rest in our frame (x to the right, y down, z forward, feet on y = 0);
every body has the same faces.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from sightline.rasterize import rasterize
from sightline.scenes.camera import look_at
from sightline.scenes.meshes import merge, sphere
from sightline.scenes.people.bodies import JOINTS, LANDMARKS, REGIONS
from sightline.scenes.people.poses import offset
from sightline.types import Camera

#: The hairline: height above the eyes over the distance behind them, on a head of average size, [m].
HAIRLINE = np.array(
    [[-0.04, 0.075], [0.0, 0.065], [0.035, 0.055], [0.055, 0.03], [0.07, -0.005], [0.085, 0.0],
     [0.09, 0.04], [0.105, 0.04], [0.118, -0.02], [0.13, -0.075], [0.2, -0.09]]
)  # fmt: skip

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def regions(
    body: Floats, joints: dict[str, Floats], eye: Floats, faces: Ints, pull: Floats
) -> Ints:
    """(F,) region of each face of an adult at rest; `pull` (V, J) is how joints move vertices.

    The two halves of a square go together: squares lie in rings around limbs, and so do hems then.
    """
    square = _squares(faces)
    size = np.bincount(square)[:, None]
    middle, share = (
        np.stack([np.bincount(square, column) for column in values[faces].mean(1).T], -1) / size
        for values in (body, pull)
    )
    stems = [name.partition(".")[0] for name in JOINTS]
    size_of_body = -body[:, 1].min() / 1.8
    out = np.zeros(len(middle), np.int64)
    for k, (point, joint) in enumerate(zip(middle, share.argmax(1), strict=True)):
        side = "L" if point[0] < 0 else "R"
        sided = {n: f"{n}.{side}" for n in stems}
        at = {n: joints[sided[n] if sided[n] in joints else n] for n in stems}
        out[k] = REGIONS.index(_region(point, stems[joint], at, eye, size_of_body))
    return np.asarray(out[square])


def _squares(faces: Ints) -> Ints:
    """(F,) numbers that two faces share which were one square: they follow each other."""
    shared = (faces[:-1, :, None] == faces[1:, None]).any(2).sum(1) == 2
    out, number, k = np.zeros(len(faces), np.int64), 0, 0
    while k < len(faces):
        pair = k < len(shared) and shared[k]
        out[k : k + 1 + pair] = number
        number, k = number + 1, k + 1 + pair
    return out


def _region(p: Floats, name: str, at: dict[str, Floats], eye: Floats, size: float) -> str:
    """Name the region of one point."""

    def along(start: str, end: str) -> float:
        bone = at[end] - at[start]
        return float((p - at[start]) @ bone / (bone @ bone))

    if name in ("head", "neck"):
        up, back = (eye[1] - p[1]) / size, (eye[2] - p[2]) / size
        if up > np.interp(back, HAIRLINE[:, 0], HAIRLINE[:, 1]) and (
            abs(p[0]) < 0.074 * size or up > 0.045
        ):
            return "scalp"
        if up < -0.125 or back > 0.115 or (back > 0.05 and up < -0.085):
            return "neck"
        if (p[0] / 0.03) ** 2 + ((up + 0.074) / 0.0135) ** 2 < 1 and back < 0.0:
            return "lips"
        wide = abs(p[0]) / size
        jaw = -0.052 if wide < 0.035 else -0.052 + 0.6 * (wide - 0.035)
        return "beard" if up < jaw and back < 0.065 else "face"
    if name in ("hand", "fingers"):
        return "hand"
    if name == "forearm":
        return "forearm" if along("forearm", "hand") < 0.9 else "hand"
    if name == "arm":
        return "shoulder" if along("arm", "forearm") < 0.5 else "upper_arm"
    if name == "foot":
        return "foot" if along("shin", "foot") > 0.93 else "ankle"
    if name == "shin":
        t = along("shin", "foot")
        return "knee" if t < 0.2 else "calf" if t < 0.78 else "ankle"
    if name == "thigh":
        t = along("thigh", "shin")
        return "hips" if t < 0.12 else "thigh" if t < 0.78 else "knee"
    if np.linalg.norm((p - at["neck"] - [0, 0.01, 0.03]) * [1.0, 0.8, 1.0]) < 0.105 * size:
        return "collar"
    return "hips" if p[1] > at["spine"][1] - 0.085 * size else "torso"


def seen(body: Floats, faces: Ints, eye: Floats) -> NDArray[np.bool_]:
    """(F,) whether a face can be seen; those in the caves behind the lips and the eyeballs cannot."""
    size = -body[:, 1].min() / 1.8
    mouth = sphere(
        eye * [0, 1, 1] + np.array([0, 0.072, 0.012]) * size, np.array([0.026, 0.011, 0.012]) * size
    )
    balls = [sphere(eye * [sign, 1, 1], 0.0143 * size) for sign in (-1, 1)]
    plugs = merge([mouth, *balls])
    everything = np.concatenate([body, plugs.vertices])
    all_faces = np.concatenate([faces, plugs.faces + len(body)])
    head = np.array([0.0, body[:, 1].min() + 0.12, 0.1])
    hit = np.zeros(len(faces), bool)
    camera = Camera.from_fov(25.0, 900, 900)
    for turn in np.radians(np.arange(-80, 81, 20)):
        for rise in (-0.4, 0.0, 0.35):
            eye = head + offset(np.sin(turn), rise, np.cos(turn))
            pose = look_at(eye, head)
            raster = rasterize((everything - pose[:3, 3]) @ pose[:3, :3], all_faces, camera)
            numbers = np.unique(raster.face[raster.filled])
            hit[numbers[numbers < len(faces)]] = True
    far_from_mouth = np.linalg.norm(body[faces].mean(1) - head - [0, 0.03, 0], axis=1) > 0.085
    keep = np.asarray(hit | far_from_mouth)
    near = _touching(faces)
    keep = np.asarray(near @ keep)
    parts, part = connected_components(near[~keep][:, ~keep], directed=False)
    small = np.bincount(part, minlength=parts) < 40
    keep[~keep] = small[part]
    for _ in range(50):  # until each hole has one simple rim
        rim = _rim(faces[keep])
        pinched = np.flatnonzero(np.bincount(rim[:, 0], minlength=len(body)) > 1)
        keep |= np.isin(faces, pinched).any(1)
        if not len(pinched):
            break
    return keep


def _touching(faces: Ints) -> csr_matrix:
    """(F, F) which faces share a corner, themselves included."""
    rows = np.repeat(np.arange(len(faces)), 3)
    corner = csr_matrix((np.ones(len(rows), bool), (rows, faces.ravel())))
    return corner @ corner.T


def _rim(faces: Ints) -> Ints:
    """(E, 2) edges that only one face has, in its sense of rotation."""
    edges = np.stack([faces, np.roll(faces, -1, 1)], -1).reshape(-1, 2)
    wide = faces.max() + 1
    alone = ~np.isin(edges[:, 0] * wide + edges[:, 1], edges[:, 1] * wide + edges[:, 0])
    return np.asarray(edges[alone])


def close(faces: Ints) -> Ints:
    """Cover the holes that are left by what is not seen: a fan of faces over each."""
    follows = {int(b): int(a) for a, b in _rim(faces)}
    covers = []
    while follows:
        first, at = follows.popitem()
        loop = [first]
        while at != first:
            loop.append(at)
            at = follows.pop(at)
        # A fan from a corner of the eye crosses it the long way, and stays flat.
        covers += [(loop[0], loop[k], loop[k + 1]) for k in range(1, len(loop) - 1)]
    return np.concatenate([faces, np.array(covers, np.int64)])


def landmarks(body: Floats, eye: Floats) -> list[int]:
    """Vertices of an adult at rest that stand for `LANDMARKS`; the eyes' are put right later."""
    size = -body[:, 1].min() / 1.8
    front = np.flatnonzero(body[:, 2] > eye[2] - 0.02)

    def nearest(x: float, y: float) -> int:
        gap = body[front, :2] - [x, y]
        return int(front[np.argmin((gap**2).sum(1) - 0.02 * body[front, 2])])

    low = body[:, 1] > -0.02
    found = {
        "crown": int(np.argmin(body[:, 1])),
        "nose": nearest(0.0, eye[1] + 0.04 * size),
        "chin": nearest(0.0, eye[1] + 0.11 * size),
    }
    for sign, s in ((-1, "L"), (1, "R")):
        found[f"eye.{s}"] = nearest(sign * abs(eye[0]), eye[1])
        foot = np.flatnonzero(low & (sign * body[:, 0] > 0))
        found[f"toe.{s}"] = int(foot[np.argmax(body[foot, 2])])
        found[f"heel.{s}"] = int(foot[np.argmin(body[foot, 2])])
        for k, (x, y) in enumerate(((0.013, 0.017), (0.025, 0.023), (0.038, 0.024), (0.05, 0.016))):
            found[f"brow{k}.{s}"] = nearest(sign * x * size, eye[1] - y * size)
    return [found[name] for name in LANDMARKS]


def hair_depth(body: Floats, faces: Ints, label: Ints) -> NDArray[np.uint8]:
    """(V,) way over the surface from each vertex of the scalp to the hairline, 0 outside it, [mm]."""
    inside = label == REGIONS.index("scalp")
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    length = np.linalg.norm(body[edges[:, 0]] - body[edges[:, 1]], axis=1)
    graph = coo_matrix((length, edges.T), shape=(len(body), len(body))).tocsr()
    outside = np.unique(faces[~inside])
    way = dijkstra(graph, directed=False, indices=outside, min_only=True)
    return np.clip(np.where(np.isfinite(way), way, 0) * 1000, 0, 255).astype(np.uint8)
