"""Depth of a video as a folder of `.npz`: `000000.npz`, `000001.npz` and so on, one per frame.

The folder is whole or absent: frames go to a hidden folder beside it, which is renamed at the end.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType

from sightline.errors import InputError, SightlineError
from sightline.files.depth_npz import read_npz, write_npz
from sightline.types import DepthMap

_FRAME = re.compile(r"\d{6,}\.npz")


class DepthFolderWriter:
    """Writes depth maps as numbered `.npz` files. Use it in a `with` statement.

    Args:
        path: the folder. One that holds nothing but numbered frames of an earlier run is replaced;
            any other is left alone and refused.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.count = 0

    def __enter__(self) -> DepthFolderWriter:
        if self.path.is_symlink() or (self.path.exists() and not self.path.is_dir()):
            raise InputError("a file is in the way of this folder", path=self.path)
        if self.path.is_dir() and not all(_FRAME.fullmatch(f.name) for f in self.path.iterdir()):
            raise InputError(
                "this folder holds other files", path=self.path, remedy="choose another --out"
            )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            name = mkdtemp(prefix=f".{self.path.name}.", suffix=".part", dir=self.path.parent)
            self._scratch = Path(name)
        except (FileExistsError, NotADirectoryError) as error:
            raise InputError("a file is in the way of this folder", path=self.path) from error
        except PermissionError as error:
            raise InputError(
                "no permission to write", path=self.path, remedy="choose another --out"
            ) from error
        except OSError as error:
            raise SightlineError(f"{self.path}: cannot be made ({error.strerror})") from error
        return self

    def write(self, depth: DepthMap) -> None:
        """Add a frame."""
        write_npz(self._scratch / f"{self.count:06d}.npz", depth)
        self.count += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                if self.count == 0:
                    raise SightlineError(f"{self.path}: no frame was given")
                self._scratch.chmod(0o755)  # mkdtemp makes folders private
                if self.path.exists():
                    shutil.rmtree(self.path)
                self._scratch.rename(self.path)
        except OSError as problem:
            raise SightlineError(
                f"{self.path}: could not be written ({problem.strerror})"
            ) from problem
        finally:
            shutil.rmtree(self._scratch, ignore_errors=True)


def read_depth_folder(path: str | Path) -> Iterator[DepthMap]:
    """Iterate over the frames of a folder by `DepthFolderWriter`, in order."""
    frames = sorted(
        (f for f in Path(path).glob("*.npz") if _FRAME.fullmatch(f.name)), key=lambda f: int(f.stem)
    )
    if not frames:
        raise InputError("holds no depth frames (000000.npz …)", path=path)
    return (read_npz(frame) for frame in frames)
