"""Few samples to learn by heart."""

import numpy as np

from sightline.perception.questions import depth
from sightline.perception.questions.hardblink import Point
from sightline.perception.questions.records import Record
from sightline.perception.tokens import to_text


class Few:
    """Three kinds of samples, over and over."""

    def __init__(self, count, *, long=False):
        points = {"A": Point(10, 20, 200), "B": Point(300, 40, 90)}
        codes = to_text(np.arange(100).reshape(10, 10) % 128) if long else "<DEPTH_START>"
        self.records = [
            depth.direct("a.jpg", points),
            Record("a.jpg", depth.GENERATE, codes, "depth"),
            depth.direct("b.jpg", {"A": points["B"], "B": points["A"]}),
        ]
        self.count = count

    def __len__(self):
        return self.count

    def sample(self, position):
        which = position % len(self.records)
        return self.records[which], np.full((30, 40, 3), 60 * which, np.uint8)
