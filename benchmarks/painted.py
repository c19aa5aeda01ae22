"""Rendered scenes with people painted in at their true size: what `meters.py` measures by.

The renderer is the painter: a scene is built by its seed, and for every painting one more person is
put on its floor inside a strip drawn as the paper draws it (0.2 to 0.8 of the shorter side), lit and
hidden by the scene as any other thing. Heights of men and women are those of the prior; poses, places
and clothes are drawn. Children are left out: see benchmarks/bodies.py.

A finder's report is made from the truth: the pixels that show the person, landmarks with 2 px noise,
world landmarks with the errors of `synthetic_people.Errors`. Everything a fit needs is kept in one file
for each scene, so that fits can be compared without painting again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.atomic import atomic_path
from sightline.metric.body.fit import fit_body
from sightline.metric.body.render import pseudo_depth
from sightline.metric.body.stature import HeightPrior
from sightline.metric.inpainting import StripConfig, draw_strip, to_original
from sightline.metric.people.evidence import Footing, footing
from sightline.scenes.camera import depth_to_world, merge_worlds, place_camera
from sightline.scenes.generate import find_fault
from sightline.scenes.kinds import KINDS
from sightline.scenes.meshes import rotation
from sightline.scenes.people import bodies
from sightline.scenes.people.person import ScenePerson, place_person, sample_figure
from sightline.scenes.rendering.renderer import RenderedFrame, render
from sightline.scenes.rendering.sensor import SensorConfig, simulate_sensor
from sightline.scenes.world import SceneWorld, WorldBuilder
from synthetic_people import Truth, scaled, show

WIDTH, HEIGHT = 448, 336
PLACES = ("room", "street", "nature")
#: Depths beyond this are not judged, [m].
CAP = 80.0
#: Share of a person that must be seen, least stature in the picture [px], pixels kept of each person.
SEEN, SMALLEST, KEPT = 0.5, 60, 1500
ATTEMPTS = 60
#: Fields of a pool that are stored under their own names.
ARRAYS = ("truth", "relative", "sigma", "exact", "span", "exact_span")

Array = NDArray[np.float64]
Random = np.random.Generator


@dataclass(frozen=True, slots=True, eq=False)
class Painting:
    """What one painted person says, at pixels that its mask and its fitted body share.

    Attributes:
        painted: (P,) disparity of the painting by the model, as it came out.
        line: (2,) scale and shift that bring it to the original's.
        fitted: (P,) depth of the fitted body, [m].
        sigma: relative error of the fitted body's distance, by its own account.
        exact_painted: (Q,) exact disparity of the painting in units of its own.
        exact_line: (2,) scale and shift that bring those to the original's units.
        exact: (Q,) true depth of the person, clothes and all, [m].
        bare: (Q,) of the true body below the clothes, [m].
        feet: (2,) the original's disparity at the feet of the fitted body, and their depth, [m]; NaN
            where they are not seen.
        ground: true depth of the original there, [m].
        off: fitted over true distance.
    """

    painted: Array
    line: Array
    fitted: Array
    sigma: float
    exact_painted: Array
    exact_line: Array
    exact: Array
    bare: Array
    feet: Array
    ground: float
    off: float


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """A scene and all its paintings.

    Attributes:
        kind: of the scene.
        truth: (N,) true depth of sampled pixels, [m].
        relative: (N,) the model's relative disparity there.
        sigma: (N,) its standard deviation.
        exact: (N,) exact relative disparity there, in units of its own.
        span: (2,) far and near disparity of the model's map.
        exact_span: (2,) of the exact one.
        paintings: of people, in the order in which they were painted.
    """

    kind: str
    truth: Array
    relative: Array
    sigma: Array
    exact: Array
    span: Array
    exact_span: Array
    paintings: tuple[Painting, ...]


class Painter:
    """Paints a scene's pool into a file; opens the network at the first call."""

    def __init__(self, work: Path, model: str) -> None:
        from sightline.models.download import resolve

        self.work, self.model = work, model
        self._checksum = resolve(model, purpose="depth").sha256[:12]  # maps belong to their model
        self._estimator: Any = None

    def __call__(self, job: tuple[int, int]) -> Path:
        """Paint scene `job[0]` with `job[1]` paintings, unless that was done before."""
        number, count = job
        path = self.work / f"{self._checksum}-{number:04d}-{count}.npz"
        if not path.exists():
            if self._estimator is None:
                import sightline

                self._estimator = sightline.load(self.model, threads=1)
            save(path, paint_pool(number, count, self._estimator))
        return path


