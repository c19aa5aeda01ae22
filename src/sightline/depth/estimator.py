"""Load a depth model and estimate the depth of images.

>>> estimator = load("default")  # doctest: +SKIP
>>> depth = estimator.infer("photo.jpg")  # doctest: +SKIP
>>> depth.kind, depth.unit, depth.values.shape  # doctest: +SKIP

Metric networks end in a sigmoid scaled by a maximum distance, such as 20 m or 80 m. Anything beyond
it, the sky above all, is predicted at or just below that distance and stays valid; compare with
`spec.max_depth` where it matters.

A network with its own focal length (`spec.focal`) predicts meters for a camera of that focal length.
For another camera they are scaled by the ratio of focal lengths, so their accuracy depends on the
camera that is given, read from EXIF or assumed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.depth import tiles as tiling
from sightline.depth import uncertainty
from sightline.depth.engines import EngineName, open_engine
from sightline.depth.preprocessing import (
    MAX_SIZE,
    Pictureable,
    as_picture,
    network_size,
    to_input,
    to_picture_size,
)
from sightline.depth.sharpen import enlarge
from sightline.depth.uncertainty import GENERIC, Calibration, stored_calibration
from sightline.errors import InputError
from sightline.models.entry import ModelSpec
from sightline.runtime.engine import Engine
from sightline.types import Camera, DepthMap, FloatArray, Kind

#: Pictures of one network size that go to the engine together.
BATCH = 4

_log = logging.getLogger(__name__)


def load(
    name_or_path: str | Path = "default",
    *,
    engine: EngineName = "auto",
    size: int | None = None,
    threads: int | None = None,
    device: str | None = None,
    sharpen: bool | None = None,
    accept_license: bool = False,
    spec: ModelSpec | None = None,
) -> DepthEstimator:
    """Load a depth model.

    Args:
        name_or_path: a name of `sightline models`, or an `.onnx`, `.xml`, `.pth` or `.safetensors`
            file (known by its content).
        engine: `"openvino"`, `"torch"`, or `"auto"`: torch on a GPU if there is one and the weights
            are torch's, else OpenVINO on the CPU.
        size: network input's shorter side in [px]; None for the model's own.
        threads: number of CPU threads; None for one per core.
        device: `"cpu"`, `"cuda"`, `"mps"`, or OpenVINO's name of one; None for the best.
        sharpen: sharpen depth edges (`depth.sharpen`); None for the model's default: on for the
            embedded models, off for official weights.
        accept_license: accept a license that forbids commercial use.
        spec: spec of a network whose file does not contain it.
    """
    from sightline.models.download import resolve

    found = resolve(name_or_path, accept=accept_license, purpose="depth")
    if spec is None and found.entry is not None:
        spec = found.entry.spec
    opened, spec = open_engine(
        found.path, found.sha256, engine=engine, device=device, threads=threads, spec=spec
    )
    calibration = stored_calibration(found.name, found.sha256)
    return DepthEstimator(
        opened,
        spec,
        found.name,
        size,
        sharpen=sharpen,
        sha256=found.sha256,
        calibration=calibration,
    )


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Preprocessed image that waits for a batch of its size; the original pixels are released."""

    number: int
    entry: FloatArray
    hw: tuple[int, int]
    camera: Camera
    factor: float


