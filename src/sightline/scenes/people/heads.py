"""Build heads: hair, beard, eyes, brows, glasses, hats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.mesh_arrays import surface_from_grid
from sightline.scenes.meshes import TriangleMesh, lathe, merge, sphere, tube
from sightline.scenes.people.bodies import topology
from sightline.scenes.people.clothing import BodySurface, folds
from sightline.scenes.people.poses import PosedBody
from sightline.scenes.sampling import Random, between, chance, weighted
from sightline.scenes.world import Color, Material

Painted = list[tuple[TriangleMesh, Material]]

#: Half the distance between the eyes of an average adult, [m]: the unit of heads.
_EYES = 0.0315


class HeadFrame:
    """Position, size and rotation of a figure's head.

    Args:
        figure: whose.
    """

    def __init__(self, figure: PosedBody) -> None:
        left, right = figure.landmark("eye.L"), figure.landmark("eye.R")
        self.turn = figure.turn("head")
        self.size = float(np.linalg.norm(right - left)) / 2 / _EYES
        self.eyes = (left + right) / 2
        self.brows = {s: [figure.landmark(f"brow{k}.{s}") for k in range(4)] for s in "LR"}

    def put(self, points: NDArray[np.float64] | list[float]) -> NDArray[np.float64]:
        """Transform (…, 3) points from the head frame to the frame of the figure.

        The frame starts between the eyes: x to the right, y down, z forward, in [m] on an adult.
        """
        return np.asarray(self.eyes + self.size * (np.asarray(points, np.float64) @ self.turn.T))

    def carry(self, shape: TriangleMesh) -> TriangleMesh:
        """Move a mesh from the head frame to the frame of the figure."""
        normals = shape.normals @ self.turn.T
        return TriangleMesh(self.put(shape.vertices), shape.faces, normals, shape.uv * self.size)


def hair_color(rng: Random, age: float) -> Color:
    """Choose from black to blond, gray with age, now and then dyed."""
    if chance(rng, (age - 40) / 45):
        gray = between(rng, 0.25, 0.75)
        return (gray, gray, gray * between(rng, 0.92, 1.0))
    natural: list[tuple[Color, float]] = [
        ((0.012, 0.010, 0.009), 5), ((0.035, 0.020, 0.012), 4), ((0.090, 0.048, 0.025), 3),
        ((0.210, 0.125, 0.060), 2), ((0.420, 0.290, 0.140), 1.5), ((0.260, 0.075, 0.025), 0.6),
        ((0.45, 0.05, 0.25), 0.1), ((0.05, 0.15, 0.45), 0.1),
    ]  # fmt: skip
    r, g, b = (c * between(rng, 0.75, 1.3) for c in weighted(rng, natural))
    return (r, g, b)


def hair(rng: Random, skin: BodySurface, head: HeadFrame, skin_paint: Material) -> Painted:
    """Choose a cut and make it; bald heads get their skin."""
    body = skin.figure.body
    paint = Material(
        "bark", color := hair_color(rng, body.age), _darker(color), between(rng, 0.006, 0.03),
        int(rng.integers(1 << 30)), gloss=between(rng, 0.05, 0.35),
    )  # fmt: skip
    long = 3.0 * body.female + 0.15
    cut = weighted(
        rng,
        [("bald", 0.9 * (1 - body.female) * (body.age > 25)), ("buzz", 1.0 - 0.9 * body.female),
         ("short", 3.2 - 2.4 * body.female), ("afro", 0.35), ("bob", 0.5 * long), ("long", long),
         ("tail", 0.5 * long), ("bun", 0.3 * long)],
    )  # fmt: skip
    if cut == "bald":
        return [(skin.layer("scalp"), skin_paint)]
    inside = np.clip(topology().hair_depth / between(rng, 0.012, 0.035), 0, 1)
    most = {"buzz": 0.004, "short": between(rng, 0.012, 0.035), "afro": between(rng, 0.05, 0.1)}
    full = most.get(cut, between(rng, 0.008, 0.022)) * head.size
    thickness = 0.002 + full * inside * (2 - inside)
    if cut != "buzz":
        rough = folds(body.vertices[: len(thickness)], between(rng, 0, 6))
        thickness = thickness + between(rng, 0.1, 0.35) * full * rough * inside
    cap = skin.layer("scalp", thickness=thickness)
    return [(merge([cap, *_locks(rng, cut, head, full)]), paint)]


def _locks(rng: Random, cut: str, head: HeadFrame, full: float) -> list[TriangleMesh]:
    """Make what hangs or sticks out beyond the cap of hair."""
    if cut in ("bob", "long"):
        length = between(rng, 0.1, 0.2) if cut == "bob" else between(rng, 0.22, 0.45)
        return [head.carry(_curtain(rng, length, full))]
    if cut == "bun":
        place = [0.0, between(rng, -0.1, 0.02), -0.2]
        return [sphere(head.put(place), between(rng, 0.03, 0.055) * head.size, sectors=10)]
    if cut == "tail":
        high, low = between(rng, -0.09, 0.02), between(rng, 0.12, 0.4)
        line = [[0, high, -0.17], [0, high, -0.215], [0, high + 0.3 * low, -0.235],
                [0, high + low, -between(rng, 0.17, 0.23)]]  # fmt: skip
        return [tube(head.put(np.array(line)), head.size * np.array([0.016, 0.025, 0.03, 0.006]))]
    return []


def _curtain(rng: Random, length: float, full: float) -> TriangleMesh:
    """Make hair that falls around the back and sides of the head, in the head's own frame."""
    reach = np.radians(between(rng, 88, 125))
    angle = np.linspace(-reach, reach, 19)
    fall = np.linspace(0.0, 1.0, 9)[:, None] ** 1.2
    y = -0.11 + fall * (length + 0.11)
    # Close to the skull above the eyes, then hanging, with a wave, narrower or wider at the ends.
    below = np.clip(y / length, 0, 1)
    wave = 0.005 * np.sin(9 * angle + between(rng, 0, 6) + 3 * fall) * below
    radius = (0.082 + 1.1 * full) * np.sqrt(1 - (np.minimum(y, 0) / 0.13) ** 2) + wave
    radius = radius + between(rng, -0.025, 0.035) * below**2 + 0.008 * np.sin(np.pi * below)
    x = radius * np.sin(angle)
    z = -0.088 - radius * np.cos(angle) * 1.25 - 0.012 * below
    return surface_from_grid(np.stack(np.broadcast_arrays(x, y + 0.0 * angle, z), -1))