def paint_pool(number: int, count: int, estimator: Any) -> Pool:
    """Build scene `number` and paint `count` people into it, one at a time."""
    world, frame, kind = _scene(number)
    rng = np.random.default_rng([number, 1])
    relative = estimator.infer(frame.pixels, camera=frame.camera, sigma=True)
    exact = _in_own_units(frame.disparity, np.random.default_rng([number, 2]))
    judged = frame.depth.valid & (frame.depth.values < CAP)
    places = rng.permutation(np.flatnonzero(judged))[:20_000]
    paintings: list[Painting] = []
    for attempt in range(ATTEMPTS * count):
        one = _painting(
            world, frame, relative, exact, estimator, np.random.default_rng([number, 3, attempt])
        )
        if one is not None:
            paintings.append(one)
        if len(paintings) == count:
            break
    else:
        raise InputError(f"scene {number}: {len(paintings)} people in {ATTEMPTS * count} attempts")
    pick = np.sort(places)
    return Pool(
        kind,
        frame.depth.values.ravel()[pick].astype(np.float64),
        relative.values.ravel()[pick].astype(np.float64),
        relative.sigma.ravel()[pick].astype(np.float64),
        exact.ravel()[pick].astype(np.float64),
        np.quantile(relative.values, [0.05, 0.95]),
        np.quantile(exact[frame.depth.valid], [0.05, 0.95]),
        tuple(paintings),
    )


def _scene(number: int) -> tuple[SceneWorld, RenderedFrame, str]:
    """Build until there is a view with enough floor to stand on."""
    for attempt in range(ATTEMPTS):
        rng = np.random.default_rng([number, 0, attempt])
        kind = PLACES[number % len(PLACES)]
        world, view = KINDS[kind].build(rng)
        camera, pose = place_camera(view, WIDTH, HEIGHT)
        frame = render(world, camera, pose)
        if find_fault(frame) is None and floor(frame).sum() > 500:
            return world, replace(frame, pixels=_seen(frame, rng)), kind
    raise InputError(f"no view of scene {number} has a floor")


def _seen(frame: RenderedFrame, rng: Random) -> NDArray[np.uint8]:
    return simulate_sensor(frame.pixels, rng, SensorConfig())


def _in_own_units(disparity: NDArray[Any], rng: Random) -> Array:
    """Exact disparity up to scale and shift, as a perfect relative model would give it."""
    exact = disparity.astype(np.float64)
    return np.asarray(rng.uniform(0.5, 2) * exact + rng.uniform(0.05, 0.3) * exact.max())


def floor(frame: RenderedFrame) -> NDArray[np.bool_]:
    """(H, W) pixels on which somebody could stand and be SMALLEST pixels tall or more."""
    height = depth_to_world(frame.depth.values, frame.camera, frame.pose)[..., 1]
    flat = np.abs(np.gradient(height, axis=1)) + np.abs(np.gradient(height, axis=0)) < 0.01
    depth = frame.depth.values
    reach = frame.camera.focal * 1.6 / np.maximum(depth, 0.1)
    fits = (reach > SMALLEST) & (reach < 1.3 * frame.camera.height)
    return np.asarray(flat & fits & frame.depth.valid & (frame.instance == 0) & (depth < 40))


def _painting(
    world: SceneWorld,
    frame: RenderedFrame,
    relative: Any,
    exact: Array,
    estimator: Any,
    rng: Random,
) -> Painting | None:
    """Paint somebody; None when nobody can stand in the strip, or too little of them is seen."""
    strip, _ = draw_strip(HEIGHT, WIDTH, StripConfig(), rng)
    spots = np.argwhere(floor(frame) & strip)
    if len(spots) < 20:
        return None
    row, column = spots[rng.integers(len(spots))]
    foot = depth_to_world(frame.depth.values, frame.camera, frame.pose)[row, column]
    builder = WorldBuilder()
    figure = _somebody(rng)
    person = place_person(builder, rng, figure, foot, rng.uniform(-180, 180), detail="near")
    both = merge_worlds(world, builder.finish(world.light))
    number = len(both.kinds)
    painted = render(both, frame.camera, frame.pose)
    shown = painted.instance == number
    truth = _truth(rng, person, painted)
    body = truth.depth > 0
    if (
        shown.sum() < 300
        or (shown & body).sum() < SEEN * body.sum()
        or (shown & ~strip).sum() > 0.02 * shown.sum()
    ):
        return None
    reported = _report(truth, painted, shown)
    try:
        fitted = fit_body(reported, painted.camera)
    except InputError:
        return None
    inferred = estimator.infer(_seen(painted, rng), camera=painted.camera).values
    line = to_original(inferred, relative.values, strip)
    own = _in_own_units(painted.disparity, rng)
    own_line = to_original(own, exact, strip | painted.sky | frame.sky)
    if line.scale <= 0:
        return None
    by_fit, _ = pseudo_depth([fitted], [shown], painted.camera)
    by_truth, _ = pseudo_depth([truth.mesh], [shown], painted.camera)
    kept, true_kept = _some(by_fit, rng), _some(by_truth, rng)
    if len(kept) < 30 or len(true_kept) < 30:
        return None
    return Painting(
        inferred.ravel()[kept].astype(np.float64),
        np.array([line.scale, line.shift]),
        by_fit.ravel()[kept].astype(np.float64),
        fitted.distance_sigma,
        own.ravel()[true_kept],
        np.array([own_line.scale, own_line.shift]),
        painted.depth.values.ravel()[true_kept].astype(np.float64),
        by_truth.ravel()[true_kept].astype(np.float64),
        *_feet(footing(fitted.mesh, reported, painted.camera), relative.values, frame),
        fitted.distance / truth.distance,
    )


