"""The report as one HTML file.

It has a summary, all predictors by bucket, the error against speed and radius with the training region
shaded, every law beside the baselines, film strips of the worst videos, and the provenance. Layout and
style are in `templates/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from sightline.io.atomic import write_bytes
from sightline.physics.probes.parts import Probe, describe
from sightline.physics.scoring.figures import (
    PlotPanel,
    law_bars,
    margin_rows,
    picture_bars,
    reading_rows,
    region_of,
    region_plots,
    speed_panels,
)
from sightline.physics.scoring.film_strips import OFF, WorstCase, draw
from sightline.physics.scoring.labels import (
    SCENARIO_WORDS,
    baseline_words,
    bucket_name,
    case_words,
    number,
    probe_in,
)
from sightline.physics.scoring.published import paper_tables
from sightline.physics.scoring.report import few_videos
from sightline.physics.scoring.run import MODEL, PhysicsReport
from sightline.physics.scoring.summary import (
    ORDER,
    BucketSummary,
    applicable_laws,
    main_buckets,
    summarize,
    worth_showing,
)
from sightline.physics.scoring.tables import (
    bucket_blocks,
    law_rows,
    laws_by_bucket,
    most_violated,
    template_rows,
    tile,
)
from sightline.physics.video_metrics.frame_metrics import NotAvailable
from sightline.physics.video_metrics.fvd import Fvd
from sightline.reports.figures import MAX_POINTS, themed
from sightline.reports.templating import environment

#: What the entries of the provenance are called.
_FACTS = {
    "sightline": "Sightline version",
    "data_set": "data set",
    "data_set_sha256": "SHA-256 of the data set",
    "made_of": "made of",
    "part": "part of the probe",
    "samples": "samples in the data set",
    "videos": "videos scored",
    "matched_by": "videos matched by",
    "condition_frames": "frames given to the model",
    "frames": "frames of a video",
    "frame_time": "time between frames, s",
    "video_fps": "frames per second of the videos",
    "ranges": "training ranges",
    "nearest_case_from": "nearest case taken from",
}


def write_page(path: Path, result: PhysicsReport, strips: list[WorstCase], title: str) -> None:
    """Write the page.

    Args:
        path: of the `.html` file.
        result: the score.
        strips: of bad cases.
        title: such as the name of the model.
    """
    probe = probe_in(result.provenance)
    text = (
        environment("sightline.physics.scoring")
        .get_template("score.html")
        .render(
            title=title,
            origin=result.provenance,
            scenario=SCENARIO_WORDS.get(result.scenario, result.scenario),
            count=len(result.scores[MODEL]),
            whos=list(result.scores),
            baselines={
                who: baseline_words(who, result.scenario) for who in result.scores if who != MODEL
            },
            tolerance=OFF,
            probe=_probe(probe),
            strips=_strips(strips, result, probe),
            facts=facts(result.provenance),
            left_out=result.left_out,
            missing=result.missing,
            **_figures(result, probe),
        )
    )
    # A file's name may hold bytes that are no text; the page shows them as `\udce9`.
    write_bytes(path, text.encode(errors="backslashreplace"))


def _figures(result: PhysicsReport, probe: Probe | None) -> dict[str, Any]:
    """Return everything that is computed from the scores; little where nothing was scored."""
    summaries = {who: summarize(scores) for who, scores in result.scores.items()}
    own = summaries[MODEL]
    buckets = worth_showing(own)
    if not buckets:
        return {"tiles": [], "plots": [], "law_rows": [], "templates": []}
    main, laws = main_buckets(own), applicable_laws(own)
    templates = [name for name in own if name not in ORDER]
    return {
        "tiles": [tile(summaries, bucket, bucket_name(bucket, probe)) for bucket in main],
        "violated": [(bucket_name(b, probe), most_violated(own, b)) for b in main] if laws else [],
        "buckets": [(bucket_name(b, probe, short=True), bucket_name(b, probe)) for b in buckets],
        "counts": [own[bucket].count for bucket in buckets],
        "blocks": bucket_blocks(summaries, buckets),
        "main": [bucket_name(bucket, probe) for bucket in main],
        "plots": _marked("region", region_plots(result)),
        "shaded": region_of(result) is not None,
        "thinned": MAX_POINTS if len(result.scores[MODEL]) > MAX_POINTS else None,
        "paper": paper_tables(
            summaries, result.scenario, str(result.provenance.get("made_of") or "")
        ),
        "law_rows": law_rows(summaries, main, laws),
        "law_table": laws_by_bucket(own, buckets, laws),
        "bars": _marked("laws", law_bars(summaries, main, laws, result.scenario)),
        "picture_bars": _marked("pictures", picture_bars(summaries, main)),
        "metrics": list(own["all"].pictures),
        "templates": template_rows(summaries, templates),
        "held_out": {
            score.template for score in result.scores[MODEL] if score.bucket == "held_out"
        },
        "readings": reading_rows(summaries),
        "margins": margin_rows(result),
        "speeds": _marked("speeds", speed_panels(result, probe)),
        "fvd": _fvd(result.fvd or {}),
        "few_videos": few_videos(result.fvd),
        "unavailable": _unavailable(own, result),
    }


def facts(provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the provenance as people read it: names, and values that are there."""
    rows = []
    for key, value in provenance.items():
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        if key == "video_fps" and value is None:
            shown = "as the data set"
        elif value in (None, ""):
            continue
        rows.append((_FACTS.get(key, key.replace("_", " ")), shown))
    return rows


def _probe(probe: Probe | None) -> dict[str, str] | None:
    if probe is None:
        return None
    return {
        "name": probe.name,
        "question": probe.question,
        "train": describe(probe.train),
        "test": describe(probe.test),
        "figure": probe.reading.figure,
        "found": probe.reading.found,
    }


def _strips(
    strips: list[WorstCase], result: PhysicsReport, probe: Probe | None
) -> list[dict[str, Any]]:
    given = int(result.provenance["condition_frames"])
    return [
        {
            "score": one.score,
            "bucket": bucket_name(one.score.bucket, probe),
            "drawing": Markup(draw(one.film, given, f"film{k}", f"film strip of {one.score.name}")),
            **case_words(one.score, one.film.bodies, result.scenario),
        }
        for k, one in enumerate(strips)
    ]


def _marked(section: str, panels: list[PlotPanel]) -> list[tuple[PlotPanel, Markup]]:
    """Return the panels with their plots as markup in the colors of the page."""
    return [
        (panel, Markup(themed(panel.plot, f"{section}{number}-")))
        for number, panel in enumerate(panels)
    ]


def _fvd(distances: Mapping[str, Fvd | NotAvailable]) -> list[tuple[str, str, str]]:
    """Return the FVD of all predictors, and the number of videos."""
    return [
        (who, "not available", "")
        if isinstance(one, NotAvailable)
        else (who, number(one.value), f"{one.videos:,}")
        for who, one in distances.items()
    ]


def _unavailable(own: Mapping[str, BucketSummary], result: PhysicsReport) -> list[str]:
    found = [one for one in own["all"].pictures.values() if isinstance(one, NotAvailable)]
    found += [one for one in (result.fvd or {}).values() if isinstance(one, NotAvailable)]
    return list(dict.fromkeys(str(one) for one in found))