def face(rng: Random, skin: BodySurface, head: HeadFrame, paint: Material, hairs: Color) -> Painted:
    """Make the face: skin, lips, beard, eyes and brows."""
    body = skin.figure.body
    seed = int(rng.integers(1 << 30))
    red = Material(
        "skin", _redder(paint.tint, between(rng, 0.6, 0.9)), paint.second, 0.02, seed, 0.2
    )
    out: Painted = [(skin.layer("lips"), red)]
    bearded = chance(rng, 0.3 * (1 - body.female) * (body.age > 20))
    if bearded:
        beard = Material("bark", hairs, _darker(hairs), 0.01, seed)
        out.append((skin.layer("beard", thickness=between(rng, 0.001, 0.012)), beard))
        out.append((skin.layer("face", "neck"), paint))
    else:
        out.append((skin.layer("face", "beard", "neck"), paint))
    white = Material("plain", (0.55, 0.52, 0.5), gloss=0.4)
    out.append((skin.layer("eye"), white))
    if skin.detail == "near":
        iris = Material("plain", _iris(rng), gloss=0.7)
        balls = [sphere(head.put([x, 0.001, 0.0072]), 0.0072 * head.size, sectors=8)
                 for x in (-_EYES, _EYES)]  # fmt: skip
        out.append((merge(balls), iris))
        thin = between(rng, 0.0012, 0.0032) * head.size * np.array([0.8, 1.2, 1.0, 0.4])
        lines = [tube(np.array(line), thin, sectors=5) for line in head.brows.values()]
        out.append((merge(lines), Material("plain", _darker(hairs))))
    return out


