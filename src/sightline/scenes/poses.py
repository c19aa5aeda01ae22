"""How people stand, walk, sit and lie: each pose a few directions, loosened by chance.

Directions as in `figures.Pose`: (out, down, forward), the same words for both sides.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sightline.errors import InputError
from sightline.scenes.figures import Direction, Pose

Random = np.random.Generator
Aims = dict[str, Direction]
Turns = dict[str, tuple[float, float, float]]
Whole = tuple[float, float, float] | None
Maker = Callable[[np.random.Generator, Aims, Turns], Whole]


def _standing(rng: Random, aims: Aims, _: Turns) -> Whole:
    """Stand with the weight on both feet or on one."""
    _side(rng, aims, "thigh", (rng.uniform(0.0, 0.25), 1.0, rng.uniform(-0.05, 0.15)))
    return None


def _hips(rng: Random, aims: Aims, _: Turns) -> Whole:
    """Stand with one hand or both on the hips."""
    for side in "LR" if rng.random() < 0.6 else rng.choice(["L", "R"]):
        aims[f"arm.{side}"] = (0.85, 0.9, -0.25)
        aims[f"forearm.{side}"] = (-0.85, 0.55, 0.45)
    return None


def _crossed(_rng: Random, aims: Aims, _: Turns) -> Whole:
    """Stand with arms folded over the chest."""
    for side, over in (("L", 0.0), ("R", 0.08)):
        aims[f"arm.{side}"] = (0.32, 1.0, 0.42)
        aims[f"forearm.{side}"] = (-1.0, -0.12 - over, 0.5 + over)
        aims[f"hand.{side}"] = (-1.0, -0.1, 0.0)
    return None


def _walking(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Walk: one leg ahead, the other behind, arms against them."""
    stride = rng.uniform(0.2, 0.55)
    ahead, behind = rng.permutation(["L", "R"])
    aims[f"thigh.{ahead}"], aims[f"shin.{ahead}"] = (0.04, 1.0, stride), (0.02, 1.0, stride * 0.5)
    aims[f"thigh.{behind}"] = (0.04, 1.0, -0.6 * stride)
    aims[f"shin.{behind}"] = (0.02, 1.0, -0.1 - 1.1 * stride)
    aims[f"foot.{ahead}"], aims[f"foot.{behind}"] = (0.15, 0.2, 1.0), (0.15, 0.6 + stride, 0.9)
    for side, swing in ((ahead, -stride), (behind, stride)):
        aims[f"arm.{side}"] = (aims[f"arm.{side}"][0], 1.0, swing)
        aims[f"forearm.{side}"] = (0.05, 1.0, swing + rng.uniform(0.2, 0.6))
    turns["spine"] = (0.0, rng.normal(-3, 2), 0.0)
    return None


