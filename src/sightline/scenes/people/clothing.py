"""Clothe a body: layers of skin and cloth over its regions, skirts, shoes, skin tones.

A layer uses the body's own vertices, moved outwards along their normals, so it follows every pose and
seams between layers of equal thickness do not show.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.mesh_arrays import surface_from_grid, vertex_normals
from sightline.scenes.meshes import TriangleMesh
from sightline.scenes.people.bodies import REGIONS, Detail, topology
from sightline.scenes.people.poses import PosedBody, offset
from sightline.scenes.sampling import Random, between, chance, pick, weighted
from sightline.scenes.world import Color, Material, Pattern

ARM = ("shoulder", "upper_arm", "forearm", "hand")


@functools.cache
def patch(detail: Detail, *regions: str) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Return the vertices (N,) of some regions, and (F, 3) faces that index them."""
    shared = topology()
    chosen = np.isin(shared.region[detail], [REGIONS.index(name) for name in regions])
    own, place = np.unique(shared.faces[detail][chosen], return_inverse=True)
    return own.astype(np.intp), place.reshape(-1, 3).astype(np.int32)


class BodySurface:
    """The surface of one posed body, from which layers are taken.

    Args:
        figure: body and pose.
        detail: how fine.
        crumple: height of the folds of cloth over it, [m].
        phase: where the folds lie.
    """

    def __init__(
        self, figure: PosedBody, detail: Detail, *, crumple: float = 0.0, phase: float = 0.0
    ) -> None:
        self.figure = figure
        self.detail: Detail = detail
        faces = topology().faces[detail]
        self.normals = vertex_normals(figure.vertices, faces)
        rest = figure.body.vertices[: len(figure.vertices)]
        self.folds = crumple * folds(rest, phase)
        folded = figure.vertices + self.folds[:, None] * self.normals
        # Of the whole surface, so that the seam of a sleeve does not show.
        self.folded_normals = vertex_normals(folded, faces)

    def layer(
        self, *regions: str, thickness: float | NDArray[np.float64] = 0.0, folded: bool = False
    ) -> TriangleMesh:
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
            normals = vertex_normals(points, faces)
        elif folded:
            normals = self.folded_normals[own]
        uv = _cloth_uv(self.figure.body.vertices[own], regions[0] in ARM)
        return TriangleMesh(points, faces, normals, uv)


def folds(rest: NDArray[np.float64], phase: float) -> NDArray[np.float64]:
    """Return (N,) folds between −1 and 1: a few crossing waves."""
    x, y, z = rest.T
    slant = np.sin(31 * y + 17 * np.abs(x) + 9 * z + phase) + np.sin(47 * y - 29 * x + 2.3 * phase)
    return np.asarray(0.5 * slant * np.sin(11 * x + 19 * z + 1.7 * phase))


def _cloth_uv(rest: NDArray[np.float64], sleeve: bool) -> NDArray[np.float64]:
    """Return (N, 2) texture coordinates, [m]; v runs down the body, or along the arm."""
    x, y, z = rest.T
    if sleeve:
        return np.stack([1.3 * z + 0.4 * (np.abs(x) - y), 0.7 * (np.abs(x) + y)], -1)
    return np.stack([x + 0.5 * z, y], -1)


Painted = list[tuple[TriangleMesh, Material]]

SLEEVES = ("shoulder", "upper_arm", "forearm")
LEGS = ("hips", "thigh", "knee", "calf", "ankle")
SLEEVES_AND_HANDS = (*SLEEVES, "hand")
TRUNK_AND_LEGS = ("torso", "collar", *LEGS, "foot")
BELOW_HEAD = (*SLEEVES_AND_HANDS, *TRUNK_AND_LEGS)

#: How thick soles and uppers of shoes are, [m].
SOLE = 0.012

#: Skin tones from light to dark, linear RGB.
_TONES = np.array(
    [[0.72, 0.50, 0.40], [0.58, 0.36, 0.26], [0.44, 0.25, 0.16], [0.26, 0.13, 0.075],
     [0.12, 0.06, 0.035], [0.055, 0.03, 0.02]]
)  # fmt: skip

_CLOTHS: list[tuple[tuple[Pattern, float, float], float]] = [
    (("plain", 0.1, 0.5), 3.0), (("cloth", 0.05, 0.25), 4.0), (("stripes", 0.015, 0.12), 1.2),
    (("checker", 0.02, 0.1), 0.6), (("noise", 0.02, 0.15), 0.8), (("print", 0.2, 0.5), 0.5),
    (("leaves", 0.04, 0.2), 0.4), (("marble", 0.1, 0.3), 0.3), (("photo", 0.3, 0.8), 1.0),
]  # fmt: skip


