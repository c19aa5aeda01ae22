"""Published figures of PhyWorld (arXiv 2411.02385) beside which a model's figures may be set.

Each is in the definition of its table: `table_error` of `laws.reference_evaluator`, at 256 px; FVD,
SSIM, PSNR, LPIPS and the share of videos that ten people call abnormal for combinatorial worlds.
Figures that the paper gives only as points of a plot are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sightline.physics.datasets.spec import COMBINATORIAL, PROBE
from sightline.physics.scoring.labels import number, percent
from sightline.physics.scoring.summary import BucketSummary
from sightline.physics.video_metrics.frame_metrics import NotAvailable

#: Unit of `table_error`, where it is not units/s.
_UNITS = {"parabola": "units"}

#: Buckets of the two columns of the published tables.
_COLUMNS = {COMBINATORIAL: ("in_template", "held_out")}


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One published row.

    Attributes:
        who: model or reconstruction, and its training set.
        inside: value in distribution, or of the templates of the training set.
        outside: value out of distribution, or of held-out templates; None: not given.
        source: table or section.
        metric: `table_error`, or a picture metric of combinatorial worlds.
    """

    who: str
    inside: float
    outside: float | None
    source: str
    metric: str = "table_error"


def _combinatorial() -> tuple[PublishedFigure, ...]:
    """Return Table 2, in templates of the training set and in held-out ones."""
    metrics = ("fvd", "ssim", "psnr", "lpips", "abnormal")
    rows = {
        "DiT-XL, 6 templates": ((18.2, 0.973, 32.8, 0.028, 0.03), (22.1, 0.943, 25.5, 0.082, 0.67)),
        "DiT-XL, 30 templates": (
            (19.5, 0.973, 32.7, 0.028, 0.03),
            (19.7, 0.950, 27.1, 0.065, 0.18),
        ),
        "DiT-XL, 60 templates": (
            (17.6, 0.972, 32.4, 0.030, 0.02),
            (18.7, 0.951, 27.3, 0.062, 0.10),
        ),
        "DiT-B, 60 templates": ((18.4, 0.967, 30.9, 0.035, 0.03), (21.4, 0.949, 27.0, 0.066, 0.24)),
    }
    return tuple(
        PublishedFigure(who, inside[k], outside[k], "Table 2", metric)
        for k, metric in enumerate(metrics)
        for who, (inside, outside) in rows.items()
    )


#: By scenario. Uniform motion has no table of model sizes; those figures are of the text of §3.2.
PUBLISHED: dict[str, tuple[PublishedFigure, ...]] = {
    "uniform": (
        PublishedFigure("true videos", 0.0099, 0.0104, "Tables 3 and 4"),
        PublishedFigure("autoencoder", 0.0105, None, "Table 3"),
        PublishedFigure("SVD's autoencoder", 0.0103, 0.0107, "Table 4"),
        PublishedFigure("DiT-B", 0.0138, 0.3583, "Table 4"),
        PublishedFigure("DiT-L, 3M", 0.012, 0.427, "§3.2"),
        PublishedFigure("SVD, fine-tuned", 0.0505, 0.9081, "Table 4"),
    ),
    "collision": (
        PublishedFigure("true videos", 0.0117, None, "Table 3"),
        PublishedFigure("autoencoder", 0.0131, None, "Table 3"),
    ),
    "parabola": (
        PublishedFigure("true videos", 0.0210, None, "Table 3"),
        PublishedFigure("autoencoder", 0.0212, None, "Table 3"),
    ),
    COMBINATORIAL: _combinatorial(),
}


def published_for(scenario: str, made_of: str = "") -> tuple[PublishedFigure, ...]:
    """Return the published rows of a scenario; none for probes.

    Args:
        scenario: of the data set.
        made_of: what the data set was made of, such as `probe:NAME`; may be empty.

    >>> [row.who for row in published_for("collision")]
    ['true videos', 'autoencoder']
    >>> published_for("collision", "probe:collision-gap")
    ()
    """
    return () if made_of.startswith(PROBE) else PUBLISHED.get(scenario, ())


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One metric of this score in the paper's definition, with the published rows below it.

    Attributes:
        title: what the figure is, with its unit.
        rows: name, value in distribution, value out of it, and source or count of videos.
    """

    title: str
    rows: list[tuple[str, str, str, str]]


def paper_tables(
    summaries: Mapping[str, Mapping[str, BucketSummary]], scenario: str, made_of: str = ""
) -> list[PaperTable]:
    """Return the figures of a score as in the paper's tables, beside the published ones.

    Args:
        summaries: by predictor, then by bucket.
        scenario: of the data set.
        made_of: what the data set was made of.
    """
    found = published_for(scenario, made_of)
    tables = []
    for metric in dict.fromkeys(row.metric for row in found):
        own = [
            (who, *cells, _count(table, scenario))
            for who, table in summaries.items()
            if (cells := _cells(table, metric, scenario)) is not None
        ]
        if own:
            rows = [
                (
                    f"paper: {one.who}",
                    _form(one.inside, metric),
                    _form(one.outside, metric),
                    one.source,
                )
                for one in found
                if one.metric == metric
            ]
            tables.append(PaperTable(_title(metric, scenario), own + rows))
    return tables


def _title(metric: str, scenario: str) -> str:
    if metric != "table_error":
        return metric.upper()
    unit = _UNITS.get(scenario, "units/s")
    what = (
        "mean of |Δx| and |Δy|" if scenario == "parabola" else "error of the mean velocity along x"
    )
    return f"{what}, {unit}"


def _cells(
    table: Mapping[str, BucketSummary], metric: str, scenario: str
) -> tuple[str, str] | None:
    """Return the figure in and out of distribution; None without any."""
    values = []
    for bucket in _COLUMNS.get(scenario, ("in", "out")):
        figures = table.get(bucket)
        value = None
        if figures is not None and metric == "table_error":
            value = figures.reference.get(metric)
        elif figures is not None:
            picture = figures.pictures.get(metric)
            value = None if isinstance(picture, NotAvailable) else picture
        values.append(value)
    if all(value is None for value in values):
        return None
    return _form(values[0], metric), _form(values[1], metric)


def _count(table: Mapping[str, BucketSummary], scenario: str) -> str:
    counts = [
        table[bucket].count if scenario == COMBINATORIAL else table[bucket].reference_count
        for bucket in _COLUMNS.get(scenario, ("in", "out"))
        if bucket in table
    ]
    return f"{' and '.join(map(str, counts))} videos"


def _form(value: float | None, metric: str) -> str:
    return percent(value) if metric == "abnormal" else number(value)