def _iris(rng: Random) -> Color:
    return weighted(
        rng, [((0.02, 0.012, 0.008), 6.0), ((0.05, 0.09, 0.14), 1.5), ((0.06, 0.08, 0.03), 1.0)]
    )


def glasses(rng: Random, head: HeadFrame) -> tuple[TriangleMesh, Material]:
    """Make spectacles: two rims, a bridge, two sides; thin, and some distance before the eyes."""
    wide, high = between(rng, 0.022, 0.029), between(rng, 0.015, 0.025)
    angle = np.linspace(0, 2 * np.pi, 13)
    power = between(rng, 0.55, 1.0)  # toward a rectangle
    c, s = (np.sign(f) * np.abs(f) ** power for f in (np.cos(angle), np.sin(angle)))
    thin = between(rng, 0.0008, 0.0025) * head.size
    parts = []
    for side in (-1.0, 1.0):
        rim = np.stack(
            [side * 0.033 + wide * c, 0.004 + high * s, 0.026 - 0.12 * (wide * c * side) ** 1], -1
        )
        parts.append(tube(head.put(rim), thin, sectors=5))
        hinge = [side * (0.033 + wide), 0.0, 0.02]
        parts.append(tube(head.put(np.array([hinge, [side * 0.077, 0.0, -0.09]])), thin, sectors=5))
    bridge = np.array([[-0.033 + wide, 0, 0.028], [0, -0.004, 0.034], [0.033 - wide, 0, 0.028]])
    parts.append(tube(head.put(bridge), thin, sectors=5))
    tint = weighted(
        rng, [((0.01, 0.01, 0.01), 4.0), ((0.5, 0.42, 0.2), 1.0), ((0.12, 0.05, 0.02), 1.0)]
    )
    return merge(parts), Material("plain", tint, gloss=0.5)


def hat(rng: Random, head: HeadFrame, cloth: Material) -> Painted:
    """Make a cap with a peak, a woollen hat, a hat with a brim, or a helmet."""
    kind = weighted(rng, [("cap", 3.0), ("beanie", 2.0), ("brim", 2.0), ("helmet", 1.0)])
    center, wide = [0.0, -0.045, -0.082], np.array([0.088, 0.1, 0.112])
    dome = np.linspace(0, np.pi / 2, 7)
    if kind == "brim":
        rim, high = between(rng, 0.05, 0.12), between(rng, 0.08, 0.13)
        profile = [[0.09 + rim, 0.0], [0.09, 0.005], [0.085, 0.75 * high], [0.07, high], [0, high]]
        shape = lathe(profile, sectors=18).moved(center, scale=[1.0, 1.0, 1.22])
        return [(head.carry(shape), cloth)]
    grow = {"beanie": 1.06, "helmet": 1.22}.get(kind, 1.04)
    skirt = [[1.0, -0.35 if kind == "beanie" else -0.1]]
    outline = np.array([*skirt, *np.stack([np.cos(dome), np.sin(dome)], -1)])
    shape = lathe(outline, sectors=16).moved(center, scale=wide * grow)
    parts = [head.carry(shape)]
    if kind == "cap":
        angle = np.linspace(-0.95, 0.95, 9)
        reach = np.linspace(0.0, between(rng, 0.05, 0.08), 3)[:, None]
        x = 0.088 * np.sin(angle) * 1.02 + 0 * reach
        z = -0.082 + 0.112 * np.cos(angle) + reach * np.cos(angle)
        y = -0.04 + 0.35 * reach - 0.012 * np.cos(2 * angle)
        parts.append(head.carry(surface_from_grid(np.stack(np.broadcast_arrays(x, y, z), -1))))
    return [(merge(parts), cloth)]


def _darker(color: Color) -> Color:
    r, g, b = color
    return (0.6 * r, 0.6 * g, 0.6 * b)


def _redder(color: Color, keep: float) -> Color:
    r, g, b = color
    return (0.95 * r, keep * g * 0.8, keep * b * 0.9)
