"""Types shared by all packages: `Camera`, `DepthMap`, `PointCloud`, `Measurement`.

* All are frozen and validated on construction; arrays are stored read-only.
* A depth map carries its unit and direction (`Kind`), so nobody has to guess whether bright is near.
* Pixel coordinates are (x, y) = (column, row); the center of the top left pixel is (0, 0).
* Camera frame: x right, y down, z forward (the OpenCV convention).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.errors import InputError

if TYPE_CHECKING:
    from sightline.config import Palette
    from sightline.io.paths import AnyPath

__all__ = ["Camera", "CameraSource", "DepthMap", "Kind", "Measurement", "PointCloud"]

FloatArray = NDArray[np.float32]
BoolArray = NDArray[np.bool_]

#: Diagonal of a 36 mm × 24 mm frame: what "35 mm equivalent" focal lengths refer to, in [mm].
FULL_FRAME_DIAGONAL = math.hypot(36.0, 24.0)

#: Focal length assumed when nothing is known, in [mm] on a 36 × 24 frame: between the main camera of
#: a phone (24 to 28) and a standard lens (50).
ASSUMED_FOCAL_35MM = 30.0


class Kind(StrEnum):
    """Unit and direction of the values of a depth map.

    * `RELATIVE_DISPARITY`: no unit, larger is nearer; inverse depth up to unknown scale and shift.
    * `METRIC_DEPTH`: meters along the optical axis, larger is farther.
    * `METRIC_DISPARITY`: inverse meters, larger is nearer.
    """

    RELATIVE_DISPARITY = "relative_disparity"
    METRIC_DEPTH = "metric_depth"
    METRIC_DISPARITY = "metric_disparity"

    @property
    def unit(self) -> str:
        """Unit of the values: `"m"`, `"1/m"`, or `""` for relative disparity."""
        return {"metric_depth": "m", "metric_disparity": "1/m"}.get(self.value, "")

    @property
    def larger_is_nearer(self) -> bool:
        """True for disparities, False for depth."""
        return self is not Kind.METRIC_DEPTH

    @property
    def direction(self) -> str:
        """Direction in words, as written into files."""
        return "larger is nearer" if self.larger_is_nearer else "larger is farther"


class CameraSource(StrEnum):
    """Origin of a camera's focal length."""

    GIVEN = "given"
    EXIF = "exif"
    ESTIMATED = "estimated"
    ASSUMED = "assumed"