def _feet(
    found: Footing | None, relative: NDArray[np.float32], frame: RenderedFrame
) -> tuple[Array, float]:
    """Return disparity and depth of the feet, and the true depth of the ground there."""
    if found is None:
        return np.full(2, np.nan), np.nan
    value = np.median(relative[found.rows, found.columns])
    ground = np.median(frame.depth.values[found.rows, found.columns])
    return np.array([value, found.depth], np.float64), float(ground)


def _some(depth: NDArray[Any], rng: Random) -> NDArray[np.int64]:
    places = np.flatnonzero(depth > 0)
    return np.asarray(np.sort(rng.permutation(places)[:KEPT]), np.int64)


def _somebody(rng: Random) -> Any:
    """Draw a grown-up of a height drawn from the prior, in a pose that needs no seat."""
    prior = HeightPrior()
    while True:
        number = int(rng.integers(bodies.body_count()))
        if bodies.load_body(number).age >= 18:
            break
    figure = sample_figure(rng, number=number)
    mean, spread = prior.women if figure.body.female >= 0.5 else prior.men
    return scaled(figure, mean * float(np.exp(rng.normal(0, spread / mean))))


def _truth(rng: Random, person: ScenePerson, frame: RenderedFrame) -> Truth:
    """Return the person in the camera's frame."""
    to_camera = frame.pose[:3, :3].T
    pelvis = (
        rotation(person.yaw) @ (person.figure.joints[0] - [0.0, person.lift, 0.0]) + person.foot
    )
    turn = to_camera @ rotation(person.yaw)
    return show(rng, person.figure, turn, to_camera @ (pelvis - frame.pose[:3, 3]), frame.camera)


def _report(truth: Truth, frame: RenderedFrame, shown: NDArray[np.bool_]) -> Any:
    """Say what a finder would: landmarks behind other things are hidden, those outside are gone."""
    columns, rows = np.rint(truth.person.landmarks).astype(int).T
    inside = (columns >= 0) & (columns < WIDTH) & (rows >= 0) & (rows < HEIGHT)
    depth = np.where(frame.depth.valid, frame.depth.values, np.inf)
    surface = depth[np.clip(rows, 0, HEIGHT - 1), np.clip(columns, 0, WIDTH - 1)]
    behind = inside & (surface < truth.landmarks[:, 2] - 0.25)
    visible = np.where(behind, np.minimum(truth.person.visibility, 0.3), truth.person.visibility)
    rows_shown, columns_shown = np.nonzero(shown)
    box = [columns_shown.min(), rows_shown.min(), columns_shown.max(), rows_shown.max()]
    return replace(truth.person, mask=shown, visibility=visible, box=np.array(box, np.float64))


def save(path: Path, pool: Pool) -> None:
    """Write a pool, whole or not at all."""
    arrays: dict[str, Any] = {name: getattr(pool, name) for name in ARRAYS}
    for index, painting in enumerate(pool.paintings):
        for name in Painting.__slots__:
            arrays[f"{index}.{name}"] = getattr(painting, name)
    with atomic_path(path) as temporary:
        np.savez(temporary, kind=pool.kind, count=len(pool.paintings), **arrays)


def load(path: Path | str) -> Pool:
    """Read a pool."""
    with np.load(os.fspath(path)) as file:
        paintings = []
        for index in range(int(file["count"])):
            values = {name: file[f"{index}.{name}"] for name in Painting.__slots__}
            for name in ("sigma", "ground", "off"):
                values[name] = float(values[name])
            paintings.append(Painting(**values))
        arrays = {name: file[name] for name in ARRAYS}
        return Pool(kind=str(file["kind"]), paintings=tuple(paintings), **arrays)
