"""Fitted bodies against rendered truth: `python benchmarks/bodies.py`.

Protocol: bodies of `scenes` in any pose, turned any way, seen from up to 20° above or below, 120 to 480
pixels tall; landmarks with 2 px noise, world landmarks with 3 cm across and 7 cm along the axis and
depth short by 0 to 35 %. The space of shapes is learned from one half of the library and the people are
of the other; their heights are the library's (adults 1.71 ± 0.11 m, while the prior has 1.68 ± 0.10),
in one row those of the prior. Distance is the depth of the middle of the landmarks that are seen;
"surface" is the median over pixels of the relative error of depth where true and fitted body overlap. σ
is `distance_sigma`.

`--sheet FILE.png` also draws fitted bodies over rendered people.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from sightline.io.atomic import write_text
from sightline.metric.body.fit import FittedBody, fit_body
from sightline.metric.body.model import body_space
from sightline.metric.body.render import silhouette
from sightline.metric.body.stature import HeightPrior
from sightline.metric.people.types import LANDMARKS, BodyMesh, Person
from sightline.rasterize import rasterize
from sightline.scenes import meshes
from sightline.scenes.camera import look_at
from sightline.scenes.people import bodies
from sightline.scenes.people.person import place_person, sample_figure
from sightline.scenes.people.poses import POSES
from sightline.scenes.rendering.renderer import render
from sightline.scenes.world import Light, Material, Sky, WorldBuilder, unit_vector
from sightline.types import Camera
from synthetic_people import Truth, draw, show


@dataclass(frozen=True, slots=True)
class Case:
    """A row of the table.

    Attributes:
        name: of the row.
        ages: (from, to) in years.
        pose: None for any.
        told: whether the fit is told the height.
        usual: whether heights are drawn from the prior rather than taken from the library.
        part: names of the landmarks that are seen; None for all.
    """

    name: str
    ages: tuple[float, float] = (18, 99)
    pose: str | None = None
    told: bool = False
    usual: bool = False
    part: frozenset[str] | None = None


LEGS = frozenset(n for n in LANDMARKS if n.partition(".")[0] in ("knee", "ankle", "heel", "toe"))
UPPER = frozenset(LANDMARKS) - LEGS
HEAD = frozenset(n for n in UPPER if LANDMARKS.index(n) <= LANDMARKS.index("elbow.R"))

CASES = (
    Case("adults, height known", told=True),
    Case("adults, heights as the prior has them", usual=True),
    Case("adults"),
    Case("adults, standing", pose="standing"),
    Case("adults, sitting", pose="sitting"),
    Case("adults, lying", pose="lying"),
    Case("adults, legs hidden", part=UPPER),
    Case("adults, head to elbows only", part=HEAD),
    Case("adults, knees to feet only", part=LEGS),
    Case("12 to 18 years", ages=(12, 18)),
    Case("below 12 years", ages=(0, 12)),
)


def halves() -> tuple[list[int], list[int]]:
    """Even and odd bodies of the library."""
    everyone = list(range(bodies.body_count()))
    return everyone[::2], everyone[1::2]


def only(person: Person, names: frozenset[str]) -> Person:
    """Hide all but some landmarks."""
    keep = np.array([name in names for name in LANDMARKS])
    return replace(person, visibility=np.where(keep, person.visibility, 0.0))


def measure(count: int, case: Case) -> dict[str, float]:
    """Fit many people and sum up."""
    rows = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        learned, others = halves() if seed % 2 else halves()[::-1]
        drawn = [n for n in others if case.ages[0] <= bodies.load_body(n).age < case.ages[1]]
        heights = HeightPrior() if case.usual else None
        truth = draw(rng, numbers=drawn, pose=case.pose, heights=heights)
        person = truth.person if case.part is None else only(truth.person, case.part)
        prior = HeightPrior.of(truth.height) if case.told else HeightPrior()
        start = time.perf_counter()
        found = fit_body(person, truth.camera, prior, space=body_space(tuple(learned)))
        spent = time.perf_counter() - start
        depth = silhouette(found.mesh, truth.camera)
        both = (depth > 0) & (truth.depth > 0)
        surface = np.median(np.abs(depth[both] / truth.depth[both] - 1)) if both.any() else np.nan
        true = float(person.visibility @ truth.landmarks[:, 2] / person.visibility.sum())
        rows.append((found.distance / true - 1, found.distance_sigma, surface, spent, found.child))
    error, sigma, surface, spent, child = np.array(rows).T
    return {
        "n": count,
        "median |error| %": 100 * float(np.median(np.abs(error))),
        "bias %": 100 * float(np.median(error)),
        "median σ %": 100 * float(np.median(sigma)),
        "within 1σ %": 100 * float((np.abs(error) < sigma).mean()),
        "within 2σ %": 100 * float((np.abs(error) < 2 * sigma).mean()),
        "surface %": 100 * float(np.nanmedian(surface)),
        "taken for a child %": 100 * float((child > 0.5).mean()),
        "ms": 1000 * float(np.median(spent)),
    }


def speed(side: int = 512) -> str:
    """Time the silhouette of a surface with as many vertices as anny's."""
    tall = meshes.sphere([0, 0, 0], 1.0, sectors=118)
    mesh = BodyMesh(tall.vertices * [0.45, 0.9, 0.3] + [0, 0, 3.0], tall.faces)
    camera = Camera.from_focal(1.4 * side, side, side)
    silhouette(mesh, camera)
    spent = []
    for _ in range(20):
        start = time.perf_counter()
        silhouette(mesh, camera)
        spent.append(time.perf_counter() - start)
    size = f"{len(mesh.vertices)} vertices, {len(mesh.faces)} faces at {side} px"
    return f"silhouette of {size}: {1000 * np.median(spent):.1f} ms, at best {1000 * min(spent):.1f} ms"


