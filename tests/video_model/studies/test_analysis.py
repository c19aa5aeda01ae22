"""How studies are read: counts, pulls and slopes by hand; every reading on figures made up for it."""

import re

import numpy as np
import pytest

from sightline.physics.datasets.spec import draw
from sightline.video_model.scoring import spec_of
from sightline.video_model.studies.analysis import (
    analyze_study,
    centered,
    conflict_counts,
    film_strips,
    nearest_edges,
    pulled_share,
    slope_of,
)
from sightline.video_model.studies.catalog import STUDIES


def test_which_attribute_is_kept():
    first, second = {"color": True, "shape": False}, {"color": False, "shape": True}
    both, neither = {"color": True, "shape": True}, {"color": False, "shape": False}
    kept = [first, first, second, both, neither, neither, {}]
    assert conflict_counts(kept, ("color", "shape")) == (2, 1, 1, 2, 1)


def test_a_pull_goes_to_the_nearest_trained_speed():
    bands = [(1.0, 1.25), (3.75, 4.0)]
    true = np.array([1.5, 2.0, 3.0, 3.5])
    edges = nearest_edges(true, bands)
    assert pulled_share(true, np.array([1.2, 1.9, 3.2, 3.6]), edges) == 1
    assert pulled_share(true, np.array([1.6, 2.1, 2.9, 3.4]), edges) == 0
    assert pulled_share(true, np.array([1.4, 2.1, 3.1, 3.4]), edges) == 0.5


def made_up(study, budget, speeds=lambda v: v, error=lambda trial, words: 0.1):
    """Scores of a model that shows some speed, and keeps the first attribute of a conflict."""
    scores = {}
    for trial in study.budgets[budget].trials:
        tests = {}
        for words, word in trial.tests:
            if word.startswith("combinatorial"):
                tests[words] = {
                    "psnr": 25.0,
                    "ssim": 0.9,
                    "lpips": {"not_available": "no net", "metric": "L", "remedy": "x"},
                }
                continue
            init = draw(spec_of(word, 12, 32, 1), 0, 12).init
            kept = {"color": True, "shape": False, "velocity": False, "size": False}
            tests[words] = {
                "velocity": error(trial, words),
                "mean_velocity": 0.05,
                "position": 0.1,
                "videos": 12,
                "init": init.tolist(),
                "errors": [0.1] * 11 + [None],
                "speeds": [*speeds(init[:11, 1]).tolist(), None],
                "kept": [kept] * 12,
                "coded": [dict.fromkeys(kept, True)] * 12,
            }
        films = {words: "<svg></svg>" for words, _ in trial.tests}
        scores[trial.name] = {
            "tests": tests,
            "films": films,
            "parameters": 1000,
            "seconds": 1.0,
            "loss": 0.5,
        }
    return scores


@pytest.mark.parametrize("budget", ["cpu", "paper"])
@pytest.mark.parametrize("name", STUDIES)
def test_every_study_can_be_read(name, budget):
    study = STUDIES[name]
    cost, scores = study.budgets[budget], made_up(STUDIES[name], budget)
    outcome = analyze_study(study, cost, scores)
    assert outcome.sections[0].rows
    assert len(outcome.lines) >= len(cost.trials)
    assert len(film_strips(cost, scores)) == sum(len(trial.tests) for trial in cost.trials)
    for section in outcome.sections:
        assert all(plot.startswith("<svg") for _, plot in section.plots)


def test_a_leap_from_one_edge_to_the_next_is_no_slope():
    true = np.array([1.5, 1.7, 3.3, 3.5])
    made = np.array([1.0, 1.1, 4.0, 4.1])
    edges = nearest_edges(true, [(0.5, 1.0), (4.0, 5.0)])
    assert edges.tolist() == [1, 1, 4, 4]
    assert slope_of(true, made) > 1.4
    assert slope_of(centered(true, edges), centered(made, edges)) == pytest.approx(0.5)
    assert np.isnan(slope_of(true[:1], made[:1]))


def test_slopes_and_turns():
    study = STUDIES["memorization"]
    outcome = analyze_study(study, study.budgets["cpu"], made_up(study, "cpu", lambda v: 2.5 - v))
    assert outcome.sections[1].rows[0][1] == "-1.00"
    outcome = analyze_study(study, study.budgets["cpu"], made_up(study, "cpu", lambda v: -v))
    assert outcome.sections[1].rows[0][4] == "11"


def test_who_wins_and_what_scale_brings():
    study = STUDIES["conflicts"]
    outcome = analyze_study(study, study.budgets["cpu"], made_up(study, "cpu"))
    assert any(line.startswith("conflict color square: color wins") for line in outcome.lines)
    assert any(line.endswith("the codec alone keeps both in 12 of 12") for line in outcome.lines)
    study = STUDIES["scaling"]
    outcome = analyze_study(
        study,
        study.budgets["cpu"],
        made_up(study, "cpu", error=lambda t, w: 1.0 if w != "in range" else 100 / t.videos),
    )
    (line,) = [line for line in outcome.lines if line.startswith("uniform, from nano")]
    assert "in range 1.000 → 0.010 (100.0× less)" in line
    assert "at the end out of range is 100.0× in range" in line


def test_where_nothing_can_be_measured_no_figure_is_made_up():
    study = STUDIES["velocity-gap"]
    scores = made_up(study, "cpu", lambda v: np.full(len(v), np.nan))
    for score in scores.values():
        score["tests"]["not seen"]["speeds"] = [None] * 12
    outcome = analyze_study(study, study.budgets["cpu"], scores)
    assert outcome.sections[1].rows[0][1:] == ["–", "–", "–", "–", "0"]


def test_curves_have_colors_of_the_stylesheet():
    from importlib import resources

    look = resources.files("sightline.reports").joinpath("templates/look.css").read_text()
    for name in ("scaling", "memorization"):
        study = STUDIES[name]
        outcome = analyze_study(study, study.budgets["cpu"], made_up(study, "cpu"))
        plots = "".join(plot for section in outcome.sections for _, plot in section.plots)
        colors = set(re.findall(r"var\(--([a-z0-9]+)\)", plots))
        assert "truth" in colors
        for color in colors:
            assert f"--{color}:" in look, color
