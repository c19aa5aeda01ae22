"""Let a compact speaker see only what an answer is about, until it knows where to look.

Five tokens of points are hard to find among 129: taught with all of them, a small language model wrote
places at chance after 250 steps; taught with the five alone, three quarters after 150, and it kept them
when the rest came back (docs/lab-log.md). Hidden tokens keep their places, so nothing moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sightline.perception.model.speech import Lesson
from sightline.perception.model.things import SLOTS
from sightline.perception.questions.markers import LETTERS

#: Tokens of a picture that answers of a task are about, counted from the end.
_ABOUT = {"points": slice(-SLOTS - len(LETTERS), -SLOTS), "boxes": slice(-SLOTS, None)}


def focused(lesson: Lesson, tasks: Sequence[str], image: int) -> Lesson:
    """Hide the tokens of pictures that answers are not about.

    Args:
        lesson: of as many conversations as there are tasks; those of other tasks stay as they are.
        tasks: of its answers.
        image: number of the mark of a picture.
    """
    mask = lesson.attention_mask.clone()
    for row, task in enumerate(tasks):
        if task in _ABOUT:
            places = (lesson.input_ids[row] == image).nonzero()[:, 0]
            seen = places[_ABOUT[task]].clone()
            mask[row, places] = 0
            mask[row, seen] = 1
    return replace(lesson, attention_mask=mask)
