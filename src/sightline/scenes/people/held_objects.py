"""Build held objects: bags, rucksacks, umbrellas, sticks, phones, cups, books, balloons."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.meshes import TriangleMesh, box, cylinder, lathe, merge, sphere, tube
from sightline.scenes.people.clothing import cloth, cloth_color
from sightline.scenes.people.poses import PosedBody, offset
from sightline.scenes.sampling import Random, between, pick, weighted
from sightline.scenes.world import Material

Painted = list[tuple[TriangleMesh, Material]]
Point = NDArray[np.float64]


def sample_held_object(rng: Random, figure: PosedBody) -> Painted:
    """Sample an object that fits the pose, in the frame of the figure; may be empty."""
    hanging = [("handbag", 1.5), ("tote", 1.2), ("stick", 0.5), ("case", 0.4)]
    options = {
        "holding": [
            ("phone", 3.0), ("cup", 1.5), ("umbrella", 2.0), ("book", 1.0), ("balloon", 0.5),
        ],
        "raised": [("balloon", 0.5), ("phone", 1.0), ("flag", 0.5)],
        "walking": [("rucksack", 2.0), *hanging],
        "standing": [("rucksack", 2.0), *hanging],
    }.get(figure.pose.name, [("rucksack", 1.0)])  # fmt: skip
    if figure.pose.name in ("lying", "sitting", "crouching", "kneeling", "bending", "crossed"):
        return []
    return _HELD_OBJECTS[weighted(rng, options)](rng, figure)


def _grip(figure: PosedBody, side: str = "R") -> Point:
    """Return the (3,) middle of a hand."""
    return np.asarray((figure.joint(f"hand.{side}") + 2 * figure.joint(f"fingers.{side}")) / 3)


def _rucksack(rng: Random, figure: PosedBody) -> Painted:
    """Make a rucksack with two straps over the shoulders."""
    size = figure.body.height / 1.7
    chest, neck = figure.joint("chest"), figure.joint("neck")
    turn = figure.turn("chest")
    behind = turn @ np.array([0, 0, -1.0])
    deep = between(rng, 0.12, 0.24) * size
    center = (chest + neck) / 2 + behind * (0.11 * size + deep / 2)
    half = np.array([between(rng, 0.13, 0.18), between(rng, 0.18, 0.26), deep / size / 2]) * size
    ball = sphere([0, 0, 0], 1.0, sectors=12)
    # A ball pushed toward a box: rounded at the edges.
    pushed = np.sign(ball.vertices) * np.abs(ball.vertices) ** 0.5 * half
    bag = TriangleMesh(center + pushed @ turn.T, ball.faces, ball.normals @ turn.T, pushed[:, :2])
    straps = []
    for side in "LR":
        shoulder = figure.joint(f"collar.{side}") * 0.45 + figure.joint(f"arm.{side}") * 0.55
        top = shoulder + offset(0, -0.07 * size, 0)
        front = shoulder + turn @ np.array([0, 0.1, 0.12]) * size
        low = chest + (shoulder - chest) * [1, 0.3, 1] + behind * 0.02
        back = center + turn @ np.array([0, -half[1], 0]) + (shoulder - neck) * [0.7, 0, 0]
        straps.append(tube(np.stack([back, top, front, low]), 0.014 * size, sectors=5))
    paint = cloth(rng)
    return [(bag, paint), (merge(straps), Material("plain", cloth_color(rng)))]


def _handbag(rng: Random, figure: PosedBody) -> Painted:
    """Make a handbag at the hip on a strap over the shoulder."""
    size = figure.body.height / 1.7
    side = pick(rng, ("L", "R"))
    sign = 1.0 if side == "R" else -1.0
    shoulder = figure.joint(f"arm.{side}") + np.array([-sign * 0.03, -0.06, 0.0]) * size
    hip = figure.joint("pelvis") + np.array([sign * 0.27, between(rng, -0.05, 0.15), 0.03]) * size
    wide, high = between(rng, 0.2, 0.4) * size, between(rng, 0.15, 0.3) * size
    bag = box(hip, [0.1 * size, high, wide])
    ends = [hip + offset(0, -high / 2, k * wide * 0.45) for k in (-1, 1)]
    strap = tube(np.stack([ends[0], shoulder, ends[1]]), 0.008, sectors=5)
    return [(bag, cloth(rng)), (strap, Material("plain", cloth_color(rng), gloss=0.3))]


def _tote(rng: Random, figure: PosedBody) -> Painted:
    """Make a tote bag that hangs from a hand by two thin handles."""
    hand = _grip(figure, pick(rng, ("L", "R")))
    size = figure.body.height / 1.7
    wide, high = between(rng, 0.2, 0.36) * size, between(rng, 0.15, 0.32) * size
    drop = between(rng, 0.05, 0.15) * size
    high = min(high, max(0.08, -hand[1] - drop - 0.03))
    center = hand + offset(0, drop + high / 2, 0)
    handles = [
        tube(
            hand + np.array([[x, drop, -0.3 * wide], [0, 0, 0], [x, drop, 0.3 * wide]]),
            0.005,
            sectors=5,
        )
        for x in (-0.03, 0.03)
    ]
    return [
        (box(center, [0.09 * size, high, wide]), cloth(rng)),
        (merge(handles), Material("plain", cloth_color(rng))),
    ]


def _case(rng: Random, figure: PosedBody) -> Painted:
    """Stand a suitcase on wheels beside the person, with its handle drawn out."""
    hand = _grip(figure, "R")
    high = between(rng, 0.45, 0.7)
    center = np.array([hand[0] + 0.06, -0.05 - high / 2, hand[2] - 0.12])
    rods = [
        tube(np.stack([hand + offset(0, 0, z), center + offset(0, -high / 2, z)]), 0.008, sectors=5)
        for z in (-0.08, 0.08)
    ]
    rods.append(
        tube(np.stack([hand + offset(0, 0, -0.09), hand + offset(0, 0, 0.09)]), 0.014, sectors=6)
    )
    wheels = [
        sphere(center + offset(x, high / 2 + 0.025, z), 0.025, sectors=8)
        for x in (-0.08, 0.08)
        for z in (-0.15, 0.15)
    ]
    dark = Material("plain", (0.03, 0.03, 0.03), gloss=0.3)
    shell = Material("plain", cloth_color(rng), gloss=between(rng, 0.1, 0.7))
    return [(box(center, [0.24, high, 0.42]), shell), (merge([*rods, *wheels]), dark)]


def _stick(rng: Random, figure: PosedBody) -> Painted:
    """Make a walking stick from the hand to the ground."""
    hand = _grip(figure, pick(rng, ("L", "R")))
    foot = np.array([hand[0] * 1.1, 0.0, hand[2] + between(rng, 0.05, 0.25)])
    crook = hand + np.array([[0, 0.02, 0.1], [0, -0.03, 0.07], [0, -0.03, 0.02], [0, 0.0, 0.0]])
    rod = tube(np.concatenate([crook, foot[None]]), between(rng, 0.008, 0.014), sectors=6)
    return [(rod, Material("planks", (0.2, 0.1, 0.05), scale=0.05, gloss=0.3))]


def _umbrella(rng: Random, figure: PosedBody) -> Painted:
    """Make an open umbrella: a thin shaft, eight panels."""
    hand = _grip(figure)
    top = figure.landmark("crown")[1] - between(rng, 0.2, 0.4)
    wide, deep = between(rng, 0.42, 0.65), between(rng, 0.16, 0.28)
    tip = np.array([hand[0] * 0.6, top, hand[2] - 0.08])
    angle = np.linspace(0, np.pi / 2, 6)
    dome = lathe(np.stack([wide * np.sin(angle), deep * np.cos(angle) - deep], -1)[::-1], sectors=8)
    shaft = tube(np.stack([hand + offset(0, 0.1, 0), tip + offset(0, -0.06, 0)]), 0.007, sectors=6)
    return [
        (dome.moved(tip), cloth(rng)),
        (shaft, Material("plain", (0.05, 0.05, 0.05), gloss=0.5)),
    ]


def _phone(rng: Random, figure: PosedBody) -> Painted:
    """Put a telephone in the hand, its screen toward the face."""
    shape = box([0, 0, 0], [0.072, 0.15, 0.009]).moved(
        _grip(figure) + offset(0, -0.05, 0.02), pitch=-25
    )
    return [(shape, Material("plain", cloth_color(rng), gloss=0.8, glow=between(rng, 0, 0.5)))]


def _cup(rng: Random, figure: PosedBody) -> Painted:
    """Put a cup in the hand."""
    hand = _grip(figure)
    return [
        (
            cylinder(hand + offset(0, 0.04, 0.03), 0.033, between(rng, 0.09, 0.15), top=0.042),
            cloth(rng),
        )
    ]


def _book(rng: Random, figure: PosedBody) -> Painted:
    """Hold an open book or a newspaper before the chest."""
    wide, high = between(rng, 0.22, 0.5), between(rng, 0.18, 0.38)
    center = _grip(figure) + offset(-0.4 * wide, -0.3 * high, 0.03)
    halves = [
        box([0, 0, 0], [wide / 2, high, 0.012]).moved(
            center + offset(k * wide / 4.2, 0, 0), yaw=k * 14.0, pitch=-20
        )
        for k in (-1, 1)
    ]
    return [
        (
            merge(halves),
            Material(
                "print",
                (0.75, 0.72, 0.66),
                (0.05, 0.05, 0.05),
                wide / 2,
                int(rng.integers(1 << 30)),
            ),
        )
    ]


def _balloon(rng: Random, figure: PosedBody) -> Painted:
    """Make a balloon on a string."""
    hand = _grip(figure)
    center = hand + offset(
        between(rng, -0.3, 0.3), -between(rng, 0.5, 1.1), between(rng, -0.2, 0.2)
    )
    ball = sphere(center, np.array([0.13, 0.16, 0.13]) * between(rng, 0.8, 1.2), sectors=14)
    string = tube(
        np.stack([hand, (hand + center) / 2 + offset(0.03, 0, 0), center]), 0.002, sectors=4
    )
    return [
        (ball, Material("plain", cloth_color(rng), gloss=0.7)),
        (string, Material("plain", (0.6, 0.6, 0.6))),
    ]


def _flag(rng: Random, figure: PosedBody) -> Painted:
    """Make a placard on a stick."""
    hand = _grip(figure, "R")
    top = hand + offset(0, -between(rng, 0.4, 0.8), 0)
    board = box(top, [between(rng, 0.3, 0.7), between(rng, 0.25, 0.5), 0.01])
    stick = tube(np.stack([hand + offset(0, 0.15, 0), top]), 0.01, sectors=6)
    return [
        (
            board,
            Material("print", (0.8, 0.78, 0.7), cloth_color(rng), 0.5, int(rng.integers(1 << 30))),
        ),
        (stick, Material("planks", (0.4, 0.28, 0.16))),
    ]


_HELD_OBJECTS = {
    "rucksack": _rucksack, "handbag": _handbag, "tote": _tote, "case": _case, "stick": _stick,
    "umbrella": _umbrella, "phone": _phone, "cup": _cup, "book": _book, "balloon": _balloon,
    "flag": _flag,
}  # fmt: skip
