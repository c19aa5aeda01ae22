"""What every benchmark set gives: a list of samples, each read only when its turn comes.

Listing and reading are apart so that what is missing is known before a network runs for an hour,
and so that one damaged file costs only itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.benchmarks.protocol import Protocol
from sightline.errors import InputError
from sightline.io import png
from sightline.io.reading import GET_AGAIN, open_file, read_bytes
from sightline.io.rgbd import Truth
from sightline.types import Camera, FloatArray

#: No truth file of any set is larger: 24 megapixels of float32 (ETH3D) are 98 MB.
_MAX_BYTES = 400_000_000

_MAT_DAMAGE = (
    OSError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    EOFError,
    NotImplementedError,  # version 7.3
    zlib.error,
)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """One photograph with questions which of two points is nearer.

    Attributes:
        sample: name of the picture.
        group: the scene or set it belongs to.
        pixels: (H, W, 3) uint8.
        nearer: (N, 2) whole (row, column) of the nearer points.
        farther: (N, 2) of their partners.
    """

    sample: str
    group: str
    pixels: NDArray[np.uint8]
    nearer: NDArray[np.intp]
    farther: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Item:
    """A sample that can be read.

    Attributes:
        name: unique within the set: the picture's path below the folder, without suffix.
        group: row of the table it counts in.
        files: what must be there to read it.
        load: reads it.
        aliases: other names a prediction of it may go by.
    """

    name: str
    group: str
    files: tuple[Path, ...]
    load: Callable[[], Truth | Pairs]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A set of pictures with truth, and how it is scored unless asked otherwise.

    Attributes:
        name: what people type.
        title: what it is, in a few words.
        layout: the files below the folder, one line each.
        source: where to get it.
        items: lists the samples of a folder.
        protocol: the set's own.
        expected: how many pictures the whole set has; None where the set itself lists them.
        average: the overall figure is the mean over `pictures` (or point pairs), or over `sets`.
    """

    name: str
    title: str
    layout: tuple[str, ...]
    source: str
    items: Callable[[Path], list[Item]]
    protocol: Protocol
    expected: int | None = None
    average: Literal["pictures", "sets", "pairs"] = "pictures"


def scene_of(benchmark: Benchmark, item: Item) -> str:
    """Return the scene of a sample: pictures of one scene resemble each other.

    Point pairs of one picture belong together; other sets keep a scene's pictures in one folder.
    """
    if benchmark.average == "pairs":
        return item.name
    return item.name.rpartition("/")[0] or item.group


def truth_of_depth(
    item: tuple[str, str],
    pixels: NDArray[np.uint8],
    depth: NDArray[Any],
    *,
    dense: bool,
    path: Path,
    focal: float | None = None,
) -> Truth:
    """Make a `Truth` of metric depth.

    Args:
        item: name and group of the sample.
        pixels: (H, W, 3) uint8.
        depth: (H, W) meters; not positive or not finite where unknown.
        dense: whether edges can be judged.
        path: the file the depth came from, for messages.
        focal: of the camera in [px] of `pixels`; None where the set does not say.
    """
    if depth.shape != pixels.shape[:2]:
        raise InputError(f"truth is {depth.shape}, the picture {pixels.shape[:2]}", path=path)
    known = np.isfinite(depth) & (depth > 0)
    safe = np.where(known, depth, 1)
    disparity: FloatArray = np.where(known, 1 / safe, 0).astype(np.float32)
    height, width = depth.shape
    camera = None if focal is None else Camera.from_focal(focal, width, height)
    return Truth(*item, pixels, disparity, known, metric=True, dense=dense, camera=camera)


def read_npy(path: Path) -> NDArray[Any]:
    """Read one array; nothing is unpickled."""
    if not path.is_file():
        raise InputError("no such file", path=path, remedy="check the name")
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except (OSError, EOFError, ValueError) as error:
        raise InputError("is not an .npy file of numbers", path=path, remedy=GET_AGAIN) from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
        raise InputError("is not an .npy file of numbers", path=path, remedy=GET_AGAIN)
    return array


