"""Damage clean videos on purpose, so that the rules for abnormal videos can be measured.

    damaged = damage(motion, "vanish", seed=7)
    frames = render_damaged(damaged, size=128)

Seven kinds, each of a size that a person notices at first sight, chosen once and never by the video:

    vanish        a body is gone for 5 to 10 frames, or for good with at least 6 frames to go
    teleport      a body is 1.5 to 3 world units elsewhere from one frame to the next, and goes on there
    speed-up      a body suddenly moves 1.8 to 2.5 times as fast, by at least 1.2 units/s
    recolor      a body has quite another color from some frame on
    pass-through  two bodies go on through each other (videos of two bodies that meet only)
    energy-gain   after the impact everything is 1.5 times as fast; a body alone gains 40 % of its
                  speed (of 1 unit/s at least) per second
    shape-swap    a ball turns into a square of the same size, or a square into a ball

The damage begins at a frame with at least 6 frames before it and 6 after it in which the body is
wholly in the picture. Same motion, kind and seed: same video.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.rendering import render
from sightline.physics.types import WORLD_SIDE, Doubles, Frames, Motion, Shape

Kind = Literal[
    "vanish", "teleport", "speed-up", "recolor", "pass-through", "energy-gain", "shape-swap"
]
KINDS: tuple[str, ...] = get_args(Kind)

#: Frames in which the body is wholly in the picture, before the damage and after it.
QUIET = 6

_COLORS = np.array(
    [[255, 0, 0], [0, 0, 255], [0, 160, 0], [0, 0, 0], [255, 0, 255], [255, 160, 0]], np.uint8
)
_OTHER_COLOR = 180.0  # levels to every color in the video


@dataclass(frozen=True, slots=True)
class Damaged:
    """A video in which bodies may change from frame to frame in any way.

    Attributes:
        positions: (T, N, 2) float64, centers in world units.
        sizes: (T, N) float64.
        colors: (T, N, 3) uint8.
        shapes: (T, N) uint8.
        visible: (T, N) bool.
        frame_time: seconds between frames.
        kind: what was done.
        frame: where it begins.
        body: to whom; -1 for all.
    """

    positions: Doubles
    sizes: Doubles
    colors: NDArray[np.uint8]
    shapes: NDArray[np.uint8]
    visible: NDArray[np.bool_]
    frame_time: float
    kind: str
    frame: int
    body: int


def damage(motion: Motion, kind: str, seed: int = 0) -> Damaged:
    """Damage a video.

    Args:
        motion: a clean one.
        kind: one of `KINDS`.
        seed: of where, when and how much.
    """
    if kind not in KINDS:
        raise InputError(f"no damage is called {kind!r}", remedy=f"use {', '.join(KINDS)}")
    random = np.random.default_rng(np.random.SeedSequence((seed, KINDS.index(kind))))
    damaged = _copy(motion, kind)
    if kind == "pass-through":
        return _pass_through(motion, damaged)
    if kind == "energy-gain":
        return _gain(motion, damaged)
    body, frame = _when(motion, random)
    if kind == "vanish":
        end = len(motion.positions) if random.random() < 0.5 else frame + random.integers(5, 11)
        damaged.visible[frame:end, body] = False
    elif kind == "teleport":
        damaged.positions[frame:, body] += _leap(motion, body, frame, random)
    elif kind == "speed-up":
        speed = float(np.linalg.norm(motion.velocities[frame, body]))
        way = motion.velocities[frame, body] / speed if speed > 0 else np.array([1.0, 0.0])
        more = max((random.uniform(1.8, 2.5) - 1) * speed, 1.2)
        later = np.arange(len(motion.positions) - frame) * motion.frame_time
        damaged.positions[frame:, body] += later[:, None] * more * way
    elif kind == "recolor":
        damaged.colors[frame:, body] = _other_color(motion, random)
    else:
        ball = motion.shapes[body] == Shape.BALL
        damaged.shapes[frame:, body] = Shape.SQUARE if ball else Shape.BALL
    return _at(damaged, frame, body)


def render_damaged(damaged: Damaged, size: int = 128) -> Frames:
    """Return the (T, size, size, 3) uint8 video, drawn frame by frame as `render` draws."""
    frames = np.full((len(damaged.positions), size, size, 3), 255, np.uint8)
    for t, visible in enumerate(damaged.visible):
        if visible.any():
            still = Motion(
                damaged.positions[t : t + 1, visible],
                np.zeros((1, int(visible.sum()), 2)),
                damaged.sizes[t, visible],
                damaged.colors[t, visible],
                damaged.shapes[t, visible],
                damaged.frame_time,
            )
            frames[t] = render(still, size)[0]
    return frames


def impact_frame(motion: Motion) -> int:
    """Return the first frame of two bodies' motion after their impact; an error if they never meet."""
    change = np.abs(np.diff(motion.velocities, axis=0)).max(axis=(1, 2))
    late = np.flatnonzero(change > 0.05)
    if len(motion.sizes) < 2 or len(late) == 0:
        raise InputError("nothing meets in this motion, so nothing can pass through")
    return int(late[0]) + 1


