"""One picture to one label: the function that processes and clusters run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.depth.estimator import DepthEstimator, load
from sightline.depth.labelling.coding import Teacher, encode
from sightline.depth.labelling.folder import write
from sightline.depth.labelling.options import LabelOptions
from sightline.depth.labelling.plan import Task
from sightline.depth.preprocess import MAX_ASPECT
from sightline.errors import InputError, SightlineError, explained
from sightline.files import remote
from sightline.files.pictures import read_picture
from sightline.files.reading import naming
from sightline.processes import EndOfRun
from sightline.types import FloatArray, Kind

#: Of a picture fetched from a URL, in bytes.
_LARGEST_PICTURE = 1_000_000_000


def open_teacher(options: LabelOptions, model: str, threads: int | None) -> DepthEstimator:
    """Load the network; `model` is what `options.model` was found to be."""
    return load(
        model,
        engine=options.engine,
        size=options.size,
        threads=threads,
        device=options.device,
        accept_licence=options.accept_licence,
    )


def disparity(
    estimator: DepthEstimator, pixels: NDArray[np.uint8], *, mirror: bool = True
) -> FloatArray:
    """Return what a teacher says of a picture, as disparity.

    Args:
        estimator: the teacher.
        pixels: (H, W, 3) uint8 RGB.
        mirror: average with the mirror image of what it says of the mirrored picture. Its mistakes
            differ there, and the label of a mirrored picture is then the mirrored label.

    Returns:
        (h, w) float32, larger is nearer, in [1/m] for metric networks. The shorter side is that of
        the network's output, the longer follows the picture's aspect: the network's own is rounded to
        multiples of its patch, by up to 6 %.
    """
    raw = _toward(estimator.predict(pixels), estimator.spec.kind)
    if mirror:
        flipped = estimator.predict(np.ascontiguousarray(pixels[:, ::-1]))[:, ::-1]
        raw = (raw + _toward(flipped, estimator.spec.kind)) / np.float32(2)
    if not bool(np.isfinite(raw).all()):
        raise SightlineError(f"{estimator.name} gave no finite answer for some of its pixels")
    return estimator.enlarge(raw, label_size(raw.shape, pixels.shape[:2]))


def label_size(network: tuple[int, ...], picture: tuple[int, ...]) -> tuple[int, int]:
    """Return the (height, width) of a label.

    A very long picture gets a label whose longer side is `MAX_ASPECT` times the network's shorter.

    Args:
        network: (height, width) of the network's output.
        picture: (height, width) of the picture.

    >>> label_size((256, 320), (480, 640))
    (256, 341)
    >>> label_size((256, 1024), (100, 1600))
    (64, 1024)
    """
    shorter = min(network)
    scale = min(shorter / min(picture), MAX_ASPECT * shorter / max(picture))
    return max(1, round(picture[0] * scale)), max(1, round(picture[1] * scale))


def _toward(raw: FloatArray, kind: Kind) -> FloatArray:
    """Turn metres into one over metres; leave disparity as it is."""
    if kind is not Kind.METRIC_DEPTH:
        return raw
    with np.errstate(divide="ignore"):
        return np.float32(1) / raw


class Labeller:
    """Labels one picture per call; opens its network at the first.

    Args:
        options: as given by the user.
        model: name or path of the weights, valid wherever this object is sent to.
        teacher: what these weights and settings must turn out to be.
        threads: of this worker.
    """

    def __init__(self, options: LabelOptions, model: str, teacher: Teacher, threads: int) -> None:
        self.options = options
        self.model = model
        self.teacher = teacher
        self.threads = threads
        self._estimator: DepthEstimator | None = None

    def __call__(self, task: Task) -> None:
        """Read the picture and write its label.

        Raises:
            InputError: the picture cannot be read.
            EndOfRun: the network cannot be opened, or labels cannot be written here.
        """
        if self._estimator is None:
            self._estimator = self._open()
        with naming(task.picture):
            pixels = self._read(task.picture)
        try:
            values = disparity(self._estimator, pixels, mirror=self.teacher.mirror)
        except SightlineError as error:
            raise SightlineError(f"{task.picture}: {error}") from error
        data = encode(values, self.teacher)
        try:
            write(task.label, data)
        except InputError:  # its own fault: a name too long, say
            raise
        except SightlineError as error:  # the disk's: the next label would fare no better
            if remote.is_url(task.label):
                raise
            raise EndOfRun(error) from error

    def _open(self) -> DepthEstimator:
        try:
            estimator = open_teacher(self.options, self.model, self.threads)
        except Exception as error:  # whatever it is, all workers share it
            raise EndOfRun(explained(error, f"{self.model} could not be loaded")) from error
        if estimator.sha256 != self.teacher.sha256:
            raise EndOfRun(
                InputError(
                    f"a worker has other weights by this name ({estimator.sha256[:12]}…, not "
                    f"{self.teacher.sha256[:12]}…)",
                    path=self.model,
                    remedy="copy the same file to every machine",
                )
            )
        return estimator

    def _read(self, place: str) -> NDArray[np.uint8]:
        most = self.options.max_pixels
        if not remote.is_url(place):
            return read_picture(place, max_pixels=most).pixels
        data = remote.read_bytes(place, limit=_LARGEST_PICTURE)
        return read_picture(data, max_pixels=most).pixels
