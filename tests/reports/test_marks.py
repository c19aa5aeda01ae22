"""Marks over a picture: where they are, and what is said of them to those who cannot see."""

from __future__ import annotations

import re

import numpy as np

from sightline.reports import Exhibit, write_page
from sightline.reports.marks import Letter, Line, OutlineMark
from sightline.types import DepthMap, Kind

MARKS = (
    OutlineMark([[(1, 2), (7, 2), (7, 9)]], ["1.7 m tall", "2 m <away>"], (4, 9)),
    Line((0, 0), (9, 4), "0.4 m"),
    Letter((5, 5), "A", won=True),
)


def test_marks_are_drawn_at_the_centers_of_pixels(tmp_path):
    depth = DepthMap(np.ones((20, 30), np.float32), Kind.METRIC_DEPTH)
    photo = np.zeros((20, 30, 3), np.uint8)
    write_page(tmp_path / "page.html", [Exhibit("a", depth, photo, marks=MARKS)])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    (drawn,) = re.findall(r'<svg class="marks".*?</svg>', page, re.DOTALL)
    assert 'viewBox="0 0 30 20"' in drawn
    assert 'd="M1.5 2.5L7.5 2.5L7.5 9.5Z"' in drawn
    assert 'd="M0.5 0.5L9.5 4.5"' in drawn
    assert 'class="letter won"' in drawn
    assert 'aria-label="1.7 m tall, 2 m &lt;away&gt;; 0.4 m; A"' in drawn


def test_a_page_without_marks_has_none(tmp_path):
    depth = DepthMap(np.ones((4, 4), np.float32), Kind.METRIC_DEPTH)
    write_page(tmp_path / "page.html", [Exhibit("a", depth)])
    assert "<svg" not in (tmp_path / "page.html").read_text(encoding="utf-8")
