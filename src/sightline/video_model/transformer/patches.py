"""Videos as tokens: patches of frames, rows and columns, and back."""

from __future__ import annotations

from torch import Tensor


def to_patches(video: Tensor, patch: tuple[int, int, int]) -> Tensor:
    """Cut videos into patches.

    Args:
        video: (N, C, T, H, W).
        patch: frames, rows and columns of a patch; they divide the video's.

    Returns:
        (N, frames, places, C · patch): tokens along time, and row by row within a frame.
    """
    count, channels, frames, height, width = video.shape
    time, row, column = patch
    grid = (frames // time, height // row, width // column)
    parts = video.reshape(count, channels, grid[0], time, grid[1], row, grid[2], column)
    ordered = parts.permute(0, 2, 4, 6, 1, 3, 5, 7)
    return ordered.reshape(count, grid[0], grid[1] * grid[2], channels * time * row * column)


def from_patches(
    tokens: Tensor, patch: tuple[int, int, int], shape: tuple[int, int, int, int]
) -> Tensor:
    """Put videos together again.

    Args:
        tokens: (N, frames, places, C · patch), see `to_patches`.
        patch: frames, rows and columns of a patch.
        shape: channels, frames, rows and columns of a video.

    Returns:
        (N, C, T, H, W).
    """
    channels, frames, height, width = shape
    time, row, column = patch
    grid = (frames // time, height // row, width // column)
    parts = tokens.reshape(len(tokens), *grid, channels, time, row, column)
    return parts.permute(0, 4, 1, 5, 2, 6, 3, 7).reshape(len(tokens), *shape)
