"""Video in and out: everything here streams, and every file is written whole or not at all.

| to read          | to write             | what                                                  |
|------------------|----------------------|-------------------------------------------------------|
| `open_video`     | `ColorVideoWriter`   | colour: any format FFmpeg knows; H.264 in MP4         |
| `read_depth_video` | `Depth16VideoWriter` | depth: 16-bit lossless FFV1 in Matroska             |
| `read_depth_folder` | `DepthFolderWriter` | depth: a folder with an exact `.npz` per frame      |
"""

from __future__ import annotations

from sightline.files.depth_folder import DepthFolderWriter, read_depth_folder
from sightline.files.depth_video import (
    Depth16VideoWriter,
    DepthVideoInfo,
    Segment,
    depth_video_info,
    read_depth_video,
)
from sightline.files.video_read import VIDEO_SUFFIXES, VideoInfo, VideoReader, open_video
from sightline.files.video_write import ColorVideoWriter

__all__ = [
    "VIDEO_SUFFIXES",
    "ColorVideoWriter",
    "Depth16VideoWriter",
    "DepthFolderWriter",
    "DepthVideoInfo",
    "Segment",
    "VideoInfo",
    "VideoReader",
    "depth_video_info",
    "open_video",
    "read_depth_folder",
    "read_depth_video",
]