def read_gray16(path: Path) -> NDArray[np.uint16]:
    """Read a 16-bit gray PNG as its whole numbers, (H, W)."""
    data = read_bytes(path, limit=_MAX_BYTES, what="depth file")
    png.check(data, path=path)
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None or pixels.ndim != 2 or pixels.dtype != np.uint16:
        raise InputError("is not a 16-bit gray PNG", path=path, remedy=GET_AGAIN)
    return np.asarray(pixels, np.uint16)


def read_mat(path: Path, name: str) -> Any:
    """Return one variable of a MATLAB file (up to version 7), structs as dictionaries."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    with open_file(path, what="MATLAB file"):
        pass  # missing, empty, a folder: said in our words
    try:
        return loadmat(str(path), variable_names=[name], simplify_cells=True)[name]
    # scipy has no one class for damaged files.
    except (*_MAT_DAMAGE, MatReadError) as error:
        raise InputError(
            f"is not a MATLAB file with {name!r} in it", path=path, remedy=GET_AGAIN
        ) from error


def read_truth_bytes(path: Path) -> bytes:
    """Return the bytes of a truth file, within reason."""
    return read_bytes(path, limit=_MAX_BYTES, what="depth file")


def folder_of(path: Path, *, what: str, remedy: str) -> Path:
    """Return `path` if it is a folder; complain that it is not one of `what` otherwise."""
    if not path.is_dir():
        raise InputError(f"no such folder, so not {what}", path=path, remedy=remedy)
    return path


#: So many failures are listed; of the others, only how many.
LISTED = 5


class IncompleteError(InputError):
    """Some pictures of a set cannot be scored.

    Attributes:
        failures: one line for each of the first few, and one that says how many more.
    """

    def __init__(
        self,
        problem: str,
        failures: Sequence[str],
        *,
        path: Path | None = None,
        remedy: str = "mend them, or score the rest with --keep-going",
    ) -> None:
        self.failures = few(failures)
        super().__init__(problem, path=path, remedy=remedy)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as a plain `InputError`."""
        return InputError, ("; ".join((str(self), *self.failures)),)


def few(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the first few lines, and one that says how many more there are."""
    more = len(lines) - LISTED
    return tuple(lines) if more <= 0 else (*lines[:LISTED], f"… and {more:,} more")


def missing(items: Sequence[Item]) -> dict[str, Path]:
    """Return the first file that is not there, by the names of the items that lack one."""
    gone = {item.name: [path for path in item.files if not path.is_file()] for item in items}
    return {name: paths[0] for name, paths in gone.items() if paths}


def check_any(
    benchmark: Benchmark, folder: Path, listed: Sequence[Item], failures: Sequence[str]
) -> None:
    """Complain of a folder without a single picture of the set, and say what it should hold.

    Args:
        benchmark: the set.
        folder: where it should lie.
        listed: the set's samples there.
        failures: one line for each of which something is missing.
    """
    if any(path.is_file() for item in listed for path in item.files):
        return
    layout = "; ".join(" ".join(line.split()) for line in benchmark.layout)
    problem = f"no picture of {benchmark.name} was found there"
    raise IncompleteError(problem, failures, path=folder, remedy=f"it should hold {layout}")


def check_whole(name: str, found: int, expected: int | None, failures: Sequence[str]) -> None:
    """Complain of failures, and of a folder with more or fewer pictures than the set has.

    Args:
        name: of the set.
        found: how many pictures the folder lists.
        expected: how many there should be; None for any number.
        failures: one line for each that cannot be scored.
    """
    if expected is None or found == expected:
        expected, lines = found, list(failures)
    else:
        lines = [f"the folder lists {found:,} pictures, the set has {expected:,}", *failures]
    bad = len(failures) + max(expected - found, 0)
    if bad:
        total = max(found, expected)
        raise IncompleteError(f"{bad} of {total} pictures of {name} cannot be scored", lines)
    if lines:
        remedy = "take the others away, or score them all with --keep-going"
        raise IncompleteError(f"there are more pictures than {name} has", lines, remedy=remedy)
