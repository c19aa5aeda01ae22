"""Whether videos begin like the samples that they are compared with.

The first frame of a video was given to its model, so it is that of the sample up to noise, compression
and size. Where it is not, the video is of another data set or sample, or lacks the given frames, and no
figure of it would mean anything.

Compared is what stands out from the background, on a coarse grid and without its colour: a codec, an
autoencoder, noise or another size hardly touch that. Of 900 samples drawn at 128 px, in and out of
distribution, one falls below `ALIKE` after H.264 at its worst quality, two with noise of 60 levels,
none when shifted by 2 px or blurred by 3. Of the frames of other samples, 97 % of uniform motions and
collisions fall below it, and 80 % of parabolas, which all begin in one corner. The first frame only: it
is given whatever --condition and --fps are.

Colours of the given frame are compared before the work begins, over the whole folder: red and blue in
the wrong order, a negative or a film without colour is a slip of whoever wrote the videos. Whether
colours are kept after that is for a law to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.errors import InputError
from sightline.physics.data.open import open_dataset
from sightline.physics.score.match import counted
from sightline.physics.score.sources import VideoSource
from sightline.physics.types import Frames

#: Frames are alike from here on; 1 is the same.
ALIKE = 0.75

#: A frame with less than this shows nothing, as the laws will say: the smallest ball has 220, bad
#: compression of an empty frame less than 10, noise of 20 grey levels 55.
EMPTY = 100.0

#: Videos that are looked at before the work begins.
LOOKED_AT = 24

#: Colours that are further off than this on average, in levels of 255, are others: half of what a red
#: ball that turned blue has, and three times what bad H.264 (CRF 45) does to nine of ten first frames.
OTHER_COLOURS = 85.0

#: By so much a frame must be more like a later one than like the first to count as that one. Balls move
#: by 1 to 5 px of 128 in a frame, which costs 0.02 and more; bad H.264 (CRF 45) costs less than 0.01.
LATER = 0.01

_GRID = 32

_UPSIDE_DOWN = "they are upside down: row 0 is the top"
_LACKING = "they lack the given frames: put these before the others"
_FROM_ONE = "their numbers are one too large: samples count from 0"
_SWAPPED = "red and blue are swapped: write RGB"
_NEGATIVE = "they are negatives: the background of the data set is white"
_GREY = "they are without colour: write RGB"
_OTHER = "their colours are not those of the data set"


def likeness(frame: NDArray[np.uint8], true: NDArray[np.uint8]) -> float | None:
    """Compare what two frames show: 1 the same, 0 nothing in common; None if the true one is empty.

    Args:
        frame: (H, W, 3) uint8 RGB, of a video.
        true: (h, w, 3) uint8 RGB, what it should be.
    """
    shown, wanted = _standing_out(frame), _standing_out(true)
    strength, needed = np.linalg.norm(shown), np.linalg.norm(wanted)
    if needed < EMPTY:
        return None
    if strength < EMPTY / 4:
        return 0.0
    return float((shown * wanted).sum() / (strength * needed))


def check_beginning(frames: Frames, truth: Frames, index: int) -> None:
    """Refuse a video that does not begin like its sample."""
    if not _alike(frames[0], truth[0]):
        raise InputError(
            f"does not begin like sample {index}",
            remedy="is it of another sample, or without the given frames?",
        )


def check_beginnings(
    pairs: Sequence[tuple[VideoSource, int]], videos: Path, truth: Path, condition: int
) -> None:
    """Look at some videos before the work begins; refuse a folder of which most are of other samples.

    Args:
        pairs: videos, and numbers of their samples.
        videos: where they are from, for the message.
        truth: the data set.
        condition: frames that the model was given.
    """
    chosen = np.unique(np.linspace(0, len(pairs) - 1, LOOKED_AT).round().astype(int))
    looked = unlike = 0
    slips: Counter[str] = Counter()
    with open_dataset(truth) as data:
        for video, index in (pairs[place] for place in chosen):
            try:
                frames, true = video.read(), data.video(index)
                before = data.video(index - 1)[0] if index else None
            except Exception:  # who scores it will say what is wrong with it
                continue
            looked += 1
            late = _frames_late(frames[0], true[: condition + 1])
            if late:
                unlike += 1
                slips[_LACKING if late == condition else _late(late)] += 1
            elif not _alike(frames[0], true[0]):
                unlike += 1
                slips.update(_slips(frames[0], true[0], before))
            elif colours_off(frames[0], true[0]) > OTHER_COLOURS:
                unlike += 1
                slips.update(_colour_slips(frames[0], true[0]))
    if 2 * unlike <= looked:
        return
    remedy = "give their own data set, and let every video begin with the given frames"
    slip, count = slips.most_common(1)[0] if slips else ("", 0)
    raise InputError(
        f"these do not begin like samples of {truth}: {unlike} of {looked} videos looked at",
        path=videos,
        remedy=slip if 2 * count > unlike else remedy,
    )


def _late(frames: int) -> str:
    return f"they begin {counted(frames, 'frame')} late"


def _frames_late(frame: NDArray[np.uint8], true: Frames) -> int:
    """Return which of the first true frames a first frame is most like; 0 unless it plainly is."""
    values = [likeness(frame, one) or 0.0 for one in true]
    best = int(np.argmax(values))
    return best if values[best] > max(values[0] + LATER, ALIKE) else 0


def _slips(
    frame: NDArray[np.uint8], true: NDArray[np.uint8], before: NDArray[np.uint8] | None
) -> list[str]:
    """Name what would make a first frame what it is; `before` is the first one of the sample before."""
    found = [(_UPSIDE_DOWN, true[::-1]), (_FROM_ONE, before)]
    return [slip for slip, other in found if other is not None and _alike(frame, other)]


def colours_off(frame: NDArray[np.uint8], true: NDArray[np.uint8]) -> float:
    """Return how far colours are off in levels of 255, of what stands out or of the background.

    Args:
        frame: (H, W, 3) uint8 RGB, of a video.
        true: (h, w, 3) uint8 RGB, what it should be.
    """
    weights = _standing_out(true)
    away = np.abs(_cells(frame) - _cells(true)).mean(axis=2)
    bodies = float((weights * away).sum() / max(float(weights.sum()), 1e-9))
    # A cell that a body fills in part differs in part.
    filled = float((weights**2).sum() / max(float(weights.sum() * weights.max()), 1e-9))
    return max(bodies / max(filled, 0.1), float(np.median(away)))


def _colour_slips(frame: NDArray[np.uint8], true: NDArray[np.uint8]) -> list[str]:
    """Name what would make the colours of a first frame what they are."""
    grey = np.repeat(true.mean(axis=2, keepdims=True), 3, axis=2).astype(np.uint8)
    found = [(_SWAPPED, true[..., ::-1]), (_NEGATIVE, 255 - true), (_GREY, grey)]
    fitting = [slip for slip, other in found if colours_off(frame, other) < OTHER_COLOURS / 2]
    return [*fitting, _OTHER][:1]


def _alike(frame: NDArray[np.uint8], true: NDArray[np.uint8]) -> bool:
    value = likeness(frame, true)
    return value is None or value >= ALIKE


def _standing_out(frame: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return how far each cell of the grid is from the background, in grey levels."""
    cells = _cells(frame.mean(axis=2, dtype=np.float32, keepdims=True))[..., 0]
    return np.abs(cells - np.median(cells))


def _cells(frame: NDArray[np.uint8] | NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (G, G, C) means of the cells of the grid."""
    planes = (Image.fromarray(frame[..., c].astype(np.float32)) for c in range(frame.shape[2]))
    size = (_GRID, _GRID)
    return np.stack([np.asarray(one.resize(size, Image.Resampling.BOX)) for one in planes], axis=2)
