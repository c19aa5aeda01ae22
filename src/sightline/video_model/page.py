"""HTML pages and film strips of the demo, of studies and of training runs."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from PIL import Image

from sightline.io.atomic import atomic_path, write_bytes
from sightline.physics.scoring.film_strips import draw, film_strip
from sightline.physics.tracking import parse, prior_of
from sightline.physics.types import Frames
from sightline.reports.templating import environment
from sightline.video_model.data import Mixture, Pick
from sightline.video_model.pipeline import VideoDiffusion
from sightline.video_model.scoring import ScoredVideo

#: Folder of film strips within a run.
SAMPLES = "samples"

#: Frames of a strip, and gap and gray level between images.
_FRAMES, _GAP, _GRAY = 8, 2, 160

#: Index of the first video shown; training hardly reaches it.
_SHOWN = 10_000_019


def write_strip(out: Path, step: int, model: VideoDiffusion, videos: Mixture, count: int) -> None:
    """Write an image of a few videos and their continuations by a model.

    Args:
        out: folder of the run.
        step: training step.
        model: current model.
        videos: mixture whose sources provide the videos.
        count: number of videos.
    """
    picks = [videos.pick(_SHOWN + place) for place in range(count)]
    truths = [frames_of(videos, pick)[: model.frames] for pick in picks]
    described = (
        model.conditioning_for([videos.fact(pick) for pick in picks])
        if model.uses_conditioning
        else None
    )
    made = model.continue_videos(truths, range(count), described=described)
    rows = [row for pair in zip(truths, made, strict=True) for row in pair]
    with atomic_path(out / SAMPLES / f"{step:07d}.png") as temporary:
        Image.fromarray(strips(rows)).save(temporary)


def frames_of(videos: Mixture, pick: Pick) -> Frames:
    """Return a video of a mixture: (T, S, S, 3) uint8 RGB."""
    return np.ascontiguousarray(videos.video(pick).transpose(1, 2, 3, 0))


def strips(videos: list[Frames], shown: int = _FRAMES) -> NDArray[np.uint8]:
    """Draw some frames of each video, one row per video: (H, W, 3) uint8."""
    count, size = len(videos[0]), videos[0].shape[1]
    chosen = np.unique(np.linspace(0, count - 1, shown).round().astype(int))
    cell = size + _GAP
    sheet = np.full((len(videos) * cell + _GAP, len(chosen) * cell + _GAP, 3), _GRAY, np.uint8)
    for row, video in enumerate(videos):
        for column, frame in enumerate(chosen):
            top, left = _GAP + row * cell, _GAP + column * cell
            sheet[top : top + size, left : left + size] = video[frame]
    return sheet


#: Magnification of an animation, and its time per frame in [ms].
_LARGER, _FRAME_TIME = 3, 100


@dataclass(frozen=True, slots=True)
class FilmStripFigure:
    """Film strip of a page.

    Attributes:
        caption: caption.
        drawing: SVG.
        moving: animation as a data URL; empty for none.
    """

    caption: str
    drawing: Markup
    moving: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Section of a page.

    Attributes:
        title: heading.
        words: paragraphs at the beginning.
        header: header of the table.
        rows: rows of the table.
        plots: captions and SVG.
        films: film strips.
        after: paragraphs at the end.
    """

    title: str
    words: Sequence[str] = ()
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    plots: Sequence[tuple[str, Markup]] = ()
    films: Sequence[FilmStripFigure] = ()
    after: Sequence[str] = ()


def write_page(
    path: Path,
    title: str,
    kind: str,
    intro: Sequence[str],
    sections: Sequence[Section],
    facts: Sequence[tuple[str, str]],
) -> None:
    """Write a self-contained HTML page.

    Args:
        path: `.html` file.
        title: heading.
        kind: kind of page, shown above the heading.
        intro: paragraphs under the heading.
        sections: sections in order.
        facts: provenance: names and values.
    """
    template = environment("sightline.video_model").get_template("sections.html")
    text = template.render(title=title, kind=kind, intro=intro, sections=sections, facts=facts)
    write_bytes(path, text.encode(errors="backslashreplace"))


def make_film(
    take: ScoredVideo, caption: str, key: str, given: int, *, moving: bool = True
) -> FilmStripFigure:
    """Draw a film strip: true video above the generated one, with the tracked bodies.

    Args:
        take: scored video.
        caption: caption of the strip.
        key: key that is unique on the page.
        given: number of given frames.
        moving: add an animation.
    """
    motion = take.motion
    tracks = parse(take.made, frame_time=motion.frame_time, prior=prior_of(motion))
    strip = film_strip(take.truth, take.made, motion, tracks, violations=take.score.violations)
    drawing = Markup(draw(strip, given, key, caption))
    return FilmStripFigure(
        caption, drawing, _moving(side_by_side(take.truth, take.made)) if moving else ""
    )


def scene_strip(truth: Frames, made: Frames) -> str:
    """Draw some frames of two videos, the true one above: SVG."""
    sheet = Image.fromarray(strips([truth, made]))
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG", optimize=True)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    width, height = 2 * sheet.width, 2 * sheet.height
    return (
        f'<svg class="film" viewBox="0 0 {width} {height}" role="img"><image width="{width}" '
        f'height="{height}" href="data:image/png;base64,{data}"/></svg>'
    )


def side_by_side(truth: Frames, made: Frames, larger: int = 1) -> Frames:
    """Put two videos side by side: (T, S, 2 S + 2, 3), magnified `larger` times."""
    gap = np.full((*truth.shape[:2], 2, 3), _GRAY, np.uint8)
    both = np.concatenate([truth, gap, made], axis=2)
    return np.ascontiguousarray(both.repeat(larger, axis=1).repeat(larger, axis=2))


def _moving(frames: Frames) -> str:
    pictures = [Image.fromarray(frame) for frame in frames.repeat(_LARGER, 1).repeat(_LARGER, 2)]
    buffer = io.BytesIO()
    pictures[0].save(
        buffer, "GIF", save_all=True, append_images=pictures[1:], duration=_FRAME_TIME, loop=0
    )
    return "data:image/gif;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
