"""`report.html`: the score for people, one file that opens anywhere.

At a glance; everybody by bucket; error against speed and radius with the training region shaded;
every law beside the yardsticks; the worst cases as film strips with what the parser saw; and what was
compared with what. Layout and style lie in `templates/`; this file only fills them in.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from sightline.files.atomic import write_bytes
from sightline.physics.pictures.fvd import Fvd
from sightline.physics.pictures.values import NotAvailable
from sightline.physics.probes.describe import describe
from sightline.physics.probes.parts import Probe
from sightline.physics.score.cases import case_words
from sightline.physics.score.distance import few_videos
from sightline.physics.score.figures import Panel, law_bars, picture_bars, region_of, region_plots
from sightline.physics.score.probe_figures import margin_rows, reading_rows, speed_panels
from sightline.physics.score.run import Result
from sightline.physics.score.strips import draw
from sightline.physics.score.summary import (
    ORDER,
    Figures,
    main_buckets,
    summarise,
    told_laws,
    worth_showing,
)
from sightline.physics.score.tables import (
    bucket_blocks,
    law_rows,
    laws_by_bucket,
    most_violated,
    template_rows,
    tile,
)
from sightline.physics.score.words import (
    SCENARIO_WORDS,
    bucket_name,
    number,
    probe_in,
    yardstick_words,
)
from sightline.physics.score.work import MODEL
from sightline.physics.score.worst import Strip
from sightline.physics.score.wrong import OFF
from sightline.report.plots import MOST_POINTS
from sightline.report.templating import environment

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


def write_page(path: Path, result: Result, strips: list[Strip], title: str) -> None:
    """Write the page.

    Args:
        path: of the `.html` file.
        result: the score.
        strips: of bad cases.
        title: such as the name of the model.
    """
    probe = probe_in(result.provenance)
    text = (
        environment("sightline.physics.score")
        .get_template("score.html")
        .render(
            title=title,
            origin=result.provenance,
            scenario=SCENARIO_WORDS.get(result.scenario, result.scenario),
            count=len(result.scores[MODEL]),
            whos=list(result.scores),
            yardsticks={
                who: yardstick_words(who, result.scenario) for who in result.scores if who != MODEL
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


def _figures(result: Result, probe: Probe | None) -> dict[str, Any]:
    """Return everything that is computed from the scores; little where nothing was scored."""
    summaries = {who: summarise(scores) for who, scores in result.scores.items()}
    own = summaries[MODEL]
    buckets = worth_showing(own)
    if not buckets:
        return {"tiles": [], "plots": [], "law_rows": [], "templates": []}
    main, laws = main_buckets(own), told_laws(own)
    templates = [name for name in own if name not in ORDER]
    return {
        "tiles": [tile(summaries, bucket, bucket_name(bucket, probe)) for bucket in main],
        "violated": [(bucket_name(b, probe), most_violated(own, b)) for b in main] if laws else [],
        "buckets": [(bucket_name(b, probe, short=True), bucket_name(b, probe)) for b in buckets],
        "counts": [own[bucket].count for bucket in buckets],
        "blocks": bucket_blocks(summaries, buckets),
        "main": [bucket_name(bucket, probe) for bucket in main],
        "plots": _marked(region_plots(result)),
        "shaded": region_of(result) is not None,
        "thinned": MOST_POINTS if len(result.scores[MODEL]) > MOST_POINTS else None,
        "law_rows": law_rows(summaries, main, laws),
        "law_table": laws_by_bucket(own, buckets, laws),
        "bars": _marked(law_bars(summaries, main, laws, result.scenario)),
        "picture_bars": _marked(picture_bars(summaries, main)),
        "metrics": list(own["all"].pictures),
        "templates": template_rows(summaries, templates),
        "held_out": {
            score.template for score in result.scores[MODEL] if score.bucket == "held_out"
        },
        "readings": reading_rows(summaries),
        "margins": margin_rows(result),
        "speeds": _marked(speed_panels(result, probe)),
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


def _strips(strips: list[Strip], result: Result, probe: Probe | None) -> list[dict[str, Any]]:
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


def _marked(panels: list[Panel]) -> list[tuple[Panel, Markup]]:
    """Set plots beside their panels as markup: they escape their own words."""
    return [(panel, Markup(panel.plot)) for panel in panels]


def _fvd(distances: Mapping[str, Fvd | NotAvailable]) -> list[tuple[str, str, str]]:
    """Return everybody's distance, and the number of videos that it stands on."""
    return [
        (who, "not available", "")
        if isinstance(one, NotAvailable)
        else (who, number(one.value), f"{one.videos:,}")
        for who, one in distances.items()
    ]


def _unavailable(own: Mapping[str, Figures], result: Result) -> list[str]:
    found = [one for one in own["all"].pictures.values() if isinstance(one, NotAvailable)]
    found += [one for one in (result.fvd or {}).values() if isinstance(one, NotAvailable)]
    return list(dict.fromkeys(str(one) for one in found))
