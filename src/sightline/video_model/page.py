"""Pages of the demo and of studies: sections of words, a table, plots and film strips."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from markupsafe import Markup
from PIL import Image

from sightline.files.atomic import write_bytes
from sightline.physics.parse import parse, prior_of
from sightline.physics.score.strips import draw, film_strip
from sightline.physics.types import Frames
from sightline.report.templating import environment
from sightline.video_model.scoring import Take
from sightline.video_model.showing import strips

#: How many times larger than its pixels a moving picture is, and its time for a frame in [ms].
_LARGER, _FRAME_TIME = 3, 100
_GREY = 160


@dataclass(frozen=True, slots=True)
class Film:
    """A film strip.

    Attributes:
        caption: above it.
        drawing: SVG.
        moving: the same as a moving picture, a data address; empty for none.
    """

    caption: str
    drawing: Markup
    moving: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    Attributes:
        title: its heading.
        words: paragraphs at its beginning.
        header: of its table.
        rows: of its table.
        plots: captions and SVG.
        films: film strips.
        after: paragraphs at its end.
    """

    title: str
    words: Sequence[str] = ()
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    plots: Sequence[tuple[str, Markup]] = ()
    films: Sequence[Film] = ()
    after: Sequence[str] = ()


def write_page(
    path: Path,
    title: str,
    kind: str,
    intro: Sequence[str],
    sections: Sequence[Section],
    facts: Sequence[tuple[str, str]],
) -> None:
    """Write a page that stands alone.

    Args:
        path: of the `.html` file.
        title: its heading.
        kind: of page.
        intro: paragraphs under the heading.
        sections: from the top.
        facts: where everything comes from: names and values.
    """
    template = environment("sightline.video_model").get_template("sections.html")
    text = template.render(title=title, kind=kind, intro=intro, sections=sections, facts=facts)
    write_bytes(path, text.encode(errors="backslashreplace"))


def make_film(take: Take, caption: str, key: str, given: int, *, moving: bool = True) -> Film:
    """Draw a take: truth above the model's video, with what the parser saw.

    Args:
        take: video and truth.
        caption: above the strip.
        key: unique on the page.
        given: frames that the model was given.
        moving: add a moving picture.
    """
    motion = take.motion
    tracks = parse(take.made, frame_time=motion.frame_time, prior=prior_of(motion))
    strip = film_strip(take.truth, take.made, motion, tracks, violations=take.score.violations)
    drawing = Markup(draw(strip, given, key, caption))
    return Film(caption, drawing, _moving(side_by_side(take.truth, take.made)) if moving else "")


def scene_strip(truth: Frames, made: Frames) -> str:
    """Draw a few frames of two videos, the truth above: SVG."""
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
    """Put two videos beside each other: (T, S, 2 S + 2, 3), each pixel `larger` times as large."""
    gap = np.full((*truth.shape[:2], 2, 3), _GREY, np.uint8)
    both = np.concatenate([truth, gap, made], axis=2)
    return np.ascontiguousarray(both.repeat(larger, axis=1).repeat(larger, axis=2))


def _moving(frames: Frames) -> str:
    pictures = [Image.fromarray(frame) for frame in frames.repeat(_LARGER, 1).repeat(_LARGER, 2)]
    buffer = io.BytesIO()
    pictures[0].save(
        *(buffer, "GIF"), save_all=True, append_images=pictures[1:], duration=_FRAME_TIME, loop=0
    )
    return "data:image/gif;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
