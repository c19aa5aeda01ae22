"""A camera that moves through a textured room: frames with exact depth, to measure flicker on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.scenes.meshes import Mesh, Vector, box, column, merge, quad
from sightline.scenes.render import Frame, Material, Scene, render
from sightline.scenes.textures import Name
from sightline.types import Camera

#: Width, height and length of the room in [m].
ROOM = (7.0, 3.0, 9.0)

#: Usual colours, linear RGB.
TINTS: dict[Name, tuple[float, float, float]] = {
    "planks": (0.62, 0.42, 0.26),
    "plaster": (0.9, 0.87, 0.8),
    "brick": (0.68, 0.36, 0.27),
    "checker": (0.8, 0.8, 0.78),
    "cloth": (0.4, 0.5, 0.75),
}


def room(seed: int = 0) -> Scene:
    """Make a furnished room: floor, ceiling, four walls, boxes, columns and a leaning board.

    The floor is y = 0 and the room reaches up to y = −3; it is centred on x = z = 0.
    """
    rng = np.random.default_rng(seed)
    materials: list[Material] = []

    def paint(name: Name) -> int:
        """Add a material in a shade of its usual colour and give its number."""
        shade = np.array(TINTS[name]) * rng.uniform(0.75, 1.1) * rng.uniform(0.85, 1.15, 3)
        r, g, b = (float(x) for x in np.clip(shade, 0.05, 1.0))
        materials.append(Material(name, (r, g, b), int(rng.integers(2**31))))
        return len(materials) - 1

    parts = _shell(paint("planks"), paint("plaster"), paint("brick"), paint("plaster"))
    parts += _furniture(rng, [paint("planks"), paint("checker"), paint("cloth"), paint("brick")])
    lamps = np.array([[rng.uniform(-2, 2), -2.7, z + rng.uniform(-0.5, 0.5)] for z in (-2.0, 2.0)])
    return Scene(merge(parts), tuple(materials), lamps, rng.uniform(2.0, 3.0, len(lamps)))


def _shell(floor: int, ceiling: int, end_walls: int, side_walls: int) -> list[Mesh]:
    """Six sheets around the room."""
    x, y, z = ROOM[0] / 2, ROOM[1], ROOM[2] / 2
    return [
        quad([-x, 0, -z], [2 * x, 0, 0], [0, 0, 2 * z], floor),
        quad([-x, -y, -z], [2 * x, 0, 0], [0, 0, 2 * z], ceiling),
        quad([-x, 0, z], [2 * x, 0, 0], [0, -y, 0], end_walls),
        quad([-x, 0, -z], [2 * x, 0, 0], [0, -y, 0], end_walls),
        quad([-x, 0, -z], [0, 0, 2 * z], [0, -y, 0], side_walls),
        quad([x, 0, -z], [0, 0, 2 * z], [0, -y, 0], side_walls),
    ]


def _furniture(rng: np.random.Generator, paints: list[int]) -> list[Mesh]:
    """Boxes of table and cupboard size, two columns, and a board that leans against the wall."""
    parts: list[Mesh] = []
    for _ in range(9):
        size = rng.uniform([0.3, 0.3, 0.3], [1.3, 1.5, 1.3])
        side = rng.choice([-1, 1])
        place = [side * rng.uniform(1.0, 2.7), -size[1] / 2, rng.uniform(-3.5, 3.9)]
        parts.append(box(place, size, int(rng.choice(paints)), yaw=float(rng.uniform(-40, 40))))
    for side in (-1, 1):
        foot = [side * rng.uniform(1.4, 2.2), 0.0, rng.uniform(0.0, 2.5)]
        parts.append(column(foot, rng.uniform(0.12, 0.25), ROOM[1], int(rng.choice(paints))))
    table = rng.uniform([-0.6, 0.0, 2.4], [0.6, 0.0, 3.2])
    parts.append(box([table[0], -0.72, table[2]], [1.4, 0.05, 0.8], paints[0]))
    for dx in (-0.6, 0.6):
        for dz in (-0.3, 0.3):
            leg = [table[0] + dx, -0.35, table[2] + dz]
            parts.append(box(leg, [0.06, 0.7, 0.06], paints[0]))
    lean = ROOM[0] / 2 - 0.05
    parts.append(quad([lean - 0.8, 0, -1.0], [0, 0, 1.2], [0.75, -2.0, 0], paints[1]))
    return parts


def room_clip(
    frames: int = 48,
    *,
    width: int = 320,
    height: int = 240,
    fov: float = 70.0,
    seed: int = 0,
    fps: float = 24.0,
) -> Iterator[Frame]:
    """Render a walk through `room(seed)` at about walking pace; the same seed gives the same bytes.

    Args:
        frames: how many.
        width: picture width in [px].
        height: picture height in [px].
        fov: horizontal field of view in [degrees].
        seed: of the room and of the path.
        fps: frames per second; sets how far the camera moves between frames.
    """
    if frames < 1 or fps <= 0:
        raise InputError(
            f"a clip needs frames and a rate, got {frames} frames at {fps:g} per second"
        )
    scene = room(seed)
    camera = Camera.from_fov(fov, width, height)
    for number in range(frames):
        yield render(scene, camera, path_pose(number / fps, seed))


def path_pose(seconds: float, seed: int = 0) -> NDArray[np.float64]:
    """(4, 4) camera-to-world pose of a hand-held camera that wanders through the room.

    It moves to and fro along the room at up to 0.8 m/s, sways, bobs, and looks about.
    """
    phase = np.random.default_rng([seed, 7]).uniform(0, 2 * np.pi, 6)
    wave = np.sin(np.array([0.35, 0.5, 5.0, 0.6, 0.45, 1.7]) * seconds + phase)
    eye = [0.7 * wave[1], -1.5 + 0.02 * wave[2], -1.6 + 2.2 * wave[0]]
    target = [1.1 * wave[3], -1.0 + 0.25 * wave[4], 4.3]
    return look_at(eye, target, roll=1.5 * float(wave[5]))


def look_at(eye: Vector, target: Vector, *, roll: float = 0.0) -> NDArray[np.float64]:
    """(4, 4) camera-to-world pose at `eye`, looking at `target`, upright but for `roll` [degrees]."""
    forward = np.asarray(target, np.float64) - np.asarray(eye, np.float64)
    forward /= np.linalg.norm(forward)
    right = np.cross([0.0, 1.0, 0.0], forward)
    right /= np.linalg.norm(right)
    down = np.cross(forward, right)
    turn = np.radians(roll)
    pose = np.eye(4)
    pose[:3, 0] = np.cos(turn) * right + np.sin(turn) * down
    pose[:3, 1] = np.cos(turn) * down - np.sin(turn) * right
    pose[:3, 2] = forward
    pose[:3, 3] = np.asarray(eye, np.float64)
    return pose


def slanted_plane(
    camera: Camera, *, slope: tuple[float, float] = (0.3, 0.5), distance: float = 3.0, seed: int = 0
) -> Frame:
    """Render one endless textured plane: the depth map whose disparity is linear in the picture.

    Args:
        camera: lens and picture size.
        slope: how fast depth grows with x and with −y, in metres per metre; the plane is
            z = distance + slope[0]·x − slope[1]·y.
        distance: along the optical axis, [m].
        seed: of the texture.
    """
    far = 400.0
    u, v = np.array([1.0, 0.0, slope[0]]), np.array([0.0, 1.0, -slope[1]])
    sheet = quad(-far * (u + v) + [0, 0, distance], 2 * far * u, 2 * far * v, 0)
    lamps = np.array([[0.0, -1.0, 0.0]])
    scene = Scene(sheet, (Material("checker", (0.8, 0.75, 0.7), seed),), lamps, np.array([2.0]))
    return render(scene, camera, np.eye(4))
