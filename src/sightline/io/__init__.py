"""Images, depth files, point clouds and video: one reader and one writer each, local or remote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import lazy_exports

if TYPE_CHECKING:
    from sightline.io.atomic import atomic_path, write_bytes, write_text
    from sightline.io.color import colorize, read_color, write_color
    from sightline.io.depth_files import read_depth, write_depth
    from sightline.io.depth_video import (
        Depth16VideoWriter,
        DepthFolderWriter,
        read_depth_folder,
        read_depth_video,
    )
    from sightline.io.images import Picture, read_picture
    from sightline.io.inputs import Source, expand
    from sightline.io.normal_files import read_normals, write_normals
    from sightline.io.paths import AnyPath, to_path
    from sightline.io.pointclouds import read_pointcloud, write_pointcloud
    from sightline.io.video import VideoReader, open_video
    from sightline.io.video_writing import ColorVideoWriter

__all__ = [
    "AnyPath",
    "ColorVideoWriter",
    "Depth16VideoWriter",
    "DepthFolderWriter",
    "Picture",
    "Source",
    "VideoReader",
    "atomic_path",
    "colorize",
    "expand",
    "open_video",
    "read_color",
    "read_depth",
    "read_depth_folder",
    "read_depth_video",
    "read_normals",
    "read_picture",
    "read_pointcloud",
    "to_path",
    "write_bytes",
    "write_color",
    "write_depth",
    "write_normals",
    "write_pointcloud",
    "write_text",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "AnyPath": "paths",
        "atomic_path": "atomic",
        "colorize": "color",
        "ColorVideoWriter": "video_writing",
        "Depth16VideoWriter": "depth_video",
        "DepthFolderWriter": "depth_video",
        "expand": "inputs",
        "open_video": "video",
        "Picture": "images",
        "read_color": "color",
        "read_depth": "depth_files",
        "read_depth_folder": "depth_video",
        "read_depth_video": "depth_video",
        "read_normals": "normal_files",
        "read_picture": "images",
        "read_pointcloud": "pointclouds",
        "Source": "inputs",
        "to_path": "paths",
        "VideoReader": "video",
        "write_bytes": "atomic",
        "write_color": "color",
        "write_depth": "depth_files",
        "write_normals": "normal_files",
        "write_pointcloud": "pointclouds",
        "write_text": "atomic",
    },
)