def sheet(count: int) -> np.ndarray:
    """Fitted bodies over rendered people, in rows of four: picture, and the body over it."""
    tiles = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        figure = sample_figure(rng, sorted(POSES)[seed % len(POSES)])
        builder = WorldBuilder()
        ground = Material("noise", (0.5, 0.46, 0.4), (0.4, 0.37, 0.3), 0.7)
        builder.add(meshes.quad([-30, 0, -30], [60, 0, 0], [0, 0, 60]), ground)
        yaw = 180.0 + float(rng.uniform(-100, 100))
        standing = place_person(builder, rng, figure, (0.0, 0.0, 0.0), yaw, detail="near")
        sun = Light(unit_vector([0.4, -0.8, -0.5]), (1.0, 0.95, 0.9), above=(0.45, 0.45, 0.5))
        middle = -standing.point("pelvis")[1]
        eye = [0.0, -float(rng.uniform(0.6, 2.2)), -float(rng.uniform(2.6, 4.0))]
        pose = look_at(eye, [0.0, -middle, 0.0])
        camera = Camera.from_fov(48, 360, 360)
        frame = render(builder.finish(sun, Sky()), camera, pose)
        to_camera = pose[:3, :3].T
        place = to_camera @ (standing.point("pelvis") - pose[:3, 3])
        turn = to_camera @ meshes.rotation(yaw)
        truth = show(rng, figure, turn, place, camera)
        tiles.append(
            np.hstack([frame.pixels, _over(frame.pixels, truth, fit_body(truth.person, camera))])
        )
    blank = np.full_like(tiles[0], 255)
    tiles += [blank] * (-len(tiles) % 3)
    return np.vstack([np.hstack(tiles[k : k + 3]) for k in range(0, len(tiles), 3)])


def _over(pixels: np.ndarray, truth: Truth, found: FittedBody) -> np.ndarray:
    """Draw a body in red, shaded, over a picture, with the landmarks and a line of numbers."""
    raster = rasterize(found.mesh.vertices, found.mesh.faces, truth.camera)
    corners = found.mesh.vertices[found.mesh.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = np.abs(normal[:, 2]) / np.maximum(np.linalg.norm(normal, axis=1), 1e-12)
    shade = (0.3 + 0.7 * facing[raster.face])[..., None] * np.array([255, 90, 70])
    drawn = np.where(raster.filled[..., None], 0.35 * pixels + 0.65 * shade, pixels).astype(
        np.uint8
    )
    for (x, y), seen in zip(truth.person.landmarks, truth.person.visibility, strict=True):
        cv2.circle(drawn, (round(x), round(y)), 2, (0, 220, 0) if seen > 0.7 else (230, 200, 0), -1)
    sigma = found.distance * found.distance_sigma
    text = f"{truth.distance:.2f} m: {found.distance:.2f} +- {sigma:.2f}"
    lines = [
        f"{truth.figure.pose.name} {truth.height:.2f} m: {found.height:.2f}",
        text,
        *found.warnings,
    ]
    for row, line in enumerate(lines):
        cv2.putText(
            drawn,
            line[:58],
            (5, 14 + 13 * row),
            cv2.FONT_HERSHEY_SIMPLEX,
            0.38,
            (20, 20, 20),
            1,
            cv2.LINE_AA,
        )
    return drawn


def main() -> None:
    """Measure, print, and write table and sheet if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="people in each row")
    parser.add_argument("--write", type=Path, help="Markdown file to write the table to")
    parser.add_argument("--sheet", type=Path, help="picture to draw fitted bodies into")
    options = parser.parse_args()
    lines: list[str] = []
    for case in CASES:
        found = measure(options.count, case)
        if not lines:
            lines += ["| people | " + " | ".join(found) + " |", "|---" * (1 + len(found)) + "|"]
        cells = " | ".join(
            f"{value:.0f}" if key == "n" else f"{value:.1f}" for key, value in found.items()
        )
        lines.append(f"| {case.name} | {cells} |")
        print(lines[-1] if len(lines) > 3 else "\n".join(lines), flush=True)
    lines += ["", speed()]
    print(lines[-1])
    if options.write:
        write_text(options.write, "\n".join(lines) + "\n")
    if options.sheet:
        options.sheet.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(sheet(24)).save(options.sheet)


if __name__ == "__main__":
    main()
