"""Tables and panels of a report say what the figures say."""

import pytest

from sightline.physics.scoring.figures import law_bars, region_plots
from sightline.physics.scoring.summary import (
    applicable_laws,
    main_buckets,
    summarize,
    worth_showing,
)
from sightline.physics.scoring.tables import bucket_blocks, law_rows, most_violated, tile


@pytest.fixture
def summaries(make_result):
    return {who: summarize(scores) for who, scores in make_result().scores.items()}


def test_everybody_stands_in_every_block(summaries):
    blocks = bucket_blocks(summaries, worth_showing(summaries["model"]))
    titles = [block.title for block in blocks]
    assert titles[:3] == [
        *("velocity error, after the impact", "velocity error before impact", "called abnormal"),
    ]
    for block in blocks[:3]:
        assert [who for who, _ in block.rows] == list(summaries)
    assert blocks[0].of("model", 1).value.strip("\u2007") == "0.15"
    assert blocks[0].of("model", 1).note == "±0.10"
    assert blocks[0].of("nobody").value == "–"


def test_every_law_stands_beside_the_baselines_in_and_out(summaries):
    own = summaries["model"]
    rows = {row.name: row for row in law_rows(summaries, main_buckets(own), applicable_laws(own))}
    assert [len(cells) for cells in rows["position"].cells] == [5, 5]
    assert rows["gravity"].cells[0][0] == "0"
    assert rows["penetration"].violated == ["50\xa0%", "50\xa0%"]
    assert rows["restitution"].unit == ""


def test_a_tile_sets_the_figure_beside_floor_and_memory(summaries):
    found = tile(summaries, "out", "out of distribution")
    assert found.value == "0.45 ±0.13"
    assert found.lines[0].startswith("100 × the floor")
    assert found.lines[1].startswith("0.33 × the nearest case")
    assert found.lines[-1] == "4 videos"


def test_what_is_violated_most_is_named(summaries):
    assert most_violated(summaries["model"], "in") == ["penetration (50\xa0%)"]
    assert most_violated(summaries["truth"], "in") == []


def test_laws_that_are_zero_for_all_have_no_panel(summaries):
    own = summaries["model"]
    panels = law_bars(summaries, main_buckets(own), applicable_laws(own), "collision")
    titles = [panel.title for panel in panels]
    assert "color" not in titles
    assert {"velocity error", "gravity", "restitution", "penetration"} <= set(titles)
    assert all("violated in" in panel.note for panel in panels)


def test_both_parameters_of_a_ball_are_plotted_with_their_units(make_result):
    result = make_result(inits=[(1.0, 2.0), (0.3, 5.0)], scenario="parabola")
    speed, radius, plane = region_plots(result)
    assert "speed, units/s" in speed.plot
    assert "radius, units" in radius.plot
    assert "radius, units" in plane.plot
    assert "speed, units/s" in plane.plot


def test_two_balls_have_planes_of_speeds_and_of_radii(make_result):
    titles = [panel.title for panel in region_plots(make_result())]
    assert titles == [
        "Error against speed of ball 1",
        "Error against radius of ball 1",
        "Error by speed of ball 1 and speed of ball 2",
        "Error by radius of ball 1 and radius of ball 2",
    ]


def test_other_worlds_have_no_such_plots(make_result):
    assert region_plots(make_result(inits=[])) == []
