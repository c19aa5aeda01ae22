"""Film strips: a few frames of the true video above those of the model's, with what the parser saw.

The frames are pixels; rings, tracks and words are drawn over them as lines, so that half a pixel of
error can be seen at any size. The first frame that is wrong is always among those shown. Where no body
is parsed, as in combinatorial worlds, the likeness of each frame stands below it instead.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np
from PIL import Image

from sightline.errors import InputError
from sightline.physics.laws import Violation
from sightline.physics.parse import State, Tracks
from sightline.physics.pictures.psnr_ssim import psnr
from sightline.physics.score.wrong import body_names, wrong_frames
from sightline.physics.types import WORLD_SIDE, Doubles, Frames, Motion, Shape

#: Side of a frame on the strip, and room for words around them, in [px].
CELL = 128
LEFT, RIGHT, TOP, BOTTOM = 48, 2, 20, 36

#: Frames that are shown.
SHOWN = 8

# Noise makes a picture as large as its pixels are many: above so many bytes it is drawn in steps of so
# many levels, which keeps white, red and blue as they are.
_LARGE, _STEP = 100_000, 17


@dataclass(frozen=True, slots=True)
class Film:
    """A strip, ready to be drawn.

    Attributes:
        picture: the frames, true ones above, each `CELL` wide and high.
        frames: their numbers.
        wrong: what is wrong in a frame, by its number: a phrase per body, and laws violated there.
        sides: pixels of a frame of the true video, and of the model's.
        motion: what truly happens; None where no body is parsed.
        tracks: what the parser saw in the video; likewise.
        notes: what stands below a frame, by its number, without a judgement.
    """

    picture: Image.Image
    frames: tuple[int, ...]
    wrong: dict[int, tuple[str, ...]]
    sides: tuple[int, int]
    motion: Motion | None = None
    tracks: Tracks | None = None
    notes: dict[int, str] = field(default_factory=dict)

    @property
    def bodies(self) -> list[str]:
        """Names of the true bodies, such as `red ball`."""
        return [] if self.motion is None else body_names(self.motion)


def film_strip(
    truth: Frames,
    video: Frames,
    motion: Motion,
    tracks: Tracks,
    shown: int = SHOWN,
    violations: Sequence[Violation] = (),
) -> Film:
    """Choose frames of a video and of its truth, and find what is wrong in them.

    Args:
        truth: (T, H, W, 3) uint8 RGB.
        video: (T, h, w, 3) uint8 RGB.
        motion: what truly happens.
        tracks: of `video`, the true bodies first.
        shown: number of frames, the first, the last and the first wrong one among them.
        violations: of the laws, which make frames wrong, too.
    """
    count = min(len(truth), len(video), len(tracks), len(motion.positions))
    if not count:
        raise InputError("a strip needs at least one frame")
    wrong = wrong_frames(motion, tracks, count, violations)
    frames = _chosen(count, shown, min(wrong, default=None))
    sides = truth.shape[1], video.shape[1]
    return Film(_sheet(truth, video, frames), frames, wrong, sides, motion, tracks)


def scene_strip(truth: Frames, video: Frames, shown: int = SHOWN) -> Film:
    """Choose frames of a video in which no body is parsed, with the PSNR of each where sizes agree.

    Args:
        truth: (T, H, W, 3) uint8 RGB.
        video: (T, h, w, 3) uint8 RGB.
        shown: number of frames, the first and the last among them.
    """
    count = min(len(truth), len(video))
    if not count:
        raise InputError("a strip needs at least one frame")
    frames, sides = _chosen(count, shown, None), (truth.shape[1], video.shape[1])
    alike = truth.shape[1:] == video.shape[1:]
    notes = {k: f"{psnr(video[k : k + 1], truth[k : k + 1]):.1f} dB" for k in frames if alike}
    return Film(_sheet(truth, video, frames), frames, {}, sides, notes=notes)


def _sheet(truth: Frames, video: Frames, frames: Sequence[int]) -> Image.Image:
    """Set frames beside each other, true ones above."""
    picture = Image.new("RGB", (len(frames) * CELL, 2 * CELL))
    for column, frame in enumerate(frames):
        for row, source in enumerate((truth, video)):
            cell = Image.fromarray(source[frame])
            cell = cell.resize((CELL, CELL), Image.Resampling.BILINEAR)
            picture.paste(cell, (column * CELL, row * CELL))
    return picture


def draw(film: Film, given: int, key: str, title: str) -> str:
    """Draw a strip as SVG.

    Args:
        film: the strip.
        given: how many frames the model was given.
        key: unique on the page.
        title: what it is called to those who cannot see it.
    """
    width, height = len(film.frames) * CELL, 2 * CELL
    parts = [
        f"<title>{escape(title)}</title>",
        f'<clipPath id="{key}"><rect width="{CELL}" height="{CELL}"/></clipPath>',
        f'<image x="{LEFT}" y="{TOP}" width="{width}" height="{height}" '
        f'href="{_data_uri(film.picture)}"/>',
        *(
            f'<text class="label" x="{LEFT - 8}" y="{TOP + (row + 0.5) * CELL + 4:g}" '
            f'text-anchor="end">{words}</text>'
            for row, words in enumerate(("truth", "model"))
        ),
    ]
    over = []
    for column, frame in enumerate(film.frames):
        x, wrong = LEFT + column * CELL, film.wrong.get(frame, ())
        above, below = film.sides
        if film.motion is not None and film.tracks is not None:
            parts.append(_over(x, TOP, key, _trails(film.motion, frame, above)))
            seen = _outlines(film.motion, frame, below) + _seen(film.tracks, frame, below)
            parts.append(_over(x, TOP + CELL, key, seen))
        parts += [_rim(x, TOP, "rim"), _rim(x, TOP + CELL, "rim")]
        over += [_rim(x, TOP + CELL, "rim bad")] if wrong else []
        parts += _words(x, frame, wrong, frame < given, frame == min(film.wrong, default=None))
        parts += [_below(x, 0, film.notes[frame], "label")] if frame in film.notes else []
    size = f"{LEFT + width + RIGHT} {TOP + height + BOTTOM}"
    return f'<svg class="film" viewBox="0 0 {size}" role="img">{"".join(parts + over)}</svg>'


def _chosen(count: int, shown: int, first_wrong: int | None) -> tuple[int, ...]:
    """Return evenly spaced frames, one of them moved to the first wrong one."""
    frames = np.unique(np.linspace(0, count - 1, shown).round().astype(int))
    if first_wrong is not None and len(frames) > 2 and first_wrong not in frames:
        inner = frames[1:-1]
        inner[np.abs(inner - first_wrong).argmin()] = first_wrong
        frames = np.unique(frames)
    return tuple(int(frame) for frame in frames)


def _words(x: float, frame: int, wrong: Sequence[str], given: bool, first: bool) -> list[str]:
    """Write the number of a frame above it, and what is wrong below it."""
    middle = x + CELL / 2
    note = ", given" if given else ", first wrong" if first else ""
    kind = "bad" if first else "label" if not given else ""
    parts = [
        f'<text class="{kind}" x="{middle:g}" y="{TOP - 7}" text-anchor="middle">'
        f"frame {frame}{note}</text>"
    ]
    return parts + [_below(x, row, phrase, "bad") for row, phrase in enumerate(wrong[:2])]


def _below(x: float, row: int, words: str, kind: str) -> str:
    """Write a line below a frame."""
    place = f'x="{x + CELL / 2:g}" y="{TOP + 2 * CELL + 14 + 14 * row}"'
    return f'<text class="{kind}" {place} text-anchor="middle">{escape(words)}</text>'


def _over(x: float, y: float, key: str, lines: str) -> str:
    """Return lines over one frame, cut at its border."""
    return f'<g transform="translate({x:g} {y:g})"><g clip-path="url(#{key})">{lines}</g></g>'


def _rim(x: float, y: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{CELL}" height="{CELL}"/>'


def _trails(motion: Motion, frame: int, side: int) -> str:
    """Draw where the bodies truly have been."""
    places = motion.positions[: frame + 1]
    bodies = places.shape[1] if frame else 0
    return "".join(_path(places[:, body], side, "trail") for body in range(bodies))


def _outlines(motion: Motion, frame: int, side: int) -> str:
    """Outline the bodies where they truly are."""
    return "".join(
        _outline(motion.positions[frame, body], float(size), side, "true", shape == Shape.SQUARE)
        for body, (size, shape) in enumerate(zip(motion.sizes, motion.shapes, strict=True))
    )


def _seen(tracks: Tracks, frame: int, side: int) -> str:
    """Draw what the parser measured so far: a track and a cross, or a ring where it lost a body."""
    parts: list[str] = []
    for body in range(tracks.bodies):
        measured = tracks.measured[: frame + 1, body]
        places = tracks.positions[: frame + 1, body]
        if measured.sum() > 1:
            parts.append(_path(places[measured], side, "seen"))
        state = tracks.states[frame, body]
        if state == State.OUTSIDE:
            continue
        if state in (State.LOST, State.MERGED):
            radius = float(tracks.radii[frame, body])
            parts.append(_outline(places[-1], radius, side, "lost"))
            continue
        x, y = _at(places[-1], side)
        cross = f"M{x - 4:.1f} {y:.1f}h8M{x:.1f} {y - 4:.1f}v8"
        parts += [f'<path class="{kind}" d="{cross}"/>' for kind in ("halo", "seen")]
    return "".join(parts)


def _at(place: Doubles, side: int) -> tuple[float, float]:
    """Return the point of a frame that shows a place; y is up in the world and down here.

    The world's borders lie on the centres of the outermost pixels.
    """
    scale = (side - 1) / side * CELL / WORLD_SIDE
    half = CELL / side / 2
    return half + float(place[0]) * scale, half + (WORLD_SIDE - float(place[1])) * scale


def _path(places: Doubles, side: int, kind: str) -> str:
    points = "L".join(f"{x:.1f} {y:.1f}" for x, y in (_at(place, side) for place in places))
    return f'<path class="{kind}" d="M{points}"/>'


def _outline(centre: Doubles, radius: float, side: int, kind: str, square: bool = False) -> str:
    x, y = _at(centre, side)
    r = radius * (side - 1) / side * CELL / WORLD_SIDE
    if square:
        corner = f'x="{x - r:.1f}" y="{y - r:.1f}"'
        return f'<rect class="{kind}" {corner} width="{2 * r:.1f}" height="{2 * r:.1f}"/>'
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"/>'


def _data_uri(picture: Image.Image) -> str:
    def encoded(one: Image.Image) -> bytes:
        buffer = io.BytesIO()
        one.save(buffer, "PNG", optimize=True)
        return buffer.getvalue()

    data = encoded(picture)
    if len(data) > _LARGE:
        data = encoded(picture.point([round(level / _STEP) * _STEP for level in range(256)] * 3))
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")
