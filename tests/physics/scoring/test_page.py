"""The report: complete, well-formed, alone, and safe whatever videos are called."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from sightline.physics.rendering import render
from sightline.physics.scoring.film_strips import WorstCase, film_strip, worst_cases
from sightline.physics.scoring.page import facts, write_page
from sightline.physics.scoring.summary import TITLES
from sightline.physics.tracking import parse, prior_of
from sightline.physics.video_metrics.frame_metrics import NotAvailable
from sightline.physics.video_metrics.fvd import Fvd
from sightline.physics.worlds.simulation import sample

VOID = {"meta", "br", "img", "link"}


class Reader(HTMLParser):
    """Reads a page: its words, its anchors, and whether tags are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.words, self.ids, self.links = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def page_of(result, tmp_path, strips=(), title="my model"):
    write_page(tmp_path / "report.html", result, list(strips), title)
    page = (tmp_path / "report.html").read_text()
    reader = Reader(page)
    assert len(set(reader.ids)) == len(reader.ids)
    for link in reader.links:
        assert link.startswith("data:") or link.removeprefix("#") in reader.ids
    for svg in re.findall(r"<svg.*?</svg>", page, re.S):
        ET.fromstring(svg)
    # XML namespaces of the plots are names, not links.
    assert "://" not in re.sub(r' xmlns(:\w+)?="[^"]*"', "", page)
    assert "-0.0000" not in page
    assert "None" not in reader.text
    return page, reader


@pytest.fixture
def strips(make_result):
    motion = sample("collision", 1, seed=1)[0]
    video = render(motion, 128).copy()
    video[11:] = video[10]
    film = film_strip(render(motion, 128), video, motion, parse(video, prior=prior_of(motion)))
    return [WorstCase(one, film) for one in worst_cases(make_result())]


def test_every_part_is_there_with_an_anchor(make_result, strips, tmp_path):
    result = make_result(missing=2, left_out=[("00009", "is broken")])
    _, reader = page_of(result, tmp_path, strips)
    sections = {"glance", "buckets", "region", "laws", "worst", "left-out", "provenance"}
    assert sections <= set(reader.ids)
    assert {f"#{name}" for name in sections} <= set(reader.links)
    assert "2 samples of the data set have no video" in reader.text
    assert "as the data set" in reader.text


def test_buckets_stand_with_their_counts_and_the_error_before_the_impact(make_result, tmp_path):
    page, reader = page_of(make_result(), tmp_path)
    table = page[page.index('id="buckets"') : page.index('id="region"')]
    heads = re.findall(r"<th title=[^>]*>([^<]*)</th>", table)
    assert heads == ["all", "in", "out", "out: r", "out: v", "out: rv", "at rest"]
    counts = re.search(r"<td>videos</td>(.*?)</tr>", table)[1]
    assert re.findall(r"<td>(\d+)</td>", counts) == ["6", "2", "4", "1", "1", "1", "1"]
    assert "velocity error before impact, units/s" in reader.text
    assert 'id="law-velocity_before"' in page


def test_one_bucket_is_no_two_columns(make_result, tmp_path):
    page, reader = page_of(make_result(inits=[(1.0, 2.0)] * 3, scenario="uniform"), tmp_path)
    assert "By bucket" not in reader.text
    assert "in distribution, 3 videos" in reader.text
    assert "restitution" not in reader.text
    assert "hollow bars" not in reader.text
    assert "<details" not in page


def test_names_cannot_write_into_the_page(make_result, strips, tmp_path):
    evil = "<script>alert('x')</script>" + "y" * 3000 + "\udce9"
    strips = [WorstCase(replace(strips[0].score, name=evil), strips[0].film)]
    result = make_result(left_out=[(evil, evil)] * 150, videos=evil, data_set=evil)
    page, reader = page_of(result, tmp_path, strips, title=evil)
    assert "<script" not in page
    assert "\\udce9" in page
    assert "And 50 more" in reader.text


@pytest.mark.parametrize("count", [0, 1])
def test_hardly_anything_scored_is_a_page_too(make_result, tmp_path, count):
    inits = [(1.0, 1.0, 2.0, 2.0)] * count
    page, reader = page_of(make_result(inits=inits), tmp_path)
    assert ("No video was scored" in reader.text) == (count == 0)
    assert not re.search(r"\b(nan|inf)\b", page)


def test_thousands_of_videos_make_a_page_that_can_be_sent(make_result, tmp_path, rng):
    inits = [tuple(one) for one in rng.uniform(0.3, [2.0, 6.0], (2500, 2))]
    page, reader = page_of(make_result(inits=inits, scenario="uniform"), tmp_path)
    assert len(page) < 600_000
    assert "800 of 2,500 are shown" in reader.text


