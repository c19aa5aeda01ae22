"""Render clips of a camera that moves through a textured room, with exact depth and poses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.scenes.camera import look_at
from sightline.scenes.meshes import box, cylinder, quad
from sightline.scenes.rendering.renderer import RenderedFrame, render
from sightline.scenes.world import Color, Light, Material, Pattern, SceneWorld, WorldBuilder
from sightline.types import Camera

#: Width, height and length of the room in [m].
ROOM = (7.0, 3.0, 9.0)

#: Tint, second color and unit size in [m] of each pattern.
PAINTS: dict[Pattern, tuple[Color, Color, float]] = {
    "planks": ((0.5, 0.33, 0.2), (0.3, 0.18, 0.1), 0.15),
    "plaster": ((0.75, 0.72, 0.66), (0.5, 0.46, 0.4), 0.8),
    "brick": ((0.45, 0.22, 0.16), (0.6, 0.58, 0.55), 0.25),
    "checker": ((0.65, 0.65, 0.62), (0.2, 0.2, 0.22), 0.4),
    "cloth": ((0.25, 0.33, 0.5), (0.6, 0.6, 0.55), 0.5),
}

#: Ambient light, relative to a lamp at 1 m.
AMBIENT = (0.32, 0.32, 0.32)


def textured_room(seed: int = 0) -> SceneWorld:
    """Make a furnished room: floor, ceiling, four walls, boxes, columns and a leaning board.

    The floor is y = 0 and the room reaches up to y = −3; it is centered on x = z = 0.
    """
    rng = np.random.default_rng(seed)
    builder = WorldBuilder()

    def paint(pattern: Pattern) -> int:
        """Register a material in a random shade of its usual color; return its number."""
        tint, second, scale = PAINTS[pattern]
        shade = np.array(tint) * rng.uniform(0.75, 1.1) * rng.uniform(0.85, 1.15, 3)
        r, g, b = (float(x) for x in np.clip(shade, 0.05, 1.0))
        number = int(rng.integers(2**31))
        return builder.paint(Material(pattern, (r, g, b), second, scale, number))

    _shell(builder, paint("planks"), paint("plaster"), paint("brick"), paint("plaster"))
    _furnish(builder, rng, [paint("planks"), paint("checker"), paint("cloth"), paint("brick")])
    lamps = np.array([[rng.uniform(-2, 2), -2.7, z + rng.uniform(-0.5, 0.5)] for z in (-2.0, 2.0)])
    power = np.repeat(rng.uniform(2.0, 3.0, (len(lamps), 1)), 3, axis=1)
    return builder.finish(Light(lamps=lamps, lamp_power=power, above=AMBIENT, below=AMBIENT))


def _shell(
    builder: WorldBuilder, floor: int, ceiling: int, end_walls: int, side_walls: int
) -> None:
    """Put six sheets around the room."""
    x, y, z = ROOM[0] / 2, ROOM[1], ROOM[2] / 2
    builder.add(quad([-x, 0, -z], [2 * x, 0, 0], [0, 0, 2 * z]), floor)
    builder.add(quad([-x, -y, -z], [2 * x, 0, 0], [0, 0, 2 * z]), ceiling)
    builder.add(quad([-x, 0, z], [2 * x, 0, 0], [0, -y, 0]), end_walls)
    builder.add(quad([-x, 0, -z], [2 * x, 0, 0], [0, -y, 0]), end_walls)
    builder.add(quad([-x, 0, -z], [0, 0, 2 * z], [0, -y, 0]), side_walls)
    builder.add(quad([x, 0, -z], [0, 0, 2 * z], [0, -y, 0]), side_walls)


def _furnish(builder: WorldBuilder, rng: np.random.Generator, paints: list[int]) -> None:
    """Add boxes of cupboard size, two columns, a table, and a board that leans on the wall."""
    for _ in range(9):
        size = rng.uniform([0.3, 0.3, 0.3], [1.3, 1.5, 1.3])
        side = rng.choice([-1, 1])
        place = [side * rng.uniform(1.0, 2.7), -size[1] / 2, rng.uniform(-3.5, 3.9)]
        with builder.instance("box"):
            paint = int(rng.choice(paints))
            builder.add(box(place, size, yaw=float(rng.uniform(-40, 40))), paint)
    for side in (-1, 1):
        foot = [side * rng.uniform(1.4, 2.2), 0.0, rng.uniform(0.0, 2.5)]
        with builder.instance("column"):
            radius = float(rng.uniform(0.12, 0.25))
            builder.add(cylinder(foot, radius, ROOM[1], sectors=24), int(rng.choice(paints)))
    x, _, z = rng.uniform([-0.6, 0.0, 2.4], [0.6, 0.0, 3.2])
    with builder.instance("table"):
        builder.add(box([x, -0.72, z], [1.4, 0.05, 0.8]), paints[0])
        for dx in (-0.6, 0.6):
            for dz in (-0.3, 0.3):
                builder.add(box([x + dx, -0.35, z + dz], [0.06, 0.7, 0.06]), paints[0])
    lean = ROOM[0] / 2 - 0.05
    with builder.instance("board"):
        builder.add(quad([lean - 0.8, 0, -1.0], [0, 0, 1.2], [0.75, -2.0, 0]), paints[1])


def room_clip(
    frames: int = 48,
    *,
    width: int = 320,
    height: int = 240,
    fov: float = 70.0,
    seed: int = 0,
    fps: float = 24.0,
) -> Iterator[RenderedFrame]:
    """Render a walk through a textured room; the same seed gives the same bytes.

    Args:
        frames: number of frames.
        width: picture width, [px].
        height: picture height, [px].
        fov: horizontal field of view, [degrees].
        seed: random seed of the room and of the path.
        fps: frames per second; determines the motion between frames.

    Yields:
        Pictures with exact depth, camera and pose.
    """
    if frames < 1 or fps <= 0:
        raise InputError(
            f"frames and fps must be positive, got {frames} frames at {fps:g} per second"
        )
    world = textured_room(seed)
    camera = Camera.from_fov(fov, width, height)
    for number in range(frames):
        # Fixed exposure: automatic exposure would flicker by itself.
        yield render(world, camera, path_pose(number / fps, seed), exposure=1.0)


def path_pose(seconds: float, seed: int = 0) -> NDArray[np.float64]:
    """Return the (4, 4) camera-to-world pose of a hand-held camera at a time.

    It moves to and fro along the room at up to 0.8 m/s, sways, bobs, and looks about.
    """
    phase = np.random.default_rng([seed, 7]).uniform(0, 2 * np.pi, 6)
    wave = np.sin(np.array([0.35, 0.5, 5.0, 0.6, 0.45, 1.7]) * seconds + phase)
    eye = [0.7 * wave[1], -1.5 + 0.02 * wave[2], -1.6 + 2.2 * wave[0]]
    target = [1.1 * wave[3], -1.0 + 0.25 * wave[4], 4.3]
    return look_at(eye, target, roll=1.5 * float(wave[5]))
