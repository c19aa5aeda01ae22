"""Render replies: text lines, a character map, an annotated image."""

from __future__ import annotations

from collections import Counter

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from sightline.io.color import colorize
from sightline.perception.point_answers import PointAnswer
from sightline.perception.question_answering import Reply
from sightline.perception.questions.hardblink import SIDE
from sightline.perception.tokens import in_picture
from sightline.perception.vlm.generation import CountAnswer, DepthAnswer
from sightline.types import DepthMap, FloatArray, Kind

#: Characters from far to near.
SHADES = " .:-=+*#%@"

_Font = ImageFont.ImageFont | ImageFont.FreeTypeFont

_WIDE, _HIGH = 40, 18
_GREEN, _AMBER = (60, 200, 90), (240, 160, 30)


def text_block(decoded: FloatArray, places: dict[str, tuple[float, float]]) -> list[str]:
    """Draw a map with characters, denser is nearer, and the letters of points."""
    small = cv2.resize(decoded, (_WIDE, _HIGH), interpolation=cv2.INTER_AREA)
    low, high = float(small.min()), float(small.max())
    share = (small - low) / (high - low) if high > low else np.zeros_like(small)
    level = np.minimum((share * len(SHADES)).astype(int), len(SHADES) - 1)
    rows = [[SHADES[k] for k in row] for row in level]
    for letter, (x, y) in places.items():
        rows[min(_HIGH - 1, int(y * _HIGH / SIDE))][min(_WIDE - 1, int(x * _WIDE / SIDE))] = letter
    return ["".join(row) for row in rows]


def format_reply(reply: Reply) -> list[str]:
    """Return the steps of a reply as lines: perception, conclusion, agreement, answer."""
    answer = reply.answer
    if isinstance(answer, CountAnswer):
        return _count_lines(reply, answer)
    return _depth_lines(reply, answer)


def _depth_lines(reply: Reply, answer: DepthAnswer) -> list[str]:
    lines = []
    if reply.question.asked == "nearest":
        x, y = reply.width / SIDE, reply.height / SIDE
        for letter, at in reply.places.items():
            own = answer.own_places.get(letter)
            seen = f"seen at {own[0] * x:.0f},{own[1] * y:.0f}" if own else "not found"
            lines.append(f"{letter} at {at[0]:.0f},{at[1]:.0f} ({seen})")
    about = reply.question.about
    if answer.decoded is None:
        if about is None or about.in_depth:
            lines.append("It wrote no depth map.")
    else:
        lines.append("Depth as it wrote it down, denser is nearer:")
        lines += ["  " + row for row in text_block(answer.decoded, dict(answer.places))]
    if reply.question.asked == "map":
        return lines
    if reply.found is not None:
        return [*lines, *_found_lines(reply.found)]
    if answer.values:
        read = ", ".join(f"{letter} {value:.2f}" for letter, value in answer.values.items())
        found = answer.perceived
        lines.append(f"Its map reads {read}: " + (f"{found} is nearest" if found else "undecided"))
    readings = ", ".join(f"{letter} {value:.2f}" for letter, value in answer.own_values.items())
    words = f"{answer.said} is nearest" if answer.said else "no answer"
    lines.append(f"Its words: {readings}: {words}" if readings else f"Its words: {words}")
    return [*lines, *_verdict(reply)]


def _found_lines(found: PointAnswer) -> list[str]:
    """Return what an answer by the map, the coordinates or meters used, and the answer."""
    lines = [f"Used: {line}" for line in found.used]
    lines.append(found.statement)
    if found.answer is None:
        guess = f" Likeliest: {found.guess}." if found.guess else ""
        return [*lines, f"No answer.{guess}"]
    return [*lines, f"Answer: {found.answer}"]


