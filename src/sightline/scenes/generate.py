"""Generate a scene from a seed and an index.

Scenes are a pure function of these two numbers and the settings, so any number of processes or machines
can share the work in any order, and a scene can be generated again later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sightline.errors import SightlineError
from sightline.scenes.camera import place_camera
from sightline.scenes.config import check_kinds
from sightline.scenes.kinds import DEFAULT_KINDS, KINDS
from sightline.scenes.rendering.renderer import RenderedFrame, render
from sightline.scenes.rendering.sensor import SensorConfig, simulate_sensor
from sightline.scenes.world import SceneKind
from sightline.types import Camera, DepthMap, FloatArray

if TYPE_CHECKING:
    from sightline.scenes.rendering.photo_textures import PhotoTextures

#: Attempts per scene. About one view in thirty is rejected: this many in a row mean a broken builder.
MAX_ATTEMPTS = 12

#: Rejected if any point is nearer than this, [m]: one such pixel would use up most of the 16 bits that
#: a file has for inverse depth.
MIN_DISTANCE = 0.08
#: Rejected if more than this share of the picture is nearer than this distance, [m].
NEAR_DISTANCE, MAX_NEAR_SHARE = 0.2, 0.6
#: Rejected if the sky covers more than this share of the picture.
MAX_SKY_SHARE = 0.92
#: Rejected if the spread of inverse depth (2nd to 98th percentile) relative to its maximum is smaller:
#: the view is a wall from the front. Straight down on a town from 150 m it is still 0.03 or more.
MIN_DISPARITY_SPREAD = 0.02
#: Rejected if contrast (standard deviation of gray values) or mean gray value is smaller, out of 255.
MIN_CONTRAST, MIN_BRIGHTNESS = 4.0, 6.0


@dataclass(frozen=True, slots=True)
class SceneInstance:
    """One visible object of a picture.

    Attributes:
        number: its value in the instance mask, 1 or more.
        kind: chair, car, tree, person …
        box: (x0, y0, x1, y1) around its visible pixels, [px]; x1 and y1 are exclusive.
        pixels: number of visible pixels.
        nearest: smallest depth among them, [m].
        median: median depth among them, [m].
    """

    number: int
    kind: str
    box: tuple[int, int, int, int]
    pixels: int
    nearest: float
    median: float


def find_instances(
    mask: NDArray[np.int32], depth: FloatArray, kinds: Sequence[str]
) -> tuple[SceneInstance, ...]:
    """List the instances with at least one visible pixel, by number.

    Args:
        mask: (H, W) instance number of each pixel, 0 for none, at most 65535.
        depth: (H, W) depth along the optical axis, [m]; finite where `mask` is not 0.
        kinds: name of instance number k + 1 at index k.
    """
    columns = mask.shape[1]
    where = np.flatnonzero(mask).astype(np.int32)
    # numpy uses radix sort for 16-bit integers: ten times as fast.
    numbers = mask.reshape(-1)[where].astype(np.uint16)
    order = np.argsort(numbers, kind="stable")
    where = where[order]
    meters = depth.reshape(-1)[where]
    starts = np.flatnonzero(np.diff(numbers[order], prepend=0))
    found = []
    for start, stop in pairwise([*starts.tolist(), len(where)]):
        y, x = np.divmod(where[start:stop], columns)
        z = meters[start:stop]
        number = int(mask[y[0], x[0]])
        found.append(
            SceneInstance(
                number=number,
                kind=kinds[number - 1],
                box=(int(x.min()), int(y[0]), int(x.max()) + 1, int(y[-1]) + 1),
                pixels=len(z),
                nearest=float(z.min()),
                median=float(np.median(z)),
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A generated picture with its ground truth.

    Attributes:
        frame: picture after the sensor simulation; exact depth, instance mask, camera and pose.
        kind: kind of scene: room, street …
        seed: seed of the sequence of scenes.
        index: index in that sequence.
        attempt: number of views that were rejected before this one.
    """

    frame: RenderedFrame
    kind: str
    seed: int
    index: int
    attempt: int

    @property
    def image(self) -> NDArray[np.uint8]:
        """(H, W, 3) uint8 RGB picture."""
        return self.frame.pixels

    @property
    def depth(self) -> DepthMap:
        """Exact metric depth, [m]; invalid in the sky."""
        return self.frame.depth

    @property
    def camera(self) -> Camera:
        """Camera intrinsics."""
        return self.frame.camera

    @property
    def instances(self) -> tuple[SceneInstance, ...]:
        """Visible objects with their boxes; `frame.instance` is the (H, W) mask."""
        return find_instances(self.frame.instance, self.frame.depth.values, self.frame.kinds)


