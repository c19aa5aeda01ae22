"""Compute the linear color of every pixel: one numba kernel from the visible face to radiance.

Shading runs once per face in a pixel, at the centroid of the samples that the face covers
(multisampling): edges are as smooth as with full supersampling at little more than a quarter of the
cost, and patterns are filtered by their own footprint.

Functions that take a whole `RenderScene` are inlined: passing its thirty arrays to a compiled function
costs more than the computation. numba caches the compiled kernel next to this file and checks only this
file's timestamp, so touch it after a change in noise, textures, shadow_maps or photo_textures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from sightline.scenes.rendering.kernel_inputs import (
    CLEAR,
    GLOSS,
    GLOW,
    MIRROR,
    SECOND,
    TINT,
    UNITS,
    KernelCamera,
    KernelMesh,
    KernelSky,
    RenderScene,
)
from sightline.scenes.rendering.noise import fractal_noise, smoothstep, value_noise
from sightline.scenes.rendering.photo_textures import photo_color
from sightline.scenes.rendering.shadow_maps import LAMP, cube_side, shadow_factor
from sightline.scenes.rendering.textures import GRASS, LEAVES, PHOTO, WATER, pattern
from sightline.types import FloatArray


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def sky_color(sky: KernelSky, x: float, y: float, z: float, width: float) -> tuple[Any, Any, Any]:
    """Return linear RGB of the sky along a unit vector; `width` is the pixel's angle, [rad]."""
    up = max(-y, 0.0)
    high = np.sqrt(up)
    r = sky.horizon[0] + high * (sky.zenith[0] - sky.horizon[0])
    g = sky.horizon[1] + high * (sky.zenith[1] - sky.horizon[1])
    b = sky.horizon[2] + high * (sky.zenith[2] - sky.horizon[2])
    cover = 0.0
    if sky.clouds > 0.0 and up > 0.01:
        # Intersect the ray with a cloud layer; the offset curves it down toward the horizon.
        far = 1.6 / (up + 0.12)
        thick = fractal_noise(far * x + 31.0, far * z, sky.seed, 6, far * far * width)
        low = 0.78 - 0.6 * sky.clouds
        cover = smoothstep(low, low + 0.22, thick) * min(up / 0.08, 1.0)
        white = 1.15 * max(sky.horizon[0], sky.horizon[1], sky.horizon[2])
        white *= 1.0 - 0.5 * smoothstep(low + 0.1, low + 0.45, thick)
        r += cover * (0.25 * sky.horizon[0] + 0.75 * white - r)
        g += cover * (0.25 * sky.horizon[1] + 0.75 * white - g)
        b += cover * (0.25 * sky.horizon[2] + 0.75 * white - b)
    # Sun: a wide halo, a narrow halo, and the disc itself (0.5 degrees across), dimmed by clouds.
    near = x * sky.to_sun[0] + y * sky.to_sun[1] + z * sky.to_sun[2]
    if near > 0.7:
        glow = 0.25 * np.exp(-25.0 * (1.0 - near)) + 0.5 * np.exp(-400.0 * (1.0 - near))
        glow += 6.0 * smoothstep(0.99985, 0.99995, near)
        glow *= 1.0 - 0.85 * cover
        r += glow * sky.sun[0]
        g += glow * sky.sun[1]
        b += glow * sky.sun[2]
    return r, g, b


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def ripple_normal(normal: Any, u: float, v: float, width: float, seed: Any) -> Any:
    """Tilt the normal of level water by noise waves, less where they are finer than a pixel."""
    keep = 0.12 / (1.0 + 4.0 * width)
    x = normal[0] + keep * (value_noise(u, v, seed) + value_noise(2.7 * u, 2.7 * v, seed + 1) - 1)
    z = normal[2] + keep * (
        value_noise(u, v, seed + 2) + value_noise(2.7 * u, 2.7 * v, seed + 3) - 1
    )
    y = normal[1]
    size = np.sqrt(x * x + y * y + z * z)
    return x / size, y / size, z / size


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def incident_light(
    place: Any,
    flat: Any,
    normal: Any,
    away: Any,
    gloss: float,
    leafy: float,
    occlusion: float,
    scene: RenderScene,
) -> Any:
    """Return diffuse irradiance and specular highlight at a surface point, both linear RGB.

    Args:
        place: (x, y, z) in the world, [m].
        flat: unit normal of the face.
        normal: interpolated unit normal.
        away: unit vector from the camera to the point.
        gloss: strength of the highlight, 0 to 1.
        leafy: share of light transmitted to the back side, for leaves and grass.
        occlusion: share of ambient light that arrives, 0 to 1.
        scene: lights and shadow maps.
    """
    lights, shadows = scene.lights, scene.shadows
    nx, ny, nz = normal
    # Hemisphere light: blend ground and sky colors by the upward component of the normal (up is −y).
    upper = 0.5 - 0.5 * ny
    r = occlusion * (lights.below[0] + upper * (lights.above[0] - lights.below[0]))
    g = occlusion * (lights.below[1] + upper * (lights.above[1] - lights.below[1]))
    b = occlusion * (lights.below[2] + upper * (lights.above[2] - lights.below[2]))
    hr = hg = hb = 0.0
    sun = lights.to_sun
    if lights.sun[0] + lights.sun[1] + lights.sun[2] > 0.0:
        # Lambert's cosine law; leaves also pass light from behind.
        slope = nx * sun[0] + ny * sun[1] + nz * sun[2]
        bright = max(slope, 0.0) + leafy * max(-slope, 0.0)
        if leafy == 0.0:
            bright *= _face_visibility(flat, sun[0], sun[1], sun[2])
        if bright > 0.0:
            bright *= shadow_factor(shadows, place, flat)
            r, g, b = (
                r + bright * lights.sun[0],
                g + bright * lights.sun[1],
                b + bright * lights.sun[2],
            )
            if gloss > 0.0 and slope > 0.0 and bright > 0.0:
                shine = _highlight(sun[0], sun[1], sun[2], normal, away, gloss) * bright / slope
                hr, hg, hb = shine * lights.sun[0], shine * lights.sun[1], shine * lights.sun[2]
    for lamp in range(len(lights.lamps)):
        tx = lights.lamps[lamp, 0] - place[0]
        ty = lights.lamps[lamp, 1] - place[1]
        tz = lights.lamps[lamp, 2] - place[2]
        square = tx * tx + ty * ty + tz * tz + 1e-9
        length = np.sqrt(square)
        slope = (nx * tx + ny * ty + nz * tz) / length
        bright = max(slope, 0.0) + leafy * max(-slope, 0.0)
        if leafy == 0.0:
            bright *= _face_visibility(flat, tx / length, ty / length, tz / length)
        if bright <= 0.0:
            continue
        # Inverse-square law of a lamp of finite size: exact at 1 m, bounded at a wall beside it.
        bright *= 1.2 / (square + 0.2)
        if lamp == 0 and shadows.kind == LAMP:
            bright *= shadow_factor(shadows, place, flat)
        power = lights.power[lamp, 0], lights.power[lamp, 1], lights.power[lamp, 2]
        r, g, b = r + bright * power[0], g + bright * power[1], b + bright * power[2]
        if gloss > 0.0 and slope > 0.0 and bright > 0.0:
            shine = _highlight(tx / length, ty / length, tz / length, normal, away, gloss)
            shine *= bright / slope
            hr, hg, hb = hr + shine * power[0], hg + shine * power[1], hb + shine * power[2]
    return (r, g, b), (hr, hg, hb)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _face_visibility(flat: Any, x: float, y: float, z: float) -> float:
    """Return 0 where the face looks away from the light, rising quickly to 1.

    Uses the face normal, not the interpolated one: otherwise the terminator of a round body would show
    the jagged shadow that its own faces cast.
    """
    return min(max(8.0 * (flat[0] * x + flat[1] * y + flat[2] * z), 0.0), 1.0)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _highlight(x: float, y: float, z: float, normal: Any, away: Any, gloss: float) -> float:
    """Return the Blinn–Phong highlight for light from the unit vector (x, y, z)."""
    # Half vector between the directions to the light and to the camera.
    hx, hy, hz = x - away[0], y - away[1], z - away[2]
    size = np.sqrt(hx * hx + hy * hy + hz * hz)
    if size < 1e-6:
        return 0.0
    match = (hx * normal[0] + hy * normal[1] + hz * normal[2]) / size
    if match < 0.5:
        return 0.0
    return 0.7 * gloss * match ** (10.0 + 180.0 * gloss * gloss)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def environment_color(scene: RenderScene, x: float, y: float, z: float) -> Any:
    """Return the reflected color along a unit vector: from the environment cube, else from the sky."""
    cube = scene.reflections
    if cube.size:
        side, right, down, _ = cube_side(x, y, z)
        if cube[side, 0, 0, 0] >= 0.0:
            half = 0.5 * cube.shape[1]
            column = min(max(half + (half - 1.0) * right - 0.5, 0.0), cube.shape[1] - 1.001)
            row = min(max(half + (half - 1.0) * down - 0.5, 0.0), cube.shape[1] - 1.001)
            return _bilinear(cube, side, column, row)
    if y < 0.0:
        return sky_color(scene.sky, x, y, z, 0.05)
    near = 0.35 + 0.3 * value_noise(3.0 * x + 9.0, 3.0 * z, 5)
    below = scene.lights.below
    return near * below[0], near * below[1], near * below[2]


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _bilinear(cube: Any, side: int, column: float, row: float) -> Any:
    """Sample a side of the environment cube bilinearly."""
    i, j = int(column), int(row)
    r = g = b = 0.0
    for v in range(2):
        for u in range(2):
            share = abs(1.0 - u - (column - i)) * abs(1.0 - v - (row - j))
            r += share * cube[side, j + v, i + u, 0]
            g += share * cube[side, j + v, i + u, 1]
            b += share * cube[side, j + v, i + u, 2]
    return r, g, b


