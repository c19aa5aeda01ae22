"""What the readers of the published sets share: a picture with its depth file, and how to find them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sightline.errors import InputError


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture and its depth file, both in the format of their set."""

    picture: Path
    depth: Path


def find_frames(
    root: str | Path, patterns: Sequence[str], depth_of: Callable[[Path], Path], *, layout: str
) -> list[Frame]:
    """List the pictures under `root` that match a pattern, sorted by path, with their depth files.

    That the depth file is there is found out when it is read: a missing one must not shorten the set
    in silence, and looking for 300,000 files takes long.

    Args:
        root: the set's folder.
        patterns: globs of the pictures, relative to `root`; one per depth of folders, as `**` would
            not follow links to folders on another disk.
        depth_of: gives the depth file's path for a picture's.
        layout: how the folder should look, for the message when nothing is found.
    """
    root = Path(root)
    if not root.is_dir():
        raise InputError("no such folder", path=root, remedy="check the name")
    found = {picture for pattern in patterns for picture in root.glob(pattern)}
    frames = [Frame(picture, depth_of(picture)) for picture in sorted(found)]
    if not frames:
        raise InputError("has no picture of this set", path=root, remedy=f"expected {layout}")
    return frames