def _copy(motion: Motion, kind: str) -> Damaged:
    frames, bodies = motion.positions.shape[:2]
    return Damaged(
        motion.positions.copy(),
        np.tile(motion.sizes, (frames, 1)),
        np.tile(motion.colors, (frames, 1, 1)),
        np.tile(motion.shapes, (frames, 1)),
        np.ones((frames, bodies), np.bool_),
        motion.frame_time,
        kind,
        0,
        -1,
    )


def _at(damaged: Damaged, frame: int, body: int) -> Damaged:
    return Damaged(
        damaged.positions,
        damaged.sizes,
        damaged.colors,
        damaged.shapes,
        damaged.visible,
        damaged.frame_time,
        damaged.kind,
        frame,
        body,
    )


def _when(motion: Motion, random: np.random.Generator) -> tuple[int, int]:
    """Choose a body and a frame with enough quiet frames around it."""
    margin = motion.sizes[:, None]
    within = (motion.positions >= margin) & (motion.positions <= WORLD_SIDE - margin)
    inside: NDArray[np.bool_] = np.logical_and(within[..., 0], within[..., 1])
    choices = [
        (body, frame)
        for body in range(len(motion.sizes))
        for frame in range(QUIET, len(inside) - QUIET)
        if inside[frame - QUIET : frame + QUIET, body].all()
    ]
    if not choices:
        raise InputError(f"no body is in the picture for {2 * QUIET} frames, too few for a damage")
    return choices[int(random.integers(len(choices)))]


def _leap(motion: Motion, body: int, frame: int, random: np.random.Generator) -> Doubles:
    """Choose how far a body jumps: into the picture, and not into another body."""
    place, size = motion.positions[frame, body], motion.sizes[body]
    others = [other for other in range(len(motion.sizes)) if other != body]
    leap = np.zeros(2)
    for _ in range(200):
        angle, length = random.uniform(0, 2 * np.pi), random.uniform(1.5, 3.0)
        leap = length * np.array([np.cos(angle), np.sin(angle)])
        there = place + leap
        free = all(
            np.linalg.norm(there - motion.positions[frame, other]) > size + motion.sizes[other]
            for other in others
        )
        if free and (there >= size).all() and (there <= WORLD_SIDE - size).all():
            break
    return leap


def _other_color(motion: Motion, random: np.random.Generator) -> NDArray[np.uint8]:
    """Choose a color that is far from every color in the video."""
    away = np.linalg.norm(
        _COLORS[:, None].astype(np.float64) - motion.colors[None].astype(np.float64), axis=2
    ).min(axis=1)
    far = np.flatnonzero(away > _OTHER_COLOR)
    return _COLORS[int(random.choice(far))]


def _pass_through(motion: Motion, damaged: Damaged) -> Damaged:
    """Let two bodies go on as before their impact."""
    frame = impact_frame(motion)
    later = np.arange(len(motion.positions) - frame + 1) * motion.frame_time
    before = motion.positions[frame - 1] + later[:, None, None] * motion.velocities[frame - 1]
    damaged.positions[frame - 1 :] = before
    return _at(damaged, frame, -1)


def _gain(motion: Motion, damaged: Damaged) -> Damaged:
    """Let speed grow: at the impact, or steadily for a body alone."""
    if len(motion.sizes) > 1:
        frame = impact_frame(motion)
        start = motion.positions[frame]
        damaged.positions[frame:] = start + 1.5 * (motion.positions[frame:] - start)
        return _at(damaged, frame, -1)
    velocity = motion.velocities[0, 0]
    speed = float(np.linalg.norm(velocity))
    way = velocity / speed if speed > 0 else np.array([1.0, 0.0])
    time = np.arange(len(motion.positions)) * motion.frame_time
    damaged.positions[:, 0] += 0.5 * 0.4 * max(speed, 1.0) * time[:, None] ** 2 * way
    return _at(damaged, 0, 0)
