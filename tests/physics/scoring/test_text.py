"""The summary fits one screen, is aligned, and says what it is about."""

from dataclasses import replace

import pytest

from sightline.physics.scoring.text import LINES, NAMED, WIDTH, left_out_lines, summary_text
from sightline.physics.video_metrics.frame_metrics import NotAvailable
from sightline.physics.video_metrics.fvd import Fvd

LONG = "a model with a name\nof two lines, " + "x" * 300


def lines_of(result):
    lines = summary_text(result).split("\n")
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) <= LINES
    assert "-0.0" not in "".join(lines)
    assert "None" not in "".join(lines)
    return lines


def test_everything_at_once_fits_the_screen(make_result):
    left_out = [(LONG, "is broken")] * 50
    result = make_result(left_out=left_out, missing=3, videos=LONG, data_set=LONG, video_fps=24.0)
    lines = lines_of(result)
    assert left_out_lines(result) == [f"{' '.join(LONG.split())}: left out: is broken"] * NAMED
    more = left_out_lines(make_result(left_out=[*left_out, ("x", "is broken")]))
    assert more[-1] == "and 1 more, named in scores.json"
    assert any("3 samples without a video; 50 videos left out" in line for line in lines)
    assert any("24 frames a second" in line for line in lines)


@pytest.mark.parametrize(
    ("inits", "scenario", "columns"),
    [
        ([(1.0, 2.0)], "uniform", ["in"]),
        ([(0.3, 2.0), (0.4, 2.0)], "parabola", ["out:", "r"]),
        ([(1.0, 2.0), (0.3, 2.0)], "uniform", ["in", "out:", "r"]),
    ],
)
def test_no_column_stands_twice(make_result, inits, scenario, columns):
    lines = lines_of(make_result(inits=inits, scenario=scenario))
    assert lines[1].split() == ["velocity_steps,", "units/s", *columns]


def test_figures_stand_beside_the_baselines(make_result):
    lines = lines_of(make_result())
    named = {line.split()[0]: line.split() for line in lines if line}
    assert named["videos"][1:] == ["2", "4", "1", "1", "1", "1"]
    assert named["model"][1] == "0.15"
    assert named["truth"][3:5] == ["0.0015", "0.0045"]
    assert named["velocity_before,"][2:6] == ["0.010", "0", "0.030", "0"]
    assert named["abnormal,"][2:] == ["50", "0", "0", "50", "0", "0"]


def test_points_of_a_column_lie_below_each_other(make_result):
    lines = lines_of(make_result())[3:8]
    assert len({line[24:33].index(".") for line in lines}) == 1


def test_laws_of_other_worlds_are_left_out(make_result):
    text = "\n".join(lines_of(make_result(inits=[(1.0, 2.0)], scenario="uniform")))
    assert "restitution" not in text
    assert "penetration" not in text


def test_a_probe_is_named_and_its_videos_are_not_called_in_distribution(make_result):
    result = make_result([(1.0, 2.0)], "uniform", made_of="probe:memorization")
    lines = lines_of(result)
    assert lines[1].split()[-1] == "probe"
    assert any("probe memorization" in line for line in lines)


def test_kept_attributes_are_told_of_everybody(make_result):
    result = make_result(inits=[(1.0, 2.0)] * 4, scenario="uniform")
    scores = {
        who: [replace(one, kept={"color": who != "model", "size": True}) for one in rows]
        for who, rows in result.scores.items()
    }
    named = {line.split(",")[0]: line.split() for line in lines_of(replace(result, scores=scores))}
    assert named["color kept"][3:] == ["0", "100", "100", "100", "100"]


def test_what_a_probe_asks_for_is_told_of_everybody(make_result):
    result = make_result(inits=[(1.0, 2.0)] * 4, scenario="uniform")
    scores = {
        who: [
            replace(one, reading={"all_right": float(who != "model"), "signed_speed": 2.5})
            for one in rows
        ]
        for who, rows in result.scores.items()
    }
    named = {line.split(",")[0]: line.split() for line in lines_of(replace(result, scores=scores))}
    assert named["all events right"][4:] == ["0", "100", "100", "100", "100"]
    assert named["signed speed"][3:] == ["2.50"] * 5


def test_picture_metrics_stand_in_the_columns_of_everybody(make_result):
    result = make_result()
    scores = {
        who: [replace(one, pictures={"psnr": 20.0 + len(who), "ssim": 0.9}) for one in rows]
        for who, rows in result.scores.items()
    }
    named = {line[:24].strip(): line.split() for line in lines_of(replace(result, scores=scores))}
    assert named["psnr, dB"][2:] == ["25", "25", "32"] * 2


def test_distances_are_told_of_everybody_with_their_videos_and_a_caution(make_result):
    fvd = {who: Fvd(10.0 * k, 40, 40, 32) for k, who in enumerate(make_result().scores)}
    lines = lines_of(replace(make_result(), fvd=fvd))
    told = "fvd of 40 videos: model 0, truth 10, copy 20, constant 30, nearest 40"
    assert told in lines
    assert sum("biased upward" in line for line in lines) == 1
    enough = {who: replace(one, videos=500) for who, one in fvd.items()}
    assert "biased" not in summary_text(replace(make_result(), fvd=enough))


def test_laws_that_say_less_are_named_whole_or_not_at_all(make_result):
    result = make_result()
    laws = list(result.scores["model"][0].values)
    first = replace(result.scores["model"][0], values=dict.fromkeys(laws))
    scores = result.scores | {"model": [first, *result.scores["model"][1:]]}
    (line,) = (one for one in lines_of(replace(result, scores=scores)) if one.startswith("of 6"))
    assert "…" not in line
    words, _, rest = line.removeprefix("of 6 videos: ").partition(" and ")
    assert {word.rpartition(" ")[0] for word in words.split(", ")} <= set(laws)
    assert rest.endswith(" more, in scores.json")


def test_a_long_name_does_not_cost_the_words_beside_it(make_result):
    (line,) = (one for one in lines_of(make_result(data_set="d" * 200)) if one.startswith("data"))
    assert line.endswith("), by name; nearest case: 3M grid (code)")


def test_what_is_not_available_is_told_once(make_result):
    absent = NotAvailable("FVD", "no network", "sightline models get i3d-kinetics400")
    text = summary_text(replace(make_result(), fvd=dict.fromkeys(("model", "truth"), absent)))
    assert text.count("sightline models get i3d-kinetics400") == 1
    assert "n/a" in text


def test_pictures_alone_make_a_summary(make_result):
    result = make_result()
    scores = {
        who: [
            replace(
                *(one,),
                values={},
                bucket="in_template",
                template="10003",
                abnormal=None,
                reference=None,
                pictures={"psnr": 25.0, "ssim": 0.9},
            )
            for one in rows
        ]
        for who, rows in result.scores.items()
        if who in ("model", "copy-last")
    }
    lines = lines_of(replace(result, scenario="combinatorial", scores=scores))
    assert lines[1].split()[-1] == "trained"
    assert any(line.startswith("  psnr, dB, model") and "25" in line for line in lines)


def test_nothing_scored_is_told(make_result):
    assert "no video was scored" in summary_text(make_result(inits=[]))