def skin_material(rng: Random) -> Material:
    """Choose a color of skin."""
    at = (len(_TONES) - 1) * between(rng, 0, 1) ** 1.4
    low = min(int(at), len(_TONES) - 2)
    tone = _TONES[low] + (at - low) * (_TONES[low + 1] - _TONES[low])
    r, g, b = (float(c) * between(rng, 0.9, 1.1) for c in tone)
    seed = int(rng.integers(1 << 30))
    return Material(
        "skin", (r, g, b), (0.8 * r, 0.65 * g, 0.6 * b), 0.05, seed, between(rng, 0.05, 0.25)
    )


def cloth_color(rng: Random) -> Color:
    """Choose a color of cloth: often black, white, gray or blue, else any."""
    kind = weighted(
        rng, [("dark", 3.0), ("light", 2.5), ("gray", 1.5), ("blue", 2.0), ("any", 4.0)]
    )
    if kind == "any":
        r, g, b = (between(rng, 0.02, 0.75) ** 1.3 for _ in range(3))
        return (r, g, b)
    base = {"dark": (0.02, 0.02, 0.025), "light": (0.72, 0.70, 0.66), "gray": (0.2, 0.2, 0.2),
            "blue": (0.05, 0.09, 0.22)}[kind]  # fmt: skip
    much = between(rng, 0.6, 1.35)
    r, g, b = (min(0.9, c * much * between(rng, 0.85, 1.15)) for c in base)
    return (r, g, b)


def cloth(rng: Random, *, quiet: bool = False) -> Material:
    """Choose a cloth; `quiet` ones have one color."""
    pattern, low, high = _CLOTHS[1][0] if quiet else weighted(rng, _CLOTHS)
    scale = between(rng, low, high)
    seed, photo = int(rng.integers(1 << 30)), int(rng.integers(1 << 20))
    return Material(
        pattern, cloth_color(rng), cloth_color(rng), scale, seed, between(rng, 0, 0.15), photo=photo
    )


@dataclass(frozen=True, slots=True)
class ClothingLayer:
    """Material, thickness in [m] and folds of the layer over a body region."""

    paint: Material
    thickness: float = 0.0
    folded: bool = False


def clothe(rng: Random, skin: BodySurface, bare: Material) -> Painted:
    """Clothe everything below the head.

    Args:
        rng: random generator.
        skin: the body's surface.
        bare: its skin, where no cloth covers it.
    """
    female = skin.figure.body.female * _upright(skin.figure)
    over: dict[str, ClothingLayer] = dict.fromkeys(BELOW_HEAD, ClothingLayer(bare))
    lower = weighted(
        rng, [("trousers", 6.0), ("shorts", 1.5), ("skirt", 2.0 * female), ("dress", 1.8 * female)]
    )
    shirt = ClothingLayer(cloth(rng), between(rng, 0.006, 0.022), True)
    legs = ClothingLayer(cloth(rng, quiet=chance(rng, 0.8)), between(rng, 0.004, 0.016), True)
    out: Painted = []

    _cover(over, legs, LEGS[: {"trousers": 5 - chance(rng, 0.2), "shorts": 2}.get(lower, 1)])
    _cover(
        over, shirt, ("torso", *SLEEVES[: weighted(rng, [(0, 0.4), (1, 3.0), (2, 0.7), (3, 4.0)])])
    )
    if chance(rng, 0.75):
        _cover(over, shirt, ("collar",))
    if lower == "dress" or (lower in ("trousers", "shorts") and chance(rng, 0.6)):
        _cover(over, shirt, ("hips",))  # not tucked in
    if lower in ("skirt", "dress"):
        if chance(rng, 0.35):
            _cover(over, ClothingLayer(cloth(rng, quiet=True), 0.001), LEGS[1:])
        paint = (legs if lower == "skirt" else shirt).paint
        out.append((skirt(rng, skin.figure, between(rng, 0.28, 0.92), shirt.thickness), paint))
    if chance(rng, 0.2):
        out += _jacket(rng, skin, over)
    _shoes(rng, over)

    if over["collar"].paint is not bare:
        out.append((skin.layer("collar"), bare))  # what is seen down the neck of a shirt
    for cover in dict.fromkeys(over.values()):
        for part in (SLEEVES_AND_HANDS, TRUNK_AND_LEGS):
            regions = [name for name in part if over[name] == cover]
            if regions:
                shape = skin.layer(*regions, thickness=cover.thickness, folded=cover.folded)
                out.append((shape, cover.paint))
    return out