def _array(values: ArrayLike, dtype: type, what: str) -> NDArray[Any]:
    """Convert to an array of `dtype`; raise `InputError` where that is impossible."""
    try:
        return np.asarray(values, dtype=dtype)
    except (ValueError, TypeError) as error:
        raise InputError(f"{what} must be an array of numbers ({error})") from error


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view; the caller's array stays writable."""
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A pinhole camera without distortion.

    Attributes:
        K: (3, 3) float64 camera matrix in pixels.
        width: picture width in pixels.
        height: picture height in pixels.
        source: where the focal length comes from; `ASSUMED` means it is a guess.
    """

    K: NDArray[np.float64]
    width: int
    height: int
    source: CameraSource = CameraSource.GIVEN

    def __post_init__(self) -> None:
        K = np.array(self.K, dtype=np.float64)
        if K.shape != (3, 3) or not np.isfinite(K).all():
            raise InputError(f"camera matrix must be 3×3 and finite, got shape {K.shape}")
        if K[0, 0] <= 0 or K[1, 1] <= 0 or not np.array_equal(K[2], [0.0, 0.0, 1.0]):
            raise InputError("camera matrix needs positive focal lengths and last row 0 0 1")
        if self.width < 1 or self.height < 1:
            raise InputError(f"camera size must be positive, got {self.width}×{self.height}")
        object.__setattr__(self, "K", _frozen(K))
        object.__setattr__(self, "source", CameraSource(self.source))

    @classmethod
    def from_focal(
        cls, focal: float, width: int, height: int, source: CameraSource = CameraSource.GIVEN
    ) -> Camera:
        """Make a camera with square pixels and centered principal point from `focal` in [px]."""
        K = np.array(
            [[focal, 0.0, (width - 1) / 2], [0.0, focal, (height - 1) / 2], [0.0, 0.0, 1.0]]
        )
        return cls(K, width, height, source)

    @classmethod
    def from_fov(cls, fov: float, width: int, height: int) -> Camera:
        """Make a camera from its horizontal field of view in [degrees].

        >>> round(Camera.from_fov(90.0, 640, 480).focal, 3)
        320.0
        """
        if not 1.0 <= fov <= 175.0:
            raise InputError(f"field of view must lie in 1–175 degrees, got {fov:g}")
        return cls.from_focal(width / 2 / math.tan(math.radians(fov) / 2), width, height)

    @classmethod
    def from_focal_35mm(
        cls,
        focal_mm: float,
        width: int,
        height: int,
        source: CameraSource = CameraSource.EXIF,
    ) -> Camera:
        """Make a camera from a 35 mm equivalent focal length in [mm] (by the frame's diagonal)."""
        focal = focal_mm * math.hypot(width, height) / FULL_FRAME_DIAGONAL
        return cls.from_focal(focal, width, height, source)

    @classmethod
    def assumed(cls, width: int, height: int) -> Camera:
        """Make the default camera for an image without lens information."""
        return cls.from_focal_35mm(ASSUMED_FOCAL_35MM, width, height, CameraSource.ASSUMED)

    @property
    def focal(self) -> float:
        """Horizontal focal length in [px]."""
        return float(self.K[0, 0])

    @property
    def fov(self) -> float:
        """Horizontal field of view in [degrees]."""
        return math.degrees(2 * math.atan(self.width / 2 / self.focal))

    def resized(self, width: int, height: int) -> Camera:
        """Return the camera of the same image resized to `width` × `height` pixels."""
        sx, sy = width / self.width, height / self.height
        K = self.K.copy()
        K[0] *= sx
        K[1] *= sy
        # Pixel centers sit at whole numbers, so the scaling acts about the corner at -0.5.
        K[0, 2] = (self.K[0, 2] + 0.5) * sx - 0.5
        K[1, 2] = (self.K[1, 2] + 0.5) * sy - 0.5
        return Camera(K, width, height, self.source)


@dataclass(frozen=True, slots=True, eq=False)
class DepthMap:
    """Depth or disparity of one image, with unit, validity, camera and uncertainty.

    Attributes:
        values: (H, W) float32; unit and direction are those of `kind`. Zero where not valid.
        kind: unit and direction.
        valid: (H, W) bool; False where depth is unknown. Default: where `values` is finite.
        camera: camera of the H × W image, when known.
        sigma: (H, W) float32 one-sigma uncertainty in the unit of `values`, when estimated.
        source: origin: model name with the first digits of its checksum, or a file.

    >>> depth = DepthMap(np.full((2, 3), 1.5, np.float32), Kind.METRIC_DEPTH)
    >>> depth
    <DepthMap 3×2 metric_depth [m]>
    >>> len(depth.to_pointcloud())
    6
    """

    values: FloatArray
    kind: Kind
    valid: BoolArray = field(default=None)  # type: ignore[arg-type]
    camera: Camera | None = None
    sigma: FloatArray | None = None
    source: str = ""

    def __post_init__(self) -> None:
        values = _array(self.values, np.float32, "depth values")
        if values.ndim != 2 or values.size == 0:
            raise InputError(f"depth values must be H×W, got shape {values.shape}")
        try:
            kind = Kind(self.kind)
        except ValueError as error:
            raise InputError(f"{error}", remedy=f"use {', '.join(Kind)}") from error
        finite = np.isfinite(values)
        valid = finite if self.valid is None else _array(self.valid, np.bool_, "valid mask")
        if valid.shape != values.shape:
            raise InputError(f"valid mask is {valid.shape}, values are {values.shape}")
        valid = valid & finite
        if kind is Kind.METRIC_DEPTH:
            valid &= values > 0
        if kind is Kind.METRIC_DISPARITY:
            valid &= values >= 0
        values = np.where(valid, values, np.float32(0))
        sigma = None
        if self.sigma is not None:
            sigma = _array(self.sigma, np.float32, "sigma")
            if sigma.shape != values.shape:
                raise InputError(f"sigma is {sigma.shape}, values are {values.shape}")
            if bool((sigma[valid] < 0).any()) or not bool(np.isfinite(sigma[valid]).all()):
                raise InputError("sigma must be finite and not negative where values are valid")
            sigma = _frozen(np.where(valid, sigma, np.float32(0)))
        if self.camera is not None and (self.camera.height, self.camera.width) != values.shape:
            raise InputError(
                f"camera is for {self.camera.width}×{self.camera.height}, "
                f"values are {values.shape[1]}×{values.shape[0]}"
            )
        for name, value in (
            ("values", _frozen(values)),
            ("kind", kind),
            ("valid", _frozen(valid)),
            ("sigma", sigma),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        known = "" if self.valid.all() else f", {self.valid.mean():.0%} valid"
        unit = f" [{self.unit}]" if self.unit else ""
        who = f" by {self.source}" if self.source else ""
        return f"<DepthMap {self.width}×{self.height} {self.kind}{unit}{known}{who}>"

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @property
    def unit(self) -> str:
        """Unit of `values`: `"m"`, `"1/m"` or `""`."""
        return self.kind.unit

    @property
    def is_metric(self) -> bool:
        """True when the unit is meters or inverse meters."""
        return self.kind is not Kind.RELATIVE_DISPARITY

    def to_metric_depth(self) -> DepthMap:
        """Return the map in meters; sigma is propagated by the derivative of 1/d.

        Raises:
            InputError: the map is relative disparity, which has no metric scale.
        """
        if self.kind is Kind.METRIC_DEPTH:
            return self
        if self.kind is Kind.RELATIVE_DISPARITY:
            raise InputError(
                "relative disparity has no unit, so it cannot become meters by itself",
                remedy="use a metric model, or align it to known distances with geometry.align",
            )
        valid = self.valid & (self.values > 0)
        safe = np.where(valid, self.values, np.float32(1))
        sigma = None if self.sigma is None else self.sigma / safe**2
        meters: FloatArray = (1 / safe).astype(np.float32)
        return DepthMap(meters, Kind.METRIC_DEPTH, valid, self.camera, sigma, self.source)

    def save(self, path: str | AnyPath) -> None:
        """Write the map with all its fields; whole or not at all.

        Args:
            path: file or URL. The suffix selects the format: `.npz` and `.exr` store float32,
                `.png` 16-bit integers with scale and offset. For colors use `plot`, for points
                `to_pointcloud`.
        """
        from sightline.io.depth_files import write_depth

        write_depth(path, self)

    @classmethod
    def load(cls, path: str | AnyPath) -> DepthMap:
        """Read a map that `save` wrote (`.npz`, `.png` or `.exr`)."""
        from sightline.io.depth_files import read_depth

        return read_depth(path)

    def to_pointcloud(
        self,
        image: NDArray[np.uint8] | None = None,
        *,
        mesh: bool = False,
        edge_tolerance: float | None = 0.05,
        max_points: int | None = None,
    ) -> PointCloud:
        """Unproject to a point cloud or mesh in the camera frame.

        Args:
            image: (H, W, 3) uint8 RGB colors of the points.
            mesh: connect neighboring pixels by triangles.
            edge_tolerance: relative depth jump above which pixels are left out; None keeps all.
            max_points: subsample the pixel grid evenly to at most this many points.
        """
        from sightline.geometry import to_pointcloud

        return to_pointcloud(
            self, image, mesh=mesh, edge_tolerance=edge_tolerance, max_points=max_points
        )

    def plot(
        self,
        path: str | AnyPath | None = None,
        *,
        palette: Palette = "spectral",
        lo: float | None = None,
        hi: float | None = None,
        legend: bool = True,
    ) -> NDArray[np.uint8]:
        """Render the map in colors: near is warm, far is cool, invalid pixels are gray.

        Args:
            path: also write the rendering to this file or URL (`.png` or `.jpg`).
            palette: color map.
            lo: value at the lower end of the color scale; default: 1st percentile.
            hi: value at the upper end of the color scale; default: 99th percentile.
            legend: add a color bar with units below the map.

        Returns:
            (h, w, 3) uint8 RGB; taller than the map when there is a legend.
        """
        from sightline.io.color import render, write_color

        if path is not None:
            write_color(path, self, palette=palette, lo=lo, hi=hi, legend=legend)
        return render(self, palette=palette, lo=lo, hi=hi, legend=legend)


@dataclass(frozen=True, slots=True, eq=False)
class PointCloud:
    """A colored point cloud or triangle mesh in the camera frame.

    Attributes:
        xyz: (N, 3) float32; x right, y down, z forward.
        rgb: (N, 3) uint8, or None.
        unit: `"m"`, or `""` when the scale is arbitrary.
        faces: (M, 3) int32 indices into `xyz`, counter-clockwise seen from the camera, or None.
    """

    xyz: FloatArray
    rgb: NDArray[np.uint8] | None = None
    unit: str = ""
    faces: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        xyz = _array(self.xyz, np.float32, "points")
        if xyz.ndim != 2 or xyz.shape[1] != 3 or not np.isfinite(xyz).all():
            raise InputError(f"points must be N×3 and finite, got shape {xyz.shape}")
        if self.unit not in ("m", ""):
            raise InputError(f"unit of points is 'm' or '', got {self.unit!r}")
        object.__setattr__(self, "xyz", _frozen(xyz.copy()))
        if self.rgb is not None:
            rgb = _array(self.rgb, np.uint8, "colors")
            if rgb.shape != xyz.shape:
                raise InputError(f"colors are {rgb.shape}, points are {xyz.shape}")
            object.__setattr__(self, "rgb", _frozen(rgb.copy()))
        if self.faces is not None:
            faces = _array(self.faces, np.int32, "faces")
            inside = faces.size == 0 or (faces.min() >= 0 and faces.max() < len(xyz))
            if faces.ndim != 2 or faces.shape[1] != 3 or not inside:
                raise InputError(f"faces must be M×3 indices of points, got shape {faces.shape}")
            object.__setattr__(self, "faces", _frozen(faces.copy()))

    def __len__(self) -> int:
        return len(self.xyz)

    def __repr__(self) -> str:
        faces = "" if self.faces is None else f", {len(self.faces)} faces"
        return f"<PointCloud {len(self)}{faces}, unit {self.unit or 'none'}>"

    def save(self, path: str | AnyPath) -> None:
        """Write to `.ply` (camera frame) or `.glb` (glTF frame: y up, z backward).

        Args:
            path: file or URL; the suffix selects the format.
        """
        from sightline.io.pointclouds import write_pointcloud

        write_pointcloud(path, self)

    @classmethod
    def load(cls, path: str | AnyPath) -> PointCloud:
        """Read a `.ply` or `.glb` file into the camera frame."""
        from sightline.io.pointclouds import read_pointcloud

        return read_pointcloud(path)


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured number with its standard deviation.

    Attributes:
        value: value in `unit`.
        sigma: one standard deviation, in `unit`.
        unit: `"m"`, `"deg"`, `"m/s"` and so on; `""` for a plain number.

    >>> print(Measurement(2.345, 0.031, "m"))
    2.345 ± 0.031 m
    """

    value: float
    sigma: float
    unit: str = "m"

    def __str__(self) -> str:
        # Two significant digits of sigma.
        digits = 2 if self.sigma <= 0 else min(4, max(0, 1 - math.floor(math.log10(self.sigma))))
        value = round(self.value, digits) + 0.0  # no minus before a zero
        return f"{value:.{digits}f} ± {self.sigma:.{digits}f} {self.unit}".rstrip()
