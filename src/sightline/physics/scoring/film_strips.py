"""Film strips of the worst videos: true frames above those of the model, with tracks drawn over them.

Frames are pixels; outlines, tracks and text are vector graphics, so that errors of half a pixel are
visible at any size. The first wrong frame is always shown. Where no body is tracked, as in
combinatorial worlds, the PSNR of each frame is shown instead.
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
from sightline.physics.datasets.reader import VideoData, open_dataset
from sightline.physics.datasets.spec import COMBINATORIAL
from sightline.physics.laws import LAWS, Violation
from sightline.physics.scoring.inputs import VideoSource
from sightline.physics.scoring.labels import ERROR_LAWS, HEADLINE, law_title
from sightline.physics.scoring.run import MODEL, PhysicsReport, ScoringTask
from sightline.physics.scoring.sample import SampleScore, at_rate
from sightline.physics.tracking import State, Tracks, parse, prior_of
from sightline.physics.types import WORLD_SIDE, Doubles, Frames, Motion, Shape
from sightline.physics.video_metrics.frame_metrics import psnr

#: A body further than this from its true place is wrong, in world units: the tolerance of the law.
OFF = next(law.tolerance for law in LAWS if law.name == "position")

# Of bodies that are there.
_STATES = {
    State.SPLIT: "in pieces",
    State.DEFORMED: "misshapen",
    State.RECOLORED: "recolored",
}
_COLORS = {
    "red": (255, 0, 0),
    "blue": (0, 0, 255),
    "green": (0, 160, 0),
    "black": (0, 0, 0),
    "gray": (128, 128, 128),
}


def body_names(motion: Motion) -> list[str]:
    """Name the bodies by color and shape, such as `red ball`."""
    return [
        f"{_color(rgb)} {Shape(int(shape)).name.lower()}"
        for rgb, shape in zip(motion.colors, motion.shapes, strict=True)
    ]


def wrong_frames(
    motion: Motion, tracks: Tracks, count: int, violations: Sequence[Violation] = ()
) -> dict[int, tuple[str, ...]]:
    """Return the errors of each wrong frame: a phrase per body, then the violated laws.

    Every body is judged that the truth or the video shows by more than `OFF`. One that the border cuts
    in both may be off by its radius: what is left of it says no more.

    Args:
        motion: what should happen.
        tracks: of the video, the true bodies first.
        count: frames to look at.
        violations: of the laws; each marks the frame where it is worst or begins.
    """
    names = [_color(rgb) for rgb in motion.colors]
    found: dict[int, tuple[str, ...]] = {}
    shown = _depth(motion.positions, motion.sizes)
    bodies = min(len(names), tracks.bodies)
    for frame in range(count):
        told = {
            body: _phrase(motion, tracks, frame, body, float(shown[frame, body]))
            for body in range(bodies)
        }
        phrases = [f"{names[body]} {what}" for body, what in told.items() if what]
        extra = tracks.states[frame, len(names) :]
        if ((extra == State.SEEN) | (extra > State.MERGED)).any():
            phrases.append("a body too many")
        named = [body for body, what in told.items() if what]
        phrases += _broken(violations, frame, named, names)
        if phrases:
            found[frame] = tuple(phrases)
    return found


def _phrase(motion: Motion, tracks: Tracks, frame: int, body: int, shown: float) -> str:
    """Describe what is wrong with a body in a frame; empty if nothing is.

    Args:
        motion: what should happen.
        tracks: of the video.
        frame: its number.
        body: its number.
        shown: how far the body truly reaches into the picture, in world units.
    """
    state = State(int(tracks.states[frame, body]))
    size = float(motion.sizes[body])
    if state in (State.LOST, State.OUTSIDE):
        return "gone" if shown > OFF else ""
    if state == State.MERGED:
        return "hidden" if shown > OFF and _apart(motion, frame, body) else ""
    if state in _STATES and shown > OFF:
        return _STATES[state]
    place = tracks.positions[frame, body]
    if shown <= 0:
        seen = float(_depth(place[None, None], motion.sizes[body : body + 1])[0, 0])
        return "still there" if seen > OFF else ""
    off = float(np.linalg.norm(place - motion.positions[frame, body]))
    cut = state == State.PARTLY_OUTSIDE and shown < 2 * size
    return f"off by {off:.1f}" if off > (max(OFF, size) if cut else OFF) else ""


def _broken(
    violations: Sequence[Violation], frame: int, told: Sequence[int], names: Sequence[str]
) -> list[str]:
    """Name the laws violated at a frame, except for bodies already described."""
    here = [one for one in violations if one.frame == frame and one.law not in ERROR_LAWS]
    return list(
        dict.fromkeys(
            f"{names[one.body]}: {law_title(one.law)}"
            if 0 <= one.body < len(names)
            else law_title(one.law)
            for one in here
            if one.body not in told
        )
    )


def _depth(positions: Doubles, sizes: Doubles) -> Doubles:
    """Return (T, N) how far bodies reach into the picture, up to their diameter; not at all: 0 or less.

    Args:
        positions: (T, N, 2) centers.
        sizes: (N,) radii or half sides.
    """
    inward = np.minimum(positions, WORLD_SIDE - positions)
    outside = np.linalg.norm(np.minimum(inward, 0), axis=2)  # over a corner, too
    reach = np.where(outside > 0, -outside, inward.min(axis=2)) + sizes
    return np.asarray(np.minimum(reach, 2 * sizes))


def _apart(motion: Motion, frame: int, body: int) -> bool:
    """Return whether a true body is further than `OFF` from all others, so that nothing can hide it."""
    away = np.linalg.norm(motion.positions[frame] - motion.positions[frame, body], axis=1)
    gaps = away - motion.sizes - motion.sizes[body]
    return bool((np.delete(gaps, body) > OFF).all())


def _color(rgb: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> str:
    """Return the name of the nearest color."""
    away = {name: np.abs(rgb.astype(int) - one).sum() for name, one in _COLORS.items()}
    return min(away, key=away.__getitem__)


#: Side of a frame on the strip, and room for words around them, in [px].
CELL = 128
LEFT, RIGHT, TOP, BOTTOM = 48, 2, 20, 36

#: Frames that are shown.
SHOWN = 8

# Noise makes a picture as large as its pixels are many: above so many bytes it is drawn in steps of so
# many levels, which keeps white, red and blue as they are.
_LARGE, _STEP = 100_000, 17


@dataclass(frozen=True, slots=True)
class FilmStrip:
    """A strip, ready to be drawn.

    Attributes:
        picture: the frames, true ones above, each `CELL` wide and high.
        frames: their numbers.
        wrong: what is wrong in a frame, by its number: a phrase per body, and laws violated there.
        sides: pixels of a frame of the true video, and of the model's.
        motion: what truly happens; None where no body is parsed.
        tracks: what the parser saw in the video; likewise.
        notes: what stands below a frame, by its number, without a judgment.
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
) -> FilmStrip:
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
    return FilmStrip(_sheet(truth, video, frames), frames, wrong, sides, motion, tracks)


