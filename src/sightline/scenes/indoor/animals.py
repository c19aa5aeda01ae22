"""Build animals: quadrupeds from tubes and ellipsoids, and birds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sightline.scenes.layout import Prop, make_prop, prop_maker
from sightline.scenes.materials import color, dark, gray, seed, shaded
from sightline.scenes.mesh_arrays import rods
from sightline.scenes.meshes import TriangleMesh, box, cylinder, merge, sphere, tube
from sightline.scenes.sampling import Random, between, chance, pick, weighted
from sightline.scenes.world import Material, Pattern


@dataclass(frozen=True, slots=True)
class QuadrupedShape:
    """Proportions of a four-legged animal, as shares of its height at the shoulder.

    Attributes:
        shoulder: height at the shoulder in [m], from and to.
        long: length of the trunk.
        thick: radius of the trunk.
        leg: radius of a leg.
        neck: length of the neck.
        rise: angle of the neck above the horizontal, [degrees].
        head: length of the head.
        ear: length of the ears.
        tail: length of the tail.
    """

    shoulder: tuple[float, float]
    long: float
    thick: float
    leg: float
    neck: float
    rise: float
    head: float
    ear: float
    tail: float


QUADRUPEDS = {
    "dog": QuadrupedShape((0.25, 0.7), 1.0, 0.2, 0.055, 0.35, 50, 0.4, 0.16, 0.5),
    "cat": QuadrupedShape((0.22, 0.3), 1.25, 0.22, 0.06, 0.25, 40, 0.38, 0.16, 0.95),
    "horse": QuadrupedShape((1.2, 1.7), 1.0, 0.19, 0.045, 0.5, 55, 0.36, 0.1, 0.45),
    "cow": QuadrupedShape((1.2, 1.5), 1.15, 0.27, 0.05, 0.3, 25, 0.36, 0.12, 0.55),
    "sheep": QuadrupedShape((0.6, 0.8), 1.1, 0.32, 0.045, 0.25, 40, 0.33, 0.13, 0.15),
    "deer": QuadrupedShape((0.8, 1.2), 0.95, 0.17, 0.03, 0.5, 65, 0.3, 0.16, 0.12),
    "elephant": QuadrupedShape((2.2, 3.2), 1.05, 0.34, 0.1, 0.15, 20, 0.42, 0.3, 0.4),
    "pig": QuadrupedShape((0.5, 0.8), 1.4, 0.36, 0.07, 0.15, 10, 0.42, 0.14, 0.2),
}


def shifted(point: np.ndarray, x: float, y: float, z: float) -> np.ndarray:
    """Shift a point (3,), or several (N, 3)."""
    return point + np.array([x, y, z])


def fur(rng: Random) -> Material:
    """Draw a coat: brown, black, white, gray, ginger; plain, mottled or striped."""
    tint = weighted(
        rng,
        (
            (color(rng, hue=(0.04, 0.1), saturation=(0.3, 0.75), value=(0.2, 0.75)), 0.55),
            (gray(rng, 0.06, 0.3), 0.2),
            (gray(rng, 0.55, 0.95), 0.25),
        ),
    )
    second = shaded(tint, pick(rng, (0.3, 0.6, 1.6)))
    pattern: Pattern = pick(rng, ("noise", "noise", "plain", "marble", "stripes", "bark"))
    return Material(pattern, tint, second, between(rng, 0.03, 0.4), seed(rng))


@prop_maker(0x56FC51B1)
def animal(rng: Random) -> Prop:
    """Make an animal on four legs, its head toward −z, standing, walking or grazing."""
    name = pick(
        rng, ("dog", "dog", "dog", "cat", "cat", "horse", "cow", "sheep", "deer", "elephant", "pig")
    )
    plan = QUADRUPEDS[name]
    h = between(rng, *plan.shoulder)
    long, thick = plan.long * h * between(rng, 0.9, 1.1), plan.thick * h * between(rng, 0.85, 1.2)
    back = h - thick
    coat = fur(rng)
    front, rear = -long / 2, long / 2
    t = np.linspace(0, 1, 9)
    trunk = tube(
        np.stack(
            [
                0 * t,
                -back - 0.05 * h * np.sin(3 * t),
                front - thick * 0.6 + (long + thick * 1.1) * t,
            ],
            -1,
        ),
        thick * np.array([0.25, 0.75, 1.0, 1.02, 0.98, 0.95, 1.0, 0.8, 0.2]),
        sectors=12,
    )
    shapes = [trunk, *_legs(rng, plan, h, back, front, rear, thick)]
    rise = np.radians(plan.rise if chance(rng, 0.75) else between(rng, -50, 20))
    start = np.array([0.0, -back - thick * 0.5, front])
    end = start + plan.neck * h * np.array([0.0, -np.sin(rise), -np.cos(rise)])
    shapes.append(
        tube(
            [shifted(start, 0, thick * 0.3, thick * 0.4), end],
            [thick * 0.75, thick * 0.45],
            sectors=9,
        )
    )
    shapes += _head(rng, plan, h, end, thick)
    swing, lift = between(rng, -0.4, 0.4), between(rng, -0.6, 0.7)
    tail = np.array([0.0, -back - thick * 0.5, rear + thick * 0.2])
    reach = plan.tail * h
    bow = [
        tail,
        shifted(tail, swing * reach * 0.4, -lift * reach * 0.4, reach * 0.4),
        shifted(tail, swing * reach, -lift * reach, reach * 0.6),
    ]
    shapes.append(tube(bow, [0.04 * h, 0.03 * h, 0.015 * h], sectors=6))
    eye = [
        sphere(
            end + np.array([s * thick * 0.35, -thick * 0.25, -plan.head * h * 0.35]),
            0.022 * h,
            sectors=6,
        )
        for s in (-1, 1)
    ]
    return make_prop(name, [(merge(shapes), coat), (merge(eye), dark(rng))])


def _legs(
    rng: Random,
    plan: QuadrupedShape,
    h: float,
    back: float,
    front: float,
    rear: float,
    thick: float,
) -> list[TriangleMesh]:
    """Make four legs, each with a knee, in the middle of a stride."""
    legs = []
    radius = plan.leg * h
    for side in (-1, 1):
        for z, bend in ((front * 0.86, -1.0), (rear * 0.86, 1.0)):
            stride = between(rng, -0.18, 0.18) * h
            x = side * thick * 0.6
            path = [
                [x, -back, z], [x, -h * 0.42, z + stride * 0.5 + bend * 0.05 * h],
                [x, -h * 0.2, z + stride * 0.8 + bend * 0.03 * h], [x, -radius, z + stride],
            ]  # fmt: skip
            legs.append(tube(path, [radius * 2.2, radius * 1.2, radius * 0.8, radius], sectors=7))
            legs.append(
                sphere(
                    [x, -radius * 0.7, z + stride - radius * 0.5],
                    [radius * 1.1, radius * 0.7, radius * 1.6],
                    sectors=7,
                )
            )
    return legs


def _head(
    rng: Random, plan: QuadrupedShape, h: float, at: np.ndarray, thick: float
) -> list[TriangleMesh]:
    """Make skull, snout (or trunk) and ears around the end of the neck."""
    size = plan.head * h
    wide = thick * 0.5
    nod = between(rng, 0.0, 0.45)
    nose = at + np.array([0.0, nod * size * 0.6, -size * 0.65])
    shapes = [
        sphere(shifted(at, 0, 0, -size * 0.1), [wide * 1.05, wide, wide * 1.1], sectors=10),
        tube([at, nose], [wide * 0.85, wide * 0.5], sectors=8),
        sphere(nose, wide * 0.52, sectors=8),
    ]
    if plan.ear > 0.25:
        shapes.append(
            tube(
                [nose, shifted(nose, 0, h * 0.25, -h * 0.05), shifted(nose, 0, h * 0.5, 0.02)],
                [wide * 0.5, wide * 0.35, wide * 0.2],
                sectors=7,
            )
        )
    flat = between(rng, 0.2, 0.5)
    for side in (-1, 1):
        ear = sphere(
            [0, 0, 0], [plan.ear * h * flat, plan.ear * h * 0.6, plan.ear * h * 0.15], sectors=7
        )
        place = at + np.array([side * wide * 0.8, -wide * 0.9, 0.0])
        shapes.append(ear.moved(place, roll=side * between(rng, -20, 70)))
    return shapes


@prop_maker(0x58430029)
def bird(rng: Random) -> Prop:
    """Make a bird that stands on thin legs or spreads its wings: from sparrow to goose."""
    s = float(np.exp(between(rng, np.log(0.12), np.log(0.7))))
    coat = Material(
        "noise",
        color(rng, saturation=(0.0, 0.8), value=(0.15, 0.95)),
        gray(rng, 0.1, 0.9),
        0.1 * s,
        seed(rng),
    )
    leg, neck = s * between(rng, 0.2, 0.8), s * between(rng, 0.1, 0.8)
    middle = np.array([0.0, -leg - 0.25 * s, 0.0])
    head = shifted(middle, 0, -neck - 0.2 * s, -0.4 * s)
    shapes = [
        sphere([0, 0, 0], [0.22 * s, 0.22 * s, 0.42 * s], sectors=12).moved(
            middle, pitch=between(rng, 0, 35)
        ),
        tube([shifted(middle, 0, -0.1 * s, -0.25 * s), head], [0.13 * s, 0.08 * s], sectors=8),
        sphere(head, 0.12 * s, sectors=9),
        box([0, 0, 0.3 * s], [0.22 * s, 0.02 * s, 0.5 * s]).moved(
            shifted(middle, 0, 0, 0.2 * s), pitch=between(rng, -30, 20)
        ),
    ]
    wide = chance(rng, 0.35)
    for side in (-1, 1):
        wing = sphere(
            [side * (0.5 if wide else 0.02) * s, 0, 0.05 * s],
            [
                0.55 * s if wide else 0.05 * s,
                0.03 * s if wide else 0.18 * s,
                0.22 * s if wide else 0.42 * s,
            ],
            sectors=9,
        )
        shapes.append(
            wing.moved(
                shifted(middle, side * 0.2 * s, -0.08 * s, 0.05 * s),
                roll=side * -25 if wide else 0.0,
            )
        )
    beak = cylinder([0, 0, 0], 0.045 * s, 0.2 * s, top=0.0, sectors=7).moved(
        shifted(head, 0, 0, -0.1 * s), pitch=90
    )
    foot = np.array([[side * 0.09 * s, 0.0, 0.0] for side in (-1, 1)])
    knee = shifted(foot, 0, -leg - 0.1 * s, 0.03 * s)
    toes = (
        np.concatenate([foot, foot, foot]),
        np.concatenate([shifted(foot, d * s, 0, -0.12 * s) for d in (-0.06, 0, 0.06)]),
    )
    orange = Material(
        "plain", color(rng, hue=(0.02, 0.14), saturation=(0.5, 0.9), value=(0.3, 0.9))
    )
    sticks = [rods(foot, knee, 0.018 * s, sectors=5), rods(*toes, 0.012 * s, sectors=4)]
    eyes = [
        sphere(shifted(head, side * 0.09 * s, -0.03 * s, -0.06 * s), 0.02 * s, sectors=6)
        for side in (-1, 1)
    ]
    return make_prop(
        "bird", [(merge(shapes), coat), (merge([beak, *sticks]), orange), (merge(eyes), dark(rng))]
    )
