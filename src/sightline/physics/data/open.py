"""Open a data set; its first bytes decide the format, not its name."""

from __future__ import annotations

from pathlib import Path

from sightline.errors import InputError
from sightline.files.reading import open_file
from sightline.physics.data.pack import MAGIC, PackedVideos
from sightline.physics.data.videos import VideoData

_HDF5 = b"\x89HDF\r\n\x1a\n"


def open_dataset(path: str | Path) -> VideoData:
    """Open a data set of videos: `.slv`, or HDF5 of the reference's layout, ours or a released one.

    One of combinatorial worlds is a `CombinatorialVideos`, which has objects instead of samples.

    Args:
        path: of the file.
    """
    path = Path(path)
    with open_file(path, what="data set") as file:
        start = file.read(len(MAGIC))
    if start == MAGIC:
        return PackedVideos(path)
    if start.startswith(_HDF5):
        from sightline.physics.data.hdf5_guard import is_combinatorial
        from sightline.physics.data.hdf5_read import Hdf5Videos

        if is_combinatorial(path):
            from sightline.physics.combinatorial.read import CombinatorialVideos

            return CombinatorialVideos(path)
        return Hdf5Videos(path)
    raise InputError(
        "is neither HDF5 nor a data set of Sightline's",
        path=path,
        remedy="make one with sightline physics make",
    )