def scene_strip(truth: Frames, video: Frames, shown: int = SHOWN) -> FilmStrip:
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
    return FilmStrip(_sheet(truth, video, frames), frames, {}, sides, notes=notes)


def _sheet(truth: Frames, video: Frames, frames: Sequence[int]) -> Image.Image:
    """Set frames beside each other, true ones above."""
    picture = Image.new("RGB", (len(frames) * CELL, 2 * CELL))
    for column, frame in enumerate(frames):
        for row, source in enumerate((truth, video)):
            cell = Image.fromarray(source[frame])
            cell = cell.resize((CELL, CELL), Image.Resampling.BILINEAR)
            picture.paste(cell, (column * CELL, row * CELL))
    return picture


def draw(film: FilmStrip, given: int, key: str, title: str) -> str:
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

    The world's borders lie on the centers of the outermost pixels.
    """
    scale = (side - 1) / side * CELL / WORLD_SIDE
    half = CELL / side / 2
    return half + float(place[0]) * scale, half + (WORLD_SIDE - float(place[1])) * scale


def _path(places: Doubles, side: int, kind: str) -> str:
    points = "L".join(f"{x:.1f} {y:.1f}" for x, y in (_at(place, side) for place in places))
    return f'<path class="{kind}" d="M{points}"/>'


def _outline(center: Doubles, radius: float, side: int, kind: str, square: bool = False) -> str:
    x, y = _at(center, side)
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


#: Bad cases that are shown.
WORST = 6


@dataclass(frozen=True, slots=True)
class WorstCase:
    """A bad case.

    Attributes:
        score: of the sample.
        film: its frames, and what is wrong in them.
    """

    score: SampleScore
    film: FilmStrip


def worst_cases(result: PhysicsReport, count: int = WORST) -> list[SampleScore]:
    """Return the worst samples: abnormal ones, then by errors; of combinatorial worlds by pixels."""
    badness = _far_in_pixels if result.scenario == COMBINATORIAL else _far_from_the_law
    return sorted(result.scores[MODEL], key=badness, reverse=True)[:count]


def worst_strips(
    result: PhysicsReport, task: ScoringTask, pairs: Sequence[tuple[VideoSource, int]]
) -> list[WorstCase]:
    """Read the worst videos again and make their strips.

    Args:
        result: the score.
        task: that it was made for.
        pairs: videos, and numbers of their samples.
    """
    sources = {index: video for video, index in pairs}
    with open_dataset(task.truth) as data:
        return [
            WorstCase(one, _film(one, sources[one.index].read(), task, data))
            for one in worst_cases(result)
        ]


def _film(score: SampleScore, frames: Frames, task: ScoringTask, data: VideoData) -> FilmStrip:
    true = data.video(score.index)
    if task.fps is not None:
        frames = at_rate(frames, task.fps, data.frame_time, len(true))
    frames = frames[: len(true)]
    if data.scenario == COMBINATORIAL:
        return scene_strip(true, frames)
    motion = data.motion(score.index)
    tracks = parse(frames, frame_time=motion.frame_time, prior=prior_of(motion))
    return film_strip(true, frames, motion, tracks, violations=score.violations)


def _far_from_the_law(score: SampleScore) -> tuple[bool, float]:
    error = score.values.get(HEADLINE) or 0.0
    return bool(score.abnormal), max(error, score.values.get("position") or 0.0)


def _far_in_pixels(score: SampleScore) -> tuple[bool, float]:
    """Order by the first metric that is there: PSNR and SSIM are worse when smaller, LPIPS not."""
    for name, value in score.pictures.items():
        if isinstance(value, float):
            return True, value if name == "lpips" else -value
    return False, 0.0
