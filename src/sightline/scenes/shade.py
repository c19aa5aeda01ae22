"""The colour of every pixel: one kernel that goes from the face seen to linear light.

Colour is worked out once for each face in a pixel, in the middle of what the face covers of it
(multisampling): edges are as smooth as with full supersampling at little more than a quarter of the
cost, and patterns are smoothed by their own footprint.

numba keeps the compiled kernel beside this file and looks at this file alone to see whether it is
still right: touch it after a change in what it calls (noise, textures, light, shadows, sky, photos).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from sightline.scenes.light import environment, received, ripple
from sightline.scenes.noise import value_noise
from sightline.scenes.photos import photo_colour
from sightline.scenes.sky import sky_colour
from sightline.scenes.tables import (
    CLEAR,
    GLOSS,
    GLOW,
    MIRROR,
    SECOND,
    TINT,
    UNITS,
    Eye,
    Scene,
    Surfaces,
)
from sightline.scenes.textures import GRASS, LEAVES, PHOTO, WATER, pattern
from sightline.types import FloatArray


# Without numba's reference counting, which nothing here needs: it makes no arrays, and counting each of
# the scene's thirty at every pixel takes as long as the shading itself.
@njit(cache=True, nogil=True, _nrt=False)  # type: ignore[untyped-decorator]
def shade(seen: Any, glass: Any, eye: Eye, scene: Scene, picture: FloatArray) -> None:
    """Write the linear colour of every pixel.

    Args:
        seen: (n·H, n·W) opaque face seen at each sample, −1 for sky.
        glass: the same for clear faces in front, −1 for none; (0, 0) if there is no glass at all.
        eye: camera of the H × W picture.
        scene: what is there.
        picture: (H, W, 3) float32, written.
    """
    height, width = picture.shape[:2]
    n = seen.shape[0] // height
    for row in range(height):
        for column in range(width):
            r = g = b = 0.0
            for y in range(n * row, n * row + n):
                for x in range(n * column, n * column + n):
                    count, at_x, at_y = _group(seen, glass, n, x, y)
                    if count == 0:
                        continue
                    face = seen[y, x]
                    pane = glass[y, x] if glass.size else -1
                    share = count / (n * n)
                    if pane >= 0:
                        through = scene.surfaces.table[scene.surfaces.material[pane], CLEAR]
                    for layer in range(1 if pane < 0 else 2):
                        weight = share
                        if pane >= 0:
                            weight *= through if layer == 0 else 1.0 - through
                        red, green, blue = _colour(
                            pane if layer else face, at_x, at_y, row, column, eye, scene
                        )
                        r, g, b = r + weight * red, g + weight * green, b + weight * blue
            picture[row, column, 0], picture[row, column, 1], picture[row, column, 2] = r, g, b


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _group(seen: Any, glass: Any, n: int, x: int, y: int) -> Any:
    """How many samples of a pixel see what (x, y) sees, and the middle of them in [px].

    0 if an earlier sample of the pixel sees the same: then it is counted already.
    """
    left, top = x - x % n, y - y % n
    count, sum_x, sum_y = 0, 0, 0
    for v in range(top, top + n):
        for u in range(left, left + n):
            if seen[v, u] == seen[y, x] and (glass.size == 0 or glass[v, u] == glass[y, x]):
                if v < y or (v == y and u < x):
                    return 0, 0.0, 0.0
                count, sum_x, sum_y = count + 1, sum_x + u, sum_y + v
    return count, (sum_x / count + 0.5) / n - 0.5, (sum_y / count + 0.5) / n - 0.5


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _colour(face: int, x: float, y: float, row: int, column: int, eye: Eye, scene: Scene) -> Any:
    """Linear colour of one face, or of the sky (−1), at a place of the picture, through the fog."""
    lens, turn, lights = eye.lens, eye.rotation, scene.lights
    right, down = (x - lens[2]) / lens[0], (y - lens[3]) / lens[1]
    length = np.sqrt(right * right + down * down + 1.0)
    dx = (turn[0, 0] * right + turn[0, 1] * down + turn[0, 2]) / length
    dy = (turn[1, 0] * right + turn[1, 1] * down + turn[1, 2]) / length
    dz = (turn[2, 0] * right + turn[2, 1] * down + turn[2, 2]) / length
    if face < 0:
        r, g, b = sky_colour(scene.dome, dx, dy, dz, 1.0 / lens[0])
        # The fog is a layer: looking up one sees through less of it.
        distance = 120.0 / (max(-dy, 0.0) + 0.08)
    else:
        occlusion = scene.occlusion[row, column] if scene.occlusion.size else 1.0
        ray, away = (right, down), (dx, dy, dz)
        r, g, b, z = _surface(face, ray, away, occlusion, lens[0], scene)
        distance = z * length
    if lights.fog > 0.0:
        veil = 1.0 - np.exp(-lights.fog * distance)
        r += veil * (lights.haze[0] - r)
        g += veil * (lights.haze[1] - g)
        b += veil * (lights.haze[2] - b)
    return r, g, b


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _surface(face: int, ray: Any, away: Any, occlusion: float, focal: float, scene: Scene) -> Any:
    """Linear colour of a face where the camera's ray (x, y, 1) meets it, and its depth."""
    mesh = scene.surfaces
    i, j, k = mesh.faces[face, 0], mesh.faces[face, 1], mesh.faces[face, 2]
    bi, bj, bk, z = _weights(mesh.points, i, j, k, ray)
    p = mesh.vertices
    px = bi * p[i, 0] + bj * p[j, 0] + bk * p[k, 0]
    py = bi * p[i, 1] + bj * p[j, 1] + bk * p[k, 1]
    pz = bi * p[i, 2] + bj * p[j, 2] + bk * p[k, 2]
    flat, normal = _normals(mesh, i, j, k, (bi, bj, bk), away)
    slant = -(away[0] * flat[0] + away[1] * flat[1] + away[2] * flat[2])
    u = bi * mesh.uv[i, 0] + bj * mesh.uv[j, 0] + bk * mesh.uv[k, 0]
    v = bi * mesh.uv[i, 1] + bj * mesh.uv[j, 1] + bk * mesh.uv[k, 1]
    m, table = mesh.material[face], mesh.table
    units, code, seed = table[m, UNITS], mesh.codes[m, 0], mesh.codes[m, 1]
    # Between the footprint across and the one along the slope, which is longer by 1/cos.
    width = z / focal * units / max(slant, 0.05) ** 0.7
    # Nothing real is of one tone over a metre: dirt, wear and light from neighbours vary it.
    wear = 0.92 + 0.16 * value_noise(1.3 * u, 1.3 * v, seed + 91)
    u, v = u * units, v * units
    if code == PHOTO:
        rising = (mesh.uv[j, 1] - mesh.uv[i, 1]) * (p[j, 1] - p[i, 1]) + (
            mesh.uv[k, 1] - mesh.uv[i, 1]
        ) * (p[k, 1] - p[i, 1])
        r, g, b = photo_colour(
            scene.photos, mesh.codes[m, 2], u, v if rising > 0 else 1.0 - v, width
        )
        glowing = 1.0
    else:
        mix, tone, glowing = pattern(code, u, v, width, seed)
        tone *= wear
        r = tone * (table[m, TINT] + mix * (table[m, SECOND] - table[m, TINT]))
        g = tone * (table[m, TINT + 1] + mix * (table[m, SECOND + 1] - table[m, TINT + 1]))
        b = tone * (table[m, TINT + 2] + mix * (table[m, SECOND + 2] - table[m, TINT + 2]))
    if code == WATER:
        normal = ripple(normal, u, v, width, seed)
    leafy = 0.45 if code in (LEAVES, GRASS) else 0.0
    gloss = table[m, GLOSS]
    (lr, lg, lb), (hr, hg, hb) = received(
        (px, py, pz), flat, normal, away, gloss, leafy, occlusion, scene
    )
    glow = table[m, GLOW] * glowing
    facing = max(-(away[0] * normal[0] + away[1] * normal[1] + away[2] * normal[2]), 0.0)
    grazing = (1.0 - facing) ** 4
    mirror = table[m, MIRROR]
    if code == WATER:
        mirror *= 0.25 + 0.75 * grazing
    mirror += (1.0 - mirror) * 0.35 * gloss * grazing
    r, g, b = r * (lr + glow), g * (lg + glow), b * (lb + glow)
    if mirror > 0.01:
        twice = 2.0 * (away[0] * normal[0] + away[1] * normal[1] + away[2] * normal[2])
        mx, my, mz = (
            away[0] - twice * normal[0],
            away[1] - twice * normal[1],
            away[2] - twice * normal[2],
        )
        er, eg, eb = environment(scene, mx, my, mz)
        mirror *= 0.4 + 0.6 * occlusion
        r, g, b = r + mirror * (er - r), g + mirror * (eg - g), b + mirror * (eb - b)
    return r + hr, g + hg, b + hb, z


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _weights(points: Any, i: int, j: int, k: int, ray: Any) -> Any:
    """Barycentrics and depth where a ray (x, y, 1) from the camera meets the plane of a face."""
    x, y = ray
    ax, ay, az = points[i, 0], points[i, 1], points[i, 2]
    bx, by, bz = points[j, 0], points[j, 1], points[j, 2]
    cx, cy, cz = points[k, 0], points[k, 1], points[k, 2]
    wi = (by * cz - bz * cy) * x + (bz * cx - bx * cz) * y + bx * cy - by * cx
    wj = (cy * az - cz * ay) * x + (cz * ax - cx * az) * y + cx * ay - cy * ax
    wk = (ay * bz - az * by) * x + (az * bx - ax * bz) * y + ax * by - ay * bx
    if wi + wj + wk < 0.0:
        wi, wj, wk = -wi, -wj, -wk
    wi, wj, wk = max(wi, 0.0), max(wj, 0.0), max(wk, 0.0)
    total = wi + wj + wk
    if total <= 0.0:
        wi, wj, wk, total = 1.0, 1.0, 1.0, 3.0
    wi, wj, wk = wi / total, wj / total, wk / total
    return wi, wj, wk, wi * az + wj * bz + wk * cz


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _normals(mesh: Surfaces, i: int, j: int, k: int, weights: Any, away: Any) -> Any:
    """Find the normal of the face, turned to the camera, and the smoothed one on the same side."""
    p, n = mesh.vertices, mesh.normals
    ux, uy, uz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
    vx, vy, vz = p[k, 0] - p[i, 0], p[k, 1] - p[i, 1], p[k, 2] - p[i, 2]
    fx, fy, fz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = max(np.sqrt(fx * fx + fy * fy + fz * fz), 1e-30)
    if fx * away[0] + fy * away[1] + fz * away[2] > 0.0:
        size = -size
    fx, fy, fz = fx / size, fy / size, fz / size
    bi, bj, bk = weights
    x = bi * n[i, 0] + bj * n[j, 0] + bk * n[k, 0]
    y = bi * n[i, 1] + bj * n[j, 1] + bk * n[k, 1]
    z = bi * n[i, 2] + bj * n[j, 2] + bk * n[k, 2]
    size = max(np.sqrt(x * x + y * y + z * z), 1e-9)
    if x * fx + y * fy + z * fz < 0.0:
        size = -size
    return (fx, fy, fz), (x / size, y / size, z / size)
