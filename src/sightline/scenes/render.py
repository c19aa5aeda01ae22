"""A world and a camera to a picture with exact depth: rasterise, then shade only what is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.rasterise import nearest_faces, turned
from sightline.scenes.develop import develop
from sightline.scenes.mirrors import no_reflections, reflections
from sightline.scenes.occlusion import ambient_occlusion
from sightline.scenes.photos import PhotoTextures, no_photos
from sightline.scenes.shade import shade
from sightline.scenes.shadows import Shadows, lamp_shadows, no_shadows, sun_shadows
from sightline.scenes.sky import dome
from sightline.scenes.tables import CLEAR, Scene, eye, lights, surfaces
from sightline.scenes.world import World
from sightline.types import BoolArray, Camera, DepthMap, FloatArray, Kind

#: Nothing nearer than this is seen, [m].
NEAR = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A rendered picture and the truth about it.

    Attributes:
        pixels: (H, W, 3) uint8 RGB.
        depth: metres along the optical axis, exact at pixel centres; not valid where nothing is seen.
            Of glass and mirrors it is the surface's own.
        pose: (4, 4) camera to world.
        instance: (H, W) int32; 0 for background and sky, else 1 + place in `kinds`.
        kinds: name of each instance, seen or not.
        sky: (H, W) bool; True where the sky is seen: known to be infinitely far.
    """

    pixels: NDArray[np.uint8]
    depth: DepthMap
    pose: NDArray[np.float64]
    instance: NDArray[np.int32]
    kinds: tuple[str, ...]
    sky: BoolArray

    @property
    def camera(self) -> Camera:
        """The lens that saw it."""
        if self.depth.camera is None:
            raise ValueError("a rendered frame always has a camera")
        return self.depth.camera

    @property
    def disparity(self) -> FloatArray:
        """(H, W) float32 one over depth in [1/m]: 0 in the sky, and where nothing is known."""
        safe = np.where(self.depth.valid, self.depth.values, np.float32(1))
        return np.where(self.depth.valid, 1 / safe, np.float32(0)).astype(np.float32)


def render(
    world: World,
    camera: Camera,
    pose: NDArray[np.float64],
    *,
    supersample: int = 2,
    shadows: bool = True,
    textures: PhotoTextures | None = None,
    exposure: float | None = None,
) -> Frame:
    """Render one picture.

    Args:
        world: what there is to see.
        camera: lens and picture size.
        pose: (4, 4) camera to world, rotation and translation in [m].
        supersample: edges are smoothed over this many samples squared per pixel; depth and instances
            are never averaged, since a mean of front and back lies on neither.
        shadows: cast shadows from the sun or the first lamp.
        textures: pictures for materials with the pattern `photo`; without them these get another.
        exposure: factor on the light before it becomes 8 bits; None measures it as a camera does.
    """
    if supersample < 1:
        raise InputError(f"a picture needs at least one sample per pixel, got {supersample}")
    to_camera = pose[:3, :3].T
    points = turned(world.vertices, to_camera, -to_camera @ pose[:3, 3])
    nearness, face = nearest_faces(points, world.faces, camera, near=NEAR)
    filled = face >= 0
    depth = np.zeros(face.shape, np.float32)
    np.divide(1.0, nearness, out=depth, where=filled, casting="same_kind")
    coarse_face, places, distance = _places(face, nearness, camera, pose)
    scene = Scene(
        surfaces(world, points, len(textures) if textures else 0),
        lights(world.light),
        _shadows(world, places, distance) if shadows else no_shadows(),
        ambient_occlusion(nearness, face, points, world.faces, camera),
        dome(world.sky, world.light),
        textures.sheets if textures else no_photos(),
        no_reflections(),
    )
    scene = scene._replace(reflections=reflections(world, scene, coarse_face, places, pose[:3, 3]))
    light = np.empty((*face.shape, 3), np.float32)
    seen, glass = _samples(world, points, camera, supersample, scene.surfaces.table[:, CLEAR] > 0)
    shade(seen, glass, eye(camera, pose[:3, :3]), scene, light)
    return Frame(
        develop(light, exposure),
        DepthMap(depth, Kind.METRIC_DEPTH, filled, camera, source="sightline.scenes"),
        pose,
        np.where(filled, world.instance[face], np.int32(0)),
        world.kinds,
        ~filled & (world.sky is not None),
    )


def _places(
    face: NDArray[np.int32],
    nearness: NDArray[np.float64],
    camera: Camera,
    pose: NDArray[np.float64],
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """Take every third pixel that sees something.

    Returns:
        (N,) its face, (N, 3) its place in the world in [m], (N,) its depth in [m].
    """
    rows, columns = np.nonzero(face[1::3, 1::3] >= 0)
    rows, columns = 3 * rows + 1, 3 * columns + 1
    z = 1 / nearness[rows, columns]
    pixels = np.stack([columns * z, rows * z, z], -1)
    to_world = pose[:3, :3] @ np.linalg.inv(camera.K)
    return face[rows, columns], turned(pixels, to_world, pose[:3, 3]), z


def _samples(
    world: World, points: NDArray[np.float64], camera: Camera, supersample: int, clear: BoolArray
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Face seen at each of supersample² places per pixel: opaque ones, and clear ones before them."""
    fine = camera.resized(camera.width * supersample, camera.height * supersample)
    see_through = clear[world.material]
    if not see_through.any():
        return nearest_faces(points, world.faces, fine, near=NEAR)[1], np.zeros((0, 0), np.int32)
    opaque, panes = (np.flatnonzero(x).astype(np.int32) for x in (~see_through, see_through))
    nearness, seen = nearest_faces(points, world.faces[opaque], fine, near=NEAR)
    _, glass = nearest_faces(points, world.faces[panes], fine, near=NEAR, behind=nearness)
    return (
        np.where(seen >= 0, np.append(opaque, -1)[seen], -1).astype(np.int32),
        np.where(glass >= 0, np.append(panes, -1)[glass], -1).astype(np.int32),
    )


def _shadows(world: World, places: NDArray[np.float64], distance: NDArray[np.float64]) -> Shadows:
    """Shadow map of the sun, else of the first lamp, over what is seen. Glass and lamps cast none."""
    light = world.light
    if light.to_sun is None and len(light.lamps) == 0:
        return no_shadows()
    stops = np.array([m.clear < 0.3 and m.glow <= 0 for m in world.materials])
    casters = world.faces[stops[world.material]]
    if light.to_sun is not None:
        return sun_shadows(world.vertices, casters, light.to_sun, places, distance)
    return lamp_shadows(world.vertices, casters, light.lamps[0], places)