def _cover(over: dict[str, ClothingLayer], cover: ClothingLayer, regions: Sequence[str]) -> None:
    """Cover regions by a garment."""
    over.update(dict.fromkeys(regions, cover))


def _jacket(rng: Random, skin: BodySurface, over: dict[str, ClothingLayer]) -> Painted:
    """Put a jacket over the shirt, on upright people sometimes a long coat."""
    coat = ClothingLayer(cloth(rng, quiet=chance(rng, 0.7)), between(rng, 0.02, 0.035), True)
    _cover(over, coat, ("torso", "hips", "collar", *SLEEVES))
    if _upright(skin.figure) and chance(rng, 0.5):
        return [(skirt(rng, skin.figure, between(rng, 0.25, 0.7), coat.thickness), coat.paint)]
    return []


def _shoes(rng: Random, over: dict[str, ClothingLayer]) -> None:
    """Put on shoes, boots or nothing; socks above low shoes."""
    kind = weighted(rng, [("shoes", 6.0), ("boots", 1.0), ("bare", 0.4)])
    if kind == "bare":
        return
    leather = Material("plain", cloth_color(rng), gloss=between(rng, 0, 0.6))
    shoe = ClothingLayer(leather, SOLE)
    if kind == "boots":
        _cover(over, shoe, ("foot", "ankle", "calf") if chance(rng, 0.5) else ("foot", "ankle"))
        return
    _cover(over, shoe, ("foot",))
    if over["ankle"].thickness == 0.0 and chance(rng, 0.6):
        _cover(over, ClothingLayer(cloth(rng, quiet=True), 0.003), ("ankle",))


def _upright(figure: PosedBody) -> bool:
    """Return whether both thighs hang down, so that a skirt would."""
    fall = [figure.joint(f"shin.{s}") - figure.joint(f"thigh.{s}") for s in "LR"]
    return all(d[1] > 0.75 * float(np.linalg.norm(d)) for d in fall)


def skirt(rng: Random, figure: PosedBody, ends: float, off: float) -> TriangleMesh:
    """Hang cloth around both legs from the waist.

    Args:
        rng: random generator.
        figure: an upright one.
        ends: how far down, from 0 (hips) to 1 (ankles).
        off: how far it stands off at the waist, [m].
    """
    size = figure.body.height / 1.7
    stout = float(np.sqrt(figure.body.mass / figure.body.height**2 / 22))
    fall = np.linspace(-0.16, ends, 9)
    sides = np.stack([_down_leg(figure, s, fall) for s in "LR"])
    middle, apart = sides.mean(0), np.abs(sides[1] - sides[0]) / 2
    flare = between(rng, 0.0, 0.16) * np.clip(fall, 0, None)
    # Half the girth of hips and thighs, as measured on an average adult.
    hips = np.interp(fall, [-0.16, 0.0, 0.15, 0.5, 1.0], [0.05, 0.095, 0.105, 0.085, 0.065])
    ahead = np.interp(fall, [-0.16, 0.0, 0.15, 0.5, 1.0], [0.12, 0.145, 0.14, 0.105, 0.095])
    wide = apart[:, 0] + hips * size * stout + off + flare
    deep = apart[:, 2] + ahead * size * stout + off + flare
    angle = np.linspace(0, 2 * np.pi, 25)
    folds = 1 + between(rng, 0, 0.09) * np.clip(fall, 0, 1)[:, None] * np.sin(
        pick(rng, (6, 8, 9, 11)) * angle + between(rng, 0, 6)
    )
    x = middle[:, 0, None] + wide[:, None] * folds * np.cos(angle)
    z = middle[:, 2, None] + deep[:, None] * folds * np.sin(angle)
    y = middle[:, 1, None] + 0 * angle
    sheet = surface_from_grid(np.stack([x, y, z], -1))
    return TriangleMesh(sheet.vertices, sheet.faces, sheet.normals, sheet.uv[:, ::-1])


def _down_leg(figure: PosedBody, side: str, fall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (N, 3) points down a leg: 0 at the hip, 0.5 at the knee, 1 at the ankle."""
    hip, knee, ankle = (figure.joint(f"{name}.{side}") for name in ("thigh", "shin", "foot"))
    waist = hip + offset(0.0, -0.32 * float(np.linalg.norm(knee - hip)), 0.0)
    knots = np.stack([waist, hip, knee, ankle])
    return np.stack([np.interp(fall, [-0.16, 0.0, 0.5, 1.0], knots[:, k]) for k in range(3)], -1)