def _running(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Run: high knee, bent elbows, leaning forward."""
    ahead, behind = rng.permutation(["L", "R"])
    lift = rng.uniform(0.6, 1.3)
    aims[f"thigh.{ahead}"], aims[f"shin.{ahead}"] = (0.05, 1.0, lift), (0.0, 1.0, -0.4)
    aims[f"thigh.{behind}"], aims[f"shin.{behind}"] = (0.0, 1.0, -0.45), (0.0, 0.8, -1.0)
    aims[f"foot.{behind}"] = (0.0, 1.0, 0.1)
    for side, swing in ((ahead, -0.8), (behind, 0.6)):
        aims[f"arm.{side}"] = (0.3, 1.0, swing)
        aims[f"forearm.{side}"] = (-0.15, 0.3 - swing * 0.6, 1.0)
    turns["pelvis"] = (0.0, -10.0, 0.0)
    return None


def _sitting(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Sit on something as high as the lower legs, hands on the lap, a table or beside."""
    spread, tuck = rng.uniform(0.02, 0.3), rng.uniform(-0.35, 0.3)
    arms = int(rng.integers(3))
    for side in "LR":
        aims[f"thigh.{side}"], aims[f"shin.{side}"] = (spread, 0.02, 1.0), (0.0, 1.0, tuck)
        aims[f"foot.{side}"] = (rng.uniform(0.0, 0.3), 0.42, 1.0)
        ahead = (0.35, 0.55)[arms == 1]
        aims[f"arm.{side}"] = (0.2, 1.0, ahead) if arms < 2 else (0.35, 1.0, -0.1)
        aims[f"forearm.{side}"] = ((-0.25, 0.35, 1.0), (-0.2, -0.05, 1.0), (0.0, 0.9, 0.45))[arms]
    turns["pelvis"] = (0.0, rng.uniform(-4, 10), 0.0)
    turns["chest"] = (rng.normal(0, 6), rng.uniform(-16, 4), 0.0)
    return None


def _reaching(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Reach for something in front, above or beside with one arm."""
    reach = (rng.uniform(-0.2, 0.7), rng.uniform(-0.8, 0.5), 1.0)
    side = _side(rng, aims, "arm", reach)
    aims[f"forearm.{side}"] = (reach[0] - 0.2, reach[1] - 0.1, reach[2])
    turns["chest"] = (rng.normal(0, 8), rng.uniform(-15, 3), 0.0)
    return None


def _raised(rng: Random, aims: Aims, _: Turns) -> Whole:
    """Hold both arms up, or wave with one."""
    for side in "LR" if rng.random() < 0.4 else rng.choice(["L", "R"]):
        aims[f"arm.{side}"] = (1.0, rng.uniform(-1.2, 0.3), rng.uniform(-0.1, 0.4))
        aims[f"forearm.{side}"] = (rng.uniform(-0.3, 0.5), -1.0, rng.uniform(0.0, 0.4))
        aims[f"hand.{side}"] = aims[f"forearm.{side}"]
    return None


def _holding(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Hold something in front: a telephone, a cup, the handle of an umbrella; in the right hand."""
    aims["arm.R"] = (0.3, 1.0, rng.uniform(0.05, 0.4))
    aims["forearm.R"] = (rng.uniform(-0.5, 0.1), rng.uniform(-0.7, 0.0), 1.0)
    aims["hand.R"] = (-0.2, -0.3, 1.0)
    if rng.random() < 0.4:
        aims["arm.L"], aims["forearm.L"] = (0.25, 1.0, 0.3), (-0.5, -0.2, 1.0)
    turns["head"] = (rng.normal(0, 6), rng.uniform(-25, 0), 0.0)
    return None


def _bending(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Bend forward from the hips, arms down or ahead."""
    lean = rng.uniform(25, 75)
    turns["pelvis"], turns["spine"] = (0.0, -0.6 * lean, 0.0), (0.0, -0.3 * lean, 0.0)
    turns["chest"], turns["neck"] = (rng.normal(0, 5), -0.15 * lean, 0.0), (0.0, 0.3 * lean, 0.0)
    for side in "LR":
        aims[f"thigh.{side}"] = (0.12, 1.0, -0.15)
        aims[f"arm.{side}"] = (0.15, 1.0, rng.uniform(0.0, 0.6))
        aims[f"forearm.{side}"] = (-0.05, 1.0, rng.uniform(0.1, 0.9))
    return None


def _crouching(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Squat on the heels."""
    for side in "LR":
        aims[f"thigh.{side}"], aims[f"shin.{side}"] = (0.35, -0.15, 1.0), (0.0, 1.0, -0.75)
        aims[f"foot.{side}"] = (0.25, 0.5, 1.0)
        aims[f"arm.{side}"] = (0.25, 1.0, 0.55)
        aims[f"forearm.{side}"] = (-0.2, rng.uniform(0.0, 1.0), 1.0)
    turns["pelvis"], turns["chest"] = (0.0, -22.0, 0.0), (0.0, -10.0, 0.0)
    return None


def _kneeling(rng: Random, aims: Aims, _: Turns) -> Whole:
    """Kneel on one knee or both."""
    for side in "LR":
        aims[f"thigh.{side}"], aims[f"shin.{side}"] = (0.1, 1.0, 0.2), (0.0, 0.12, -1.0)
        aims[f"foot.{side}"] = (0.0, 0.4, -1.0)
    if rng.random() < 0.5:
        side = _side(rng, aims, "thigh", (0.15, 0.1, 1.0))
        aims[f"shin.{side}"], aims[f"foot.{side}"] = (0.0, 1.0, 0.0), (0.1, 0.42, 1.0)
    return None


def _lying(rng: Random, aims: Aims, _: Turns) -> Whole:
    """Lie on the back, the front or a side; what is below must not lift the body off the ground."""
    on = str(rng.choice(["back", "front", "side"], p=[0.5, 0.2, 0.3]))
    for side in "LR":
        out, ahead = (0.0, 1.0) if on == "side" else (rng.uniform(0.2, 1.2), 0.0)
        aims[f"arm.{side}"] = (out, 0.7, ahead)
        aims[f"forearm.{side}"] = (out * rng.uniform(-0.3, 0.7), 0.7, ahead)
        aims[f"foot.{side}"] = (0.2, 1.0, 0.5)
    if on == "back" and rng.random() < 0.5:
        side = _side(rng, aims, "thigh", (0.1, 1.0, 1.0))
        aims[f"shin.{side}"], aims[f"foot.{side}"] = (0.0, 1.0, -0.8), (0.1, 0.9, 0.2)
    return {"back": (0.0, 88.0, 0.0), "front": (0.0, -88.0, 0.0), "side": (0.0, 0.0, 88.0)}[on]


def _side(rng: Random, aims: Aims, limb: str, aim: Direction) -> str:
    """Aim a limb on one side, and say on which."""
    side = str(rng.choice(["L", "R"]))
    aims[f"{limb}.{side}"] = aim
    return side


#: Every pose by its name.
POSES: dict[str, Maker] = {
    "standing": _standing,
    "hips": _hips,
    "crossed": _crossed,
    "walking": _walking,
    "running": _running,
    "sitting": _sitting,
    "reaching": _reaching,
    "raised": _raised,
    "holding": _holding,
    "bending": _bending,
    "crouching": _crouching,
    "kneeling": _kneeling,
    "lying": _lying,
}


def draw_pose(rng: np.random.Generator, name: str, *, stout: float = 0.0) -> Pose:
    """Choose a pose of one kind, different each time.

    Args:
        rng: where chance comes from.
        name: one of `POSES`.
        stout: how much farther out arms must hang to clear the body, 0 for slim people.
    """
    if name not in POSES:
        raise InputError(f"no pose {name!r}", remedy=f"choose one of {', '.join(POSES)}")
    aims: dict[str, Direction] = {}
    turns = {
        "pelvis": (0.0, rng.normal(0, 1.5), rng.normal(0, 2)),
        "spine": (rng.normal(0, 4), rng.normal(0, 2), rng.normal(0, 2)),
        "chest": (rng.normal(0, 5), rng.normal(-1, 2), rng.normal(0, 2)),
        "neck": (rng.normal(0, 6), rng.normal(0, 4), rng.normal(0, 2)),
        "head": (rng.normal(0, 14), rng.normal(-2, 7), rng.normal(0, 4)),
    }
    for side in "LR":
        aims[f"arm.{side}"] = (0.2 + stout, 1.0, 0.0)
        aims[f"forearm.{side}"] = (0.08 + stout, 1.0, rng.uniform(0.05, 0.4))
        aims[f"thigh.{side}"] = (rng.uniform(0.02, 0.14), 1.0, 0.02)
        aims[f"shin.{side}"] = (rng.uniform(0.0, 0.08), 1.0, -0.05)
        aims[f"foot.{side}"] = (rng.uniform(0.0, 0.4), 0.42, 1.0)
    whole = POSES[name](rng, aims, turns)
    for limb, (out, down, forward) in aims.items():
        size = 0.03 if limb.startswith(("thigh", "shin", "foot")) else 0.08
        a, b, c = rng.normal(0, size, 3)
        aims[limb] = (out + a, down + b, forward + c)
    return Pose(name, aims, turns, whole or (0.0, 0.0, 0.0))
