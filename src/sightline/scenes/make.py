"""One scene from two numbers: its seed and its place in the endless row of scenes of that seed.

A pure function: nothing else decides, so any number of processes or machines can share the work, in
any order, and a scene can be made again years later by its two numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sightline.errors import SightlineError
from sightline.scenes.camera import place
from sightline.scenes.kinds import KINDS, MIXED, WEIGHTS
from sightline.scenes.render import Frame, render
from sightline.scenes.sensor import SensorConfig, expose
from sightline.scenes.spec import check_kinds
from sightline.scenes.world import View, World

if TYPE_CHECKING:
    from sightline.scenes.photos import PhotoTextures

Build = Callable[[np.random.Generator], tuple[World, View]]

#: How often a scene is built anew when its camera looks at nothing. About one view in thirty is
#: refused, so that this many in a row means that a builder is broken.
ATTEMPTS = 12

#: Nearer than this, in [m], something touches the lens. A single such pixel would take up most of the
#: 16 bits that a file has for inverse depth.
TOUCHING = 0.08
#: Nearer than this, in [m], nothing but a lens cap is expected; as a share of the picture.
TOO_NEAR, TOO_NEAR_SHARE = 0.2, 0.6
#: More sky than this leaves nothing to learn from.
SKY_SHARE = 0.92
#: Least spread of inverse depth (2nd to 98th percentile) as a share of the greatest: below, the view
#: is a wall from the front. Straight down on a town from 150 m it is still 0.03 or more.
FLAT = 0.02
#: Least contrast (standard deviation of the grey values) and least mean, both of 255.
PLAIN, DARK = 4.0, 6.0


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A picture with its truth, and where it comes from.

    Attributes:
        frame: colours after the sensor; exact depth, instances, camera and pose.
        kind: of scene: room, street …
        seed: of the row of scenes.
        index: place in that row.
        attempt: how many views were refused before this one.
    """

    frame: Frame
    kind: str
    seed: int
    index: int
    attempt: int


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
    """Make scene number `index` of `seed`; the same arguments give the same bytes.

    Args:
        seed: not negative.
        index: not negative.
        width: of the picture in [px].
        height: of the picture in [px].
        kinds: what to choose from, by name and by the usual weights; None: those of `MIXED`.
        textures: photographs for some of the surfaces; None: every texture is computed.
        sensor: how the camera spoils the picture; None: as cameras do.
    """
    kind = kind_of(seed, index, kinds)
    config = SensorConfig() if sensor is None else sensor
    try:
        return _build(kind, KINDS[kind], seed, index, (width, height), textures, config)
    except Exception as error:  # a builder's mistake is ours, and can be repeated by these numbers
        error.add_note(f"while making scene {index} of seed {seed}, a {kind}")
        raise


def kind_of(seed: int, index: int, kinds: Sequence[str] | None = None) -> str:
    """Tell the kind of a scene without making it."""
    names = MIXED if kinds is None else check_kinds(kinds)
    weights = np.array([WEIGHTS[name] for name in names])
    return str(_stream(seed, index).choice(names, p=weights / weights.sum()))


def _build(
    kind: str,
    build: Build,
    seed: int,
    index: int,
    size: tuple[int, int],
    textures: PhotoTextures | None,
    sensor: SensorConfig,
) -> Scene:
    """Build, look, and build anew while there is nothing to see."""
    fault = None
    for attempt in range(ATTEMPTS):
        world, view = build(_stream(seed, index, attempt, 0))
        camera, pose = place(view, *size)
        frame = render(world, camera, pose, textures=textures)
        fault = find_fault(frame)
        if fault is None:
            pixels = expose(frame.pixels, _stream(seed, index, attempt, 1), sensor)
            return Scene(replace(frame, pixels=pixels), kind, seed, index, attempt)
    raise SightlineError(f"{ATTEMPTS} views in a row show nothing (the last one: {fault})")


def find_fault(frame: Frame) -> str | None:
    """Say why a view is of no use; None if it is good.

    Holes: a closed room through which nothing is seen, so that its depth there is not known.
    """
    if not bool((frame.depth.valid | frame.sky).all()):
        return "it has holes"
    depth = frame.depth.values
    sky = float(frame.sky.mean())
    if sky > SKY_SHARE:
        return f"{sky:.0%} of it is sky"
    if float(frame.disparity.max()) > 1 / TOUCHING:
        return f"something in it is nearer than {TOUCHING} m"
    near = float(((depth < TOO_NEAR) & frame.depth.valid).mean())
    if near > TOO_NEAR_SHARE:
        return f"{near:.0%} of it is nearer than {TOO_NEAR} m"
    low, high = np.percentile(frame.disparity[::2, ::2], (2, 98))
    if high - low < FLAT * high:
        return "it is flat"
    grey = frame.pixels[::2, ::2].mean(-1)
    if float(grey.std()) < PLAIN:
        return "it has one colour"
    if float(grey.mean()) < DARK:
        return "it is dark"
    return None


def _stream(seed: int, index: int, *path: int) -> np.random.Generator:
    """Return the generator for one purpose; streams of different paths are independent.

    A spawn key and not `default_rng([seed, index, …])`: there [5, 0] and [5] are the same stream.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index, *path)))