def make_scene(
    seed: int,
    index: int,
    *,
    width: int = 320,
    height: int = 256,
    kinds: Sequence[str] | None = None,
    textures: PhotoTextures | None = None,
    sensor: SensorConfig | None = None,
) -> Scene:
    """Generate scene `index` of `seed`; the same arguments give the same bytes.

    Args:
        seed: random seed, not negative.
        index: index in the sequence of scenes, not negative.
        width: picture width, [px].
        height: picture height, [px].
        kinds: names of the kinds to choose from by their weights; None for the default mix.
        textures: photographs for some of the surfaces; None uses procedural textures only.
        sensor: sensor effects; None for those of typical cameras.

    Returns:
        Picture, exact depth, camera and instances.
    """
    kind = KINDS[scene_kind(seed, index, kinds)]
    config = SensorConfig() if sensor is None else sensor
    try:
        return _generate(kind, seed, index, (width, height), textures, config)
    except Exception as error:  # a bug of a builder: the note allows repeating it
        error.add_note(f"while making scene {index} of seed {seed}, a {kind.name}")
        raise


def scene_kind(seed: int, index: int, kinds: Sequence[str] | None = None) -> str:
    """Return the kind of a scene without generating it; arguments as for `make_scene`."""
    names = DEFAULT_KINDS if kinds is None else check_kinds(kinds)
    weights = np.array([KINDS[name].weight for name in names])
    return str(_stream(seed, index).choice(names, p=weights / weights.sum()))


def _generate(
    kind: SceneKind,
    seed: int,
    index: int,
    size: tuple[int, int],
    textures: PhotoTextures | None,
    sensor: SensorConfig,
) -> Scene:
    """Build and render until a view is accepted."""
    fault = None
    for attempt in range(MAX_ATTEMPTS):
        world, view = kind.build(_stream(seed, index, attempt, 0))
        camera, pose = place_camera(view, *size)
        frame = render(world, camera, pose, textures=textures)
        fault = find_fault(frame, may_be_flat=kind.may_be_flat)
        if fault is None:
            pixels = simulate_sensor(frame.pixels, _stream(seed, index, attempt, 1), sensor)
            return Scene(replace(frame, pixels=pixels), kind.name, seed, index, attempt)
    raise SightlineError(f"{MAX_ATTEMPTS} views in a row show nothing (the last one: {fault})")


def find_fault(frame: RenderedFrame, *, may_be_flat: bool = False) -> str | None:
    """Return why a view is rejected, or None.

    Holes are pixels of a closed room where nothing is seen, so depth is unknown there.

    Args:
        frame: rendered view.
        may_be_flat: accept sky alone and walls from the front, also of a single color.
    """
    if not bool((frame.depth.valid | frame.sky).all()):
        return "it has holes"
    depth = frame.depth.values
    sky = float(frame.sky.mean())
    if sky > MAX_SKY_SHARE and not may_be_flat:
        return f"{sky:.0%} of it is sky"
    if float(frame.disparity.max()) > 1 / MIN_DISTANCE:
        return f"something in it is nearer than {MIN_DISTANCE} m"
    near = float(((depth < NEAR_DISTANCE) & frame.depth.valid).mean())
    if near > MAX_NEAR_SHARE:
        return f"{near:.0%} of it is nearer than {NEAR_DISTANCE} m"
    low, high = np.percentile(frame.disparity[::2, ::2], (2, 98))
    if high - low < MIN_DISPARITY_SPREAD * high and not may_be_flat:
        return "it is flat"
    gray = frame.pixels[::2, ::2].mean(-1)
    if float(gray.std()) < MIN_CONTRAST and not may_be_flat:
        return "it has one color"
    if float(gray.mean()) < MIN_BRIGHTNESS:
        return "it is dark"
    return None


def _stream(seed: int, index: int, *path: int) -> np.random.Generator:
    """Return the random generator of one purpose; generators of different paths are independent.

    A spawn key is used because `default_rng([5, 0])` and `default_rng([5])` are the same stream.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index, *path)))