def _count_lines(reply: Reply, answer: CountAnswer) -> list[str]:
    lines = []
    for number, box in enumerate(answer.boxes or (), 1):
        left, top, right, bottom = reply.in_pixels(box)
        lines.append(f"Box {number}: {left:.0f},{top:.0f} to {right:.0f},{bottom:.0f}")
    others = Counter(kind for kind, box in answer.named if box not in (answer.boxes or ()))
    if others:
        lines.append("It also named " + ", ".join(f"{n} {k}" for k, n in others.items()))
    if answer.boxes is None:
        lines.append("It listed no boxes.")
    lines.append("Its words: no number" if answer.said is None else f"Its words: {answer.said}")
    return [*lines, *_verdict(reply)]


def _verdict(reply: Reply) -> list[str]:
    answer, final = reply.answer, reply.final
    lines = []
    if answer.agrees is False:
        rule = "what it perceived counts" if reply.verify else "its words count, unverified"
        lines.append(f"Words and perception disagree; {rule}.")
    elif answer.agrees:
        lines.append("Words and perception agree.")
    elif final is not None:
        lines.append("It could not be verified.")
    lines.append("No answer." if final is None else f"Answer: {final}")
    return lines


def draw_reply(reply: Reply, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the image with the perceived points or boxes, beside the decoded map.

    Args:
        reply: reply to draw.
        pixels: (H, W, 3) image of the user.
    """
    height = max(160, min(640, pixels.shape[0]))
    width = max(1, round(pixels.shape[1] * height / pixels.shape[0]))
    sheet = Image.fromarray(pixels).resize((width, height), Image.Resampling.LANCZOS)
    font = ImageFont.load_default(max(12, height // 24))
    answer = reply.answer
    if isinstance(answer, CountAnswer):
        draw = ImageDraw.Draw(sheet)
        for number, box in enumerate(answer.boxes or (), 1):
            left, top, right, bottom = in_picture(box, width, height)
            draw.rectangle((left, top, right, bottom), outline=_GREEN, width=2)
            _label(draw, (left + 4, top + 2), str(number), _GREEN, font)
        return np.array(sheet)
    _draw_points(sheet, answer, reply.final, font)
    if answer.decoded is None:
        return np.array(sheet)
    colored = colorize(DepthMap(answer.decoded, Kind.RELATIVE_DISPARITY), palette="inferno")
    beside = Image.fromarray(colored).resize((width, height), Image.Resampling.BILINEAR)
    _draw_points(beside, answer, reply.final, font)
    both = Image.new("RGB", (2 * width + 8, height), (255, 255, 255))
    both.paste(sheet, (0, 0))
    both.paste(beside, (width + 8, 0))
    return np.array(both)


def _draw_points(
    sheet: Image.Image, answer: DepthAnswer, final: str | int | None, font: _Font
) -> None:
    """Draw rings and letters, the nearest in green, with labels inside the image."""
    draw = ImageDraw.Draw(sheet)
    radius = max(5, sheet.height // 50)
    for letter, (a, b) in answer.places.items():
        x, y = a * sheet.width / SIDE, b * sheet.height / SIDE
        color = _GREEN if letter == final else _AMBER
        for size, shade, width in ((radius + 1, (0, 0, 0), 4), (radius, color, 2)):
            draw.ellipse((x - size, y - size, x + size, y + size), outline=shade, width=width)
        value = answer.values.get(letter)
        label = letter if value is None else f"{letter} {value:.2f}"
        left, top, right, bottom = draw.textbbox((0, 0), label, font)
        wide = x + radius + 8 + right - left > sheet.width
        place = x - radius - 6 - (right - left) if wide else x + radius + 4
        line = min(max(0.0, y - (bottom + top) / 2), sheet.height - bottom - 3)
        _label(draw, (place, line), label, color, font)


def _label(
    draw: ImageDraw.ImageDraw,
    place: tuple[float, float],
    text: str,
    color: tuple[int, int, int],
    font: _Font,
) -> None:
    """Write text on a black background."""
    left, top, right, bottom = draw.textbbox(place, text, font)
    draw.rectangle((left - 2, top - 2, right + 2, bottom + 2), (0, 0, 0))
    draw.text(place, text, color, font)