# `_nrt=False` disables reference counting: the kernel allocates nothing, and counting the references of
# thirty arrays at every pixel takes as long as the shading itself.
@njit(cache=True, nogil=True, _nrt=False)  # type: ignore[untyped-decorator]
def shade_pixels(
    seen: Any, glass: Any, eye: KernelCamera, scene: RenderScene, picture: FloatArray
) -> None:
    """Write the linear color of every pixel of a picture.

    Args:
        seen: (n·H, n·W) opaque face seen at each sample, −1 for sky.
        glass: the same for transparent faces in front, −1 for none; (0, 0) if there are none.
        eye: camera of the H × W picture.
        scene: mesh, lights, shadows, sky and textures.
        picture: (H, W, 3) float32 output, linear RGB.
    """
    height, width = picture.shape[:2]
    n = seen.shape[0] // height
    for row in range(height):
        for column in range(width):
            r = g = b = 0.0
            for y in range(n * row, n * row + n):
                for x in range(n * column, n * column + n):
                    count, at_x, at_y = _sample_group(seen, glass, n, x, y)
                    if count == 0:
                        continue
                    face = seen[y, x]
                    pane = glass[y, x] if glass.size else -1
                    share = count / (n * n)
                    if pane >= 0:
                        through = scene.mesh.table[scene.mesh.material[pane], CLEAR]
                    for layer in range(1 if pane < 0 else 2):
                        weight = share
                        if pane >= 0:
                            weight *= through if layer == 0 else 1.0 - through
                        red, green, blue = _ray_color(
                            pane if layer else face, at_x, at_y, row, column, eye, scene
                        )
                        r, g, b = r + weight * red, g + weight * green, b + weight * blue
            picture[row, column, 0], picture[row, column, 1], picture[row, column, 2] = r, g, b


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _sample_group(seen: Any, glass: Any, n: int, x: int, y: int) -> Any:
    """Count the samples of a pixel that see the same faces as (x, y); return count and centroid [px].

    The count is 0 if an earlier sample of the pixel sees the same: that one was counted already.
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
def _ray_color(
    face: int, x: float, y: float, row: int, column: int, eye: KernelCamera, scene: RenderScene
) -> Any:
    """Return the linear color of one face, or of the sky (−1), at a point of the picture, with fog."""
    lens, turn, lights = eye.lens, eye.rotation, scene.lights
    # Back-project the pixel: ray (right, down, 1) in the camera frame, rotated into the world.
    right, down = (x - lens[2]) / lens[0], (y - lens[3]) / lens[1]
    length = np.sqrt(right * right + down * down + 1.0)
    dx = (turn[0, 0] * right + turn[0, 1] * down + turn[0, 2]) / length
    dy = (turn[1, 0] * right + turn[1, 1] * down + turn[1, 2]) / length
    dz = (turn[2, 0] * right + turn[2, 1] * down + turn[2, 2]) / length
    if face < 0:
        r, g, b = sky_color(scene.sky, dx, dy, dz, 1.0 / lens[0])
        # Fog is a layer near the ground: a ray that rises passes through less of it.
        distance = 120.0 / (max(-dy, 0.0) + 0.08)
    else:
        occlusion = scene.occlusion[row, column] if scene.occlusion.size else 1.0
        ray, away = (right, down), (dx, dy, dz)
        r, g, b, z = _surface_color(face, ray, away, occlusion, lens[0], scene)
        distance = z * length
    if lights.fog > 0.0:
        # Beer–Lambert extinction; the light lost is replaced by the haze color.
        veil = 1.0 - np.exp(-lights.fog * distance)
        r += veil * (lights.haze[0] - r)
        g += veil * (lights.haze[1] - g)
        b += veil * (lights.haze[2] - b)
    return r, g, b


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _surface_color(
    face: int, ray: Any, away: Any, occlusion: float, focal: float, scene: RenderScene
) -> Any:
    """Return the linear color of a face where the camera ray (x, y, 1) meets it, and its depth."""
    mesh = scene.mesh
    i, j, k = mesh.faces[face, 0], mesh.faces[face, 1], mesh.faces[face, 2]
    bi, bj, bk, z = _barycentric(mesh.points, i, j, k, ray)
    p = mesh.vertices
    px = bi * p[i, 0] + bj * p[j, 0] + bk * p[k, 0]
    py = bi * p[i, 1] + bj * p[j, 1] + bk * p[k, 1]
    pz = bi * p[i, 2] + bj * p[j, 2] + bk * p[k, 2]
    flat, normal = _shading_normals(mesh, i, j, k, (bi, bj, bk), away)
    slant = -(away[0] * flat[0] + away[1] * flat[1] + away[2] * flat[2])
    u = bi * mesh.uv[i, 0] + bj * mesh.uv[j, 0] + bk * mesh.uv[k, 0]
    v = bi * mesh.uv[i, 1] + bj * mesh.uv[j, 1] + bk * mesh.uv[k, 1]
    m, table = mesh.material[face], mesh.table
    units, code, seed = table[m, UNITS], mesh.codes[m, 0], mesh.codes[m, 1]
    # Pixel footprint in pattern units, between the one across and the one along the slope (1/cos).
    width = z / focal * units / max(slant, 0.05) ** 0.7
    # Large-scale variation of tone: dirt, wear and interreflection.
    wear = 0.92 + 0.16 * value_noise(1.3 * u, 1.3 * v, seed + 91)
    u, v = u * units, v * units
    if code == PHOTO:
        rising = (mesh.uv[j, 1] - mesh.uv[i, 1]) * (p[j, 1] - p[i, 1]) + (
            mesh.uv[k, 1] - mesh.uv[i, 1]
        ) * (p[k, 1] - p[i, 1])
        r, g, b = photo_color(
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
        normal = ripple_normal(normal, u, v, width, seed)
    leafy = 0.45 if code in (LEAVES, GRASS) else 0.0
    gloss = table[m, GLOSS]
    (lr, lg, lb), (hr, hg, hb) = incident_light(
        (px, py, pz), flat, normal, away, gloss, leafy, occlusion, scene
    )
    glow = table[m, GLOW] * glowing
    facing = max(-(away[0] * normal[0] + away[1] * normal[1] + away[2] * normal[2]), 0.0)
    # Schlick-like Fresnel term: reflection grows at grazing angles.
    grazing = (1.0 - facing) ** 4
    mirror = table[m, MIRROR]
    if code == WATER:
        mirror *= 0.25 + 0.75 * grazing
    mirror += (1.0 - mirror) * 0.35 * gloss * grazing
    r, g, b = r * (lr + glow), g * (lg + glow), b * (lb + glow)
    if mirror > 0.01:
        # Mirror the viewing direction about the normal: r = d − 2 (d·n) n.
        twice = 2.0 * (away[0] * normal[0] + away[1] * normal[1] + away[2] * normal[2])
        mx, my, mz = (
            away[0] - twice * normal[0],
            away[1] - twice * normal[1],
            away[2] - twice * normal[2],
        )
        er, eg, eb = environment_color(scene, mx, my, mz)
        mirror *= 0.4 + 0.6 * occlusion
        r, g, b = r + mirror * (er - r), g + mirror * (eg - g), b + mirror * (eb - b)
    return r + hr, g + hg, b + hb, z


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _barycentric(points: Any, i: int, j: int, k: int, ray: Any) -> Any:
    """Return barycentric weights and depth where a ray (x, y, 1) meets the plane of a face.

    Each weight is the scalar triple product of the ray with an edge (Möller and Trumbore, 1997, without
    the division), clamped to the face because the sample may lie just outside of it.
    """
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
def _shading_normals(mesh: KernelMesh, i: int, j: int, k: int, weights: Any, away: Any) -> Any:
    """Return the unit normal of the face, turned to the camera, and the interpolated normal."""
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
