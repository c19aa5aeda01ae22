"""Read studies of speeds that were not trained: along a line, or in the plane of two."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from sightline.physics.probes import probe_of
from sightline.physics.probes.parts import Cells, Plane
from sightline.report.plots import Area, Curve, Points, plane, scatter
from sightline.video_model.page import Section
from sightline.video_model.study.outcome import UNIT, Outcome, Scores, error_table, floats_of
from sightline.video_model.study.parts import Budget
from sightline.video_model.study.pull import centred, nearest_edges, pulled_share, slope_of


def read_plane(cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Draw errors over the plane of both speeds."""
    outcome = error_table(cost, scores)
    plots = []
    for trial in cost.trials:
        probe = probe_of(trial.name)
        found = scores[trial.name]["tests"]["not seen"]
        init, errors = np.array(found["init"]), floats_of(found["errors"])
        assert isinstance(probe.train, Plane)
        area = Area("trained", rectangles=probe.train.inside, holes=probe.train.outside)
        points = Points("a video", init[:, 2], init[:, 3], np.zeros(len(init), bool))
        drawn = plane(
            *(points, errors),
            bounds=(0.2, 0.5, 1.0),
            unit=UNIT,
            x_label="first speed, units/s",
            y_label="second speed, units/s",
            area=area,
        )
        plots.append((trial.words, Markup(drawn)))
    outcome.sections.append(Section("Over both speeds", plots=plots))
    return outcome


def read_speeds(cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Compare generated with true speed, and give the slope where nothing was trained."""
    outcome = error_table(cost, scores)
    rows, plots = [], []
    header = ["", "slope", "slope by edge", "nearer to the trained edge", "turned round", "videos"]
    for trial in cost.trials:
        probe = probe_of(trial.name)
        found = scores[trial.name]["tests"]["not seen"]
        true, made = np.array(found["init"])[:, 1], floats_of(found["speeds"])
        good = np.isfinite(made)
        assert isinstance(probe.train, Cells)
        bands = [cell.speed for cell in probe.train.cells]
        edges = nearest_edges(true[good], bands)
        slope = slope_of(true[good], made[good])
        within = slope_of(centred(true[good], edges), centred(made[good], edges))
        pulled = pulled_share(true[good], made[good], edges)
        back = int((made[good] < 0).sum())
        count = int(good.sum())
        told = [f"{slope:.2f}", f"{within:.2f}", f"{pulled:.0%}", str(back)]
        shares = told if count > 1 else ["–"] * 4
        rows.append([trial.words, *shares, str(count)])
        outcome.lines.append(
            f"{trial.words}: slope of generated against true speed {shares[0]}, {shares[1]} among "
            f"those nearest to the same trained speed; {shares[2]} of {count} videos wrong towards "
            f"it, {shares[3]} turned round"
        )
        spans = sorted(set(bands))
        right = np.linspace(true.min(), true.max(), 33)  # a curve, for the axis is logarithmic
        drawn = scatter(
            Points("a video", true, np.abs(made), made < 0, "turned round"),
            [Curve("right", right, right, "curve truth")],
            x_label="true speed, units/s",
            y_label="generated speed, units/s",
            area=Area("trained", spans=spans),
        )
        plots.append((trial.words, Markup(drawn)))
    words = (
        "Slope 1: the speed that was shown is kept; slope 0: it plays no part. By edge: among videos "
        "nearest to the same trained speed, so that a leap from one to the next does not count. Nearer "
        "to the trained edge: share of videos whose error points to the nearest speed that was trained."
    )
    outcome.sections.append(Section("Generated against true speed", [words], header, rows, plots))
    return outcome
