"""The row as in the paper's tables stands beside the published values."""

from sightline.physics.scoring.published import PUBLISHED, paper_tables, published_for
from sightline.physics.scoring.summary import summarize


def _summaries(result):
    return {who: summarize(scores) for who, scores in result.scores.items()}


def test_own_rows_are_in_the_papers_definition_and_published_ones_follow(make_result):
    (table,) = paper_tables(_summaries(make_result()), "collision")
    assert table.title == "error of the mean velocity along x, units/s"
    rows = {name: (inside, outside, note) for name, inside, outside, note in table.rows}
    assert rows["model"] == ("0.150", "0.150", "2 and 4 videos")
    assert rows["paper: true videos"] == ("0.0117", "–", "Table 3")
    names = [row[0] for row in table.rows]
    assert names[0] == "model"
    assert names[-1] == "paper: autoencoder"


def test_parabolas_are_compared_by_place_as_in_table_3(make_result):
    result = make_result(inits=[(1.0, 2.0)] * 3, scenario="parabola")
    (table,) = paper_tables(_summaries(result), "parabola")
    assert table.title == "mean of |Δx| and |Δy|, units"


def test_combinatorial_worlds_have_table_2():
    metrics = {row.metric for row in PUBLISHED["combinatorial"]}
    assert metrics == {"fvd", "ssim", "psnr", "lpips", "abnormal"}
    assert {row.outside for row in PUBLISHED["combinatorial"] if row.metric == "abnormal"} == {
        *(0.67, 0.18, 0.10, 0.24)
    }


def test_probes_have_no_published_table(make_result):
    assert published_for("uniform", "probe:speed-gap") == ()
    assert paper_tables(_summaries(make_result()), "collision", "probe:collision-gap") == []