def test_a_probe_is_explained_and_its_own_training_is_shaded(make_result, tmp_path):
    result = make_result([(1.0, 2.0)] * 3, "uniform", made_of="probe:velocity-gap-1.25-3.75")
    page, reader = page_of(result, tmp_path)
    assert "never saw speeds from 1.25 to 3.75" in reader.text
    assert "test part of the probe" in reader.text
    assert "in distribution" not in reader.text
    region = page[page.index('id="region"') : page.index('id="laws"')]
    first = region[region.index("<svg") : region.index("</svg>")]
    assert first.count("var(--shade)") == 3  # two bands, and the legend's


def test_conflicts_of_attributes_have_no_region(make_result, tmp_path):
    result = make_result([(1.0, 2.0, 1.0)] * 4, "uniform", made_of="probe:conflict-color-size")
    scores = {
        who: [replace(one, kept={"color": k > 0, "size": True}) for k, one in enumerate(rows)]
        for who, rows in result.scores.items()
    }
    page, reader = page_of(replace(result, scores=scores), tmp_path)
    assert "var(--shade)" not in page[page.index("<body") :]
    assert "75 % keep the color" in reader.text.replace("\xa0", " ")


def test_combinatorial_worlds_are_told_by_template(make_result, tmp_path):
    result = make_result()
    absent = NotAvailable("LPIPS (alex)", "no weights", "sightline models get lpips-alex")
    nothing = {"values": {}, "abnormal": None, "reference": None, "violations": (), "init": ()}
    scores = {
        who: [
            replace(
                one,
                **nothing,
                bucket="held_out" if k % 2 else "in_template",
                template=str(10060 + k) if k % 2 else "10003",
                pictures={"psnr": 20.0 + k, "lpips": absent},
            )
            for k, one in enumerate(rows)
        ]
        for who, rows in result.scores.items()
        if who in ("model", "copy-last")
    }
    result = replace(result, scenario="combinatorial", scores=scores, fvd={"model": absent})
    page, reader = page_of(result, tmp_path)
    rows = re.findall(r"<tr><td>(\d{5})(.*?)</td><td class=\"quiet\">(\d+)</td>", page)
    assert [(name, int(count)) for name, _, count in rows] == [
        *(("10003", 3), ("10061", 1), ("10063", 1), ("10065", 1)),
    ]
    assert ["held out" in note for _, note, _ in rows] == [False, True, True, True]
    assert reader.text.count("run `sightline models get lpips-alex`") == 1
    assert "world units" not in reader.text
    assert "whether a video is abnormal is not judged" in reader.text


def test_a_distance_stands_beside_those_of_the_baselines_with_its_videos(make_result, tmp_path):
    few = {"model": Fvd(123.4, 40, 40, 32), "truth": Fvd(0.5, 40, 40, 32)}
    _, reader = page_of(replace(make_result(), fvd=few), tmp_path)
    assert "smaller is nearer 123 0.500 videos 40 40" in reader.text
    assert "Caution : FVD of 40 videos is biased upward" in reader.text
    many = {who: replace(one, videos=600) for who, one in few.items()}
    _, reader = page_of(replace(make_result(), fvd=many), tmp_path)
    assert "biased" not in reader.text


def test_what_a_probe_asks_for_is_told_of_everybody(make_result, tmp_path):
    result = make_result([(1.0, 1.5), (1.0, 2.0)] * 2, "uniform", made_of="probe:memorization")
    scores = {
        who: [
            replace(one, reading={"signed_speed": 2.5 - k, "turned_round": float(k > 2)})
            for k, one in enumerate(rows)
        ]
        for who, rows in result.scores.items()
    }
    page, reader = page_of(replace(result, scores=scores), tmp_path)
    probe = page[page.index('id="probe"') : page.index('id="buckets"')]
    assert probe.count("<td") > 4 * len(scores)
    assert TITLES["turned_round"][0] in reader.text
    assert "Generated against true speed" in reader.text
    assert "model, the other way" in reader.text


def test_facts_have_names_and_no_none():
    found = facts({"frame_time": 0.1, "video_fps": None, "other_thing": "x", "gone": None})
    assert found == [
        ("time between frames, s", "0.1"),
        ("frames per second of the videos", "as the data set"),
        ("other thing", "x"),
    ]


def test_a_strip_says_what_is_what(make_result, strips, tmp_path):
    _, reader = page_of(make_result(), tmp_path, strips)
    assert "first wrong" in reader.text
    assert "a body more than 0.2 units from its true place" in reader.text
    assert "radii 1.00 and 1.00, speeds 0.00 and 2.00" in reader.text
    assert "penetration: 1.50 units at frame 12, red ball (tolerance 0.1)" in reader.text