class DepthEstimator:
    """Depth model with pre- and postprocessing; safe to share between threads.

    Args:
        engine: engine that runs the network.
        spec: spec of the network.
        name: name of the model.
        size: network input's shorter side in [px]; None for the spec's.
        sharpen: sharpen depth edges; None for the spec's default.
        sha256: SHA-256 of the weights, in hex.
        calibration: calibration of its error bars; None if there is none.
    """

    def __init__(
        self,
        engine: Engine,
        spec: ModelSpec,
        name: str,
        size: int | None = None,
        *,
        sharpen: bool | None = None,
        sha256: str = "",
        calibration: Calibration | None = None,
    ) -> None:
        if engine.fixed_hw is not None and size is not None:
            height, width = engine.fixed_hw
            raise InputError(f"{name} takes inputs of {width}×{height} only", remedy="omit --size")
        self.engine = engine
        self.spec = spec
        self.name = name
        self.size = spec.size if size is None else size
        if engine.fixed_hw is not None:
            self.size = min(engine.fixed_hw)
        else:
            network_size(1, 1, spec, self.size)  # refuses what cannot work, now rather than later
        self.sharpen = spec.sharpen if sharpen is None else sharpen
        self.sha256 = sha256
        self.calibration = calibration
        self._warned = False

    @property
    def kind(self) -> Kind:
        """Kind of the output, that of `spec`."""
        return self.spec.kind

    @property
    def source(self) -> str:
        """Provenance of the maps: model, first digits of the checksum, and non-default settings."""
        name = f"{self.name}@{self.sha256[:12]}" if self.sha256 else self.name
        if self.sharpen == self.spec.sharpen:
            return name
        return f"{name} ({'sharpened' if self.sharpen else 'not sharpened'})"

    def infer(
        self,
        image: Pictureable,
        *,
        camera: Camera | None = None,
        tiles: bool = False,
        sigma: bool = False,
    ) -> DepthMap:
        """Estimate the depth of one picture.

        Args:
            image: path, bytes, stream, Pillow image, `Picture`, or array (see `as_picture`).
            camera: camera of the upright picture; None to use EXIF, or the default camera without it.
            tiles: add detail from overlapping tiles (about ten times slower).
            sigma: estimate per-pixel uncertainty (about four times slower).

        Returns:
            Depth map of the size of the upright image; pixels without a finite prediction are invalid.
        """
        picture = as_picture(image)
        pixels, camera = picture.pixels, camera or picture.camera
        raw = self.predict(pixels, focal=camera.focal)
        values = self.enlarge(raw, (picture.height, picture.width))
        if tiles:
            values = self._with_tiles(pixels, values, camera.focal)
        source, spread = self.source, None
        if sigma:
            spread = self._sigma(pixels, raw, values, camera.focal)
            if self.calibration is None:
                source += " (sigma not calibrated)"
        return DepthMap(values, self.spec.kind, camera=camera, sigma=spread, source=source)

    def infer_batch(
        self,
        images: Iterable[Pictureable],
        *,
        camera: Camera | None = None,
        tiles: bool = False,
        sigma: bool = False,
    ) -> list[DepthMap]:
        """Estimate the depth of several pictures, in their order; the same maps as one by one.

        Images of equal network size run as a batch if the engine benefits from it. With `tiles` or
        `sigma` they run one by one. `camera`, if given, applies to all of them.
        """
        if tiles or sigma:
            return [self.infer(one, camera=camera, tiles=tiles, sigma=sigma) for one in images]
        done: dict[int, DepthMap] = {}
        waiting: dict[tuple[int, ...], list[_Waiting]] = {}
        for number, image in enumerate(images):
            picture = as_picture(image)
            entry = self._input(picture.pixels)
            hw = (picture.height, picture.width)
            group = waiting.setdefault(entry.shape, [])
            lens = camera or picture.camera
            factor = self._lens_factor(lens.focal, picture.width, entry)
            group.append(_Waiting(number, entry, hw, lens, factor))
            if len(group) == BATCH:
                done |= self._run_group(group)
                group.clear()
        for group in waiting.values():
            if group:
                done |= self._run_group(group)
        return [done[number] for number in sorted(done)]

    def _run_group(self, group: list[_Waiting]) -> dict[int, DepthMap]:
        maps = self.engine.run(np.concatenate([one.entry for one in group]))
        return {
            one.number: DepthMap(
                self.enlarge(self._read(raw, one.factor), one.hw),
                self.spec.kind,
                camera=one.camera,
                source=self.source,
            )
            for one, raw in zip(group, maps, strict=True)
        }

    def predict(
        self, pixels: NDArray[np.uint8], size: int | None = None, *, focal: float | None = None
    ) -> FloatArray:
        """Run the network once.

        Args:
            pixels: (H, W, 3) uint8 RGB.
            size: network input's shorter side in [px]; None for the estimator's own.
            focal: focal length in [px] of `pixels`, for a network that takes it as input; None for that
                of the default camera.

        Returns:
            (h, w) float32 at network size, in the unit of `spec.kind`.
        """
        entry = self._input(pixels, size)
        height, width = pixels.shape[:2]
        focal = Camera.assumed(width, height).focal if focal is None else focal
        return self._read(self.engine.run(entry)[0], self._lens_factor(focal, width, entry))

    def _read(self, raw: FloatArray, factor: float) -> FloatArray:
        """Convert the network output (h, w) to the unit of `spec.kind`."""
        spec = self.spec
        if spec.curve != 1:
            above = raw - np.float32(spec.zero)
            straight = np.copysign(np.abs(above) ** np.float32(spec.curve), above)
            return np.asarray(straight + np.float32(spec.zero), np.float32)
        return raw if factor == 1 else raw * np.float32(factor)

    def _lens_factor(self, focal: float, width: int, entry: FloatArray) -> float:
        """Return the factor on meters for the camera of an image.

        Args:
            focal: focal length in [px] of the picture.
            width: width of the picture in [px].
            entry: (1, 3, h, w) network input.
        """
        return 1.0 if self.spec.focal is None else focal * entry.shape[3] / width / self.spec.focal

    def enlarge(self, raw: FloatArray, hw: tuple[int, int]) -> FloatArray:
        """Resize the output of `predict` to the (height, width) of an image."""
        return enlarge(raw, hw, sharpen=self.sharpen)

    def _input(self, pixels: NDArray[np.uint8], size: int | None = None) -> FloatArray:
        hw = self.engine.fixed_hw or network_size(
            pixels.shape[0], pixels.shape[1], self.spec, size or self.size
        )
        return to_input(pixels, self.spec, hw)

    def _with_tiles(self, pixels: NDArray[np.uint8], whole: FloatArray, focal: float) -> FloatArray:
        def predict(piece: NDArray[np.uint8]) -> FloatArray:
            return self.enlarge(self.predict(piece, focal=focal), (piece.shape[0], piece.shape[1]))

        refined = tiling.refine(pixels, whole, predict, self.size)
        # Added detail may overshoot: not below what the network can say, nor to a distance of zero.
        lowest = float(np.min(whole, where=np.isfinite(whole), initial=np.inf))
        lowest = 0.5 * lowest if self.spec.kind is Kind.METRIC_DEPTH else min(lowest, 0.0)
        return refined if np.isinf(lowest) else np.maximum(refined, np.float32(lowest))

    def disagreement(
        self, pixels: NDArray[np.uint8], raw: FloatArray, focal: float | None = None
    ) -> FloatArray:
        """Return (h, w) how far other views of the picture differ from `raw` (`uncertainty`).

        `raw` is the output of `predict` with the same `focal`.
        """
        scales = () if self.engine.fixed_hw else uncertainty.SCALES
        least = self.spec.multiple

        def predict(view: NDArray[np.uint8], size: int) -> FloatArray:
            return self.predict(view, min(max(size, least), MAX_SIZE), focal=focal)

        return uncertainty.disagreement(pixels, raw, predict, self.size, self.spec.kind, scales)

    def _sigma(
        self, pixels: NDArray[np.uint8], raw: FloatArray, values: FloatArray, focal: float
    ) -> FloatArray:
        if self.calibration is None and not self._warned:
            self._warned = True
            _log.warning("%s: its error bars are not calibrated, only guessed", self.name)
        doubt = self.disagreement(pixels, raw, focal)
        doubt = to_picture_size(doubt, (values.shape[0], values.shape[1]))
        return uncertainty.to_sigma(doubt, values, self.spec.kind, self.calibration or GENERIC)
