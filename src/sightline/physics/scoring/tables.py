"""Tables of a report as rows of text: by bucket, by law and by template."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sightline.physics.scoring.figures import reading_lines
from sightline.physics.scoring.labels import (
    BEFORE,
    HEADLINE,
    NOTHING,
    aligned,
    law_meaning,
    law_title,
    number,
    percent,
    plus_minus,
    times,
    unit_of,
)
from sightline.physics.scoring.run import MODEL
from sightline.physics.scoring.summary import BucketSummary, Mean, applicable_laws
from sightline.physics.video_metrics.frame_metrics import NotAvailable

Summaries = Mapping[str, Mapping[str, BucketSummary]]

# As wide as a digit in the tables' figures, and it does not collapse.
_FIGURE_SPACE = "\u2007"


@dataclass(frozen=True, slots=True)
class TableCell:
    """A value with a small note."""

    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Rows about one figure: one per predictor, a cell per bucket.

    Attributes:
        title: what the figure is.
        unit: or empty.
        rows: name and cells.
    """

    title: str
    unit: str
    rows: list[tuple[str, list[TableCell]]]

    def of(self, who: str, bucket: int = 0) -> TableCell:
        """Return a predictor's cell; a dash where it has none."""
        return next((cells[bucket] for name, cells in self.rows if name == who), TableCell(NOTHING))


@dataclass(frozen=True, slots=True)
class LawRow:
    """A law: values of all predictors in the main buckets, and the share of violations.

    Attributes:
        name: as in `scores.json`.
        title: for people.
        unit: or empty.
        says: what it measures.
        cells: by bucket, then by predictor.
        violated: by bucket, of the model.
    """

    name: str
    title: str
    unit: str
    says: str
    cells: list[list[str]]
    violated: list[str]


@dataclass(frozen=True, slots=True)
class SummaryTile:
    """The headline of a bucket: value, interval, and comparison with the baselines."""

    title: str
    value: str
    unit: str
    lines: list[str]


def bucket_blocks(summaries: Summaries, buckets: Sequence[str]) -> list[TableBlock]:
    """Return the headline values of all predictors by bucket."""
    first = summaries[MODEL][buckets[0]]
    blocks = []
    for law in (HEADLINE, BEFORE):
        if any(
            table[b].laws[law].count
            for table in summaries.values()
            for b in buckets
            if law in table[b].laws
        ):
            title = law_title(law) + (", after the impact" if _twofold(summaries, law) else "")
            blocks.append(_block(summaries, buckets, title, unit_of(law), _law_cell(law)))
    for name in first.pictures:
        title = f"{name.upper()} against the true video"
        blocks.append(_block(summaries, buckets, title, _picture_unit(name), _picture_cell(name)))
    for name in first.kept:
        title = f"videos that keep the {name}"
        blocks.append(_block(summaries, buckets, title, "", _kept_cell(name)))
    if first.abnormal is not None:
        blocks.append(
            _block(
                summaries,
                buckets,
                "called abnormal",
                "",
                lambda one: TableCell(percent(one.abnormal)),
            )
        )
    reference = "table_error"
    if any(summaries[MODEL][bucket].reference.get(reference) is not None for bucket in buckets):
        title = (
            "as in the paper's tables: the released evaluator's parser, figure and choice of videos"
        )
        blocks.append(_block(summaries, buckets, title, "", _reference_cell(reference)))
    return blocks


def law_rows(summaries: Summaries, buckets: Sequence[str], laws: Sequence[str]) -> list[LawRow]:
    """Return every law with the values of all predictors in the main buckets."""
    rows = []
    for name in laws:
        cells = [
            [_figure(table[bucket].laws.get(name)) for table in summaries.values()]
            for bucket in buckets
        ]
        violated = [percent(summaries[MODEL][bucket].laws[name].violated) for bucket in buckets]
        rows.append(
            LawRow(name, law_title(name), unit_of(name), law_meaning(name), cells, violated)
        )
    return rows


def laws_by_bucket(
    table: Mapping[str, BucketSummary], buckets: Sequence[str], laws: Sequence[str]
) -> list[tuple[str, str, list[TableCell]]]:
    """Return title, unit, and figure and share of violations of the model in every bucket."""
    rows = []
    for name in laws:
        means = [table[bucket].laws.get(name) for bucket in buckets]
        cells = [
            TableCell(_figure(mean), percent(mean.violated) if mean and mean.violated else "")
            for mean in means
        ]
        rows.append((law_title(name), unit_of(name), cells))
    return rows


def template_rows(
    summaries: Summaries, templates: Sequence[str]
) -> list[tuple[str, int, list[str]]]:
    """Return id, count and the picture metrics of all predictors for each template."""
    rows = []
    for template in templates:
        cells = []
        for name in summaries[MODEL][template].pictures:
            cells += [_picture(table[template].pictures.get(name)) for table in summaries.values()]
        rows.append((template, summaries[MODEL][template].count, cells))
    return rows


def tile(summaries: Summaries, bucket: str, title: str) -> SummaryTile:
    """Return the headline of a bucket: the velocity error, or PSNR where no law is parsed."""
    own = summaries[MODEL][bucket]
    lines = []
    mean = own.laws.get(HEADLINE)
    if mean is not None:
        for who, words in (("truth", "the floor"), ("nearest-case", "the nearest case")):
            if who in summaries:
                other = summaries[who][bucket].laws[HEADLINE]
                ratio = times(mean.value, other.value)
                lines += [f"{ratio} {words} ({_figure(other)})"] if ratio else []
        value, unit = (
            f"{number(mean.value, mean.error)} {plus_minus(mean.value, mean.error)}",
            "units/s",
        )
    else:
        psnr = own.pictures.get("psnr")
        value, unit = _picture(psnr), "dB PSNR"
        for who, words in (("truth", "the floor"), ("copy-last", "copying the last frame")):
            if who in summaries:
                lines.append(f"{words}: {_picture(summaries[who][bucket].pictures.get('psnr'))}")
    lines += reading_lines(own)
    lines += [f"{percent(share)} keep the {name}" for name, share in own.kept.items()]
    if own.abnormal is not None:
        lines.append(f"{percent(own.abnormal)} called abnormal")
    lines.append(f"{own.count:,} video{'s' * (own.count != 1)}")
    return SummaryTile(title, value.strip(), unit, lines)


def most_violated(table: Mapping[str, BucketSummary], bucket: str, most: int = 4) -> list[str]:
    """Name the laws that most videos of a bucket violate, with the share."""
    broken = [
        (table[bucket].laws[name].violated, name)
        for name in applicable_laws(table)
        if name != "velocity_code" and table[bucket].laws[name].violated > 0
    ]
    ordered = sorted(broken, key=lambda one: -one[0])[:most]
    return [f"{law_title(name)} ({percent(share)})" for share, name in ordered]


def _block(
    summaries: Summaries,
    buckets: Sequence[str],
    title: str,
    unit: str,
    cell: Callable[[BucketSummary], TableCell],
) -> TableBlock:
    rows = [(who, [cell(table[bucket]) for bucket in buckets]) for who, table in summaries.items()]
    told = [row for row in rows if any(one.value != NOTHING for one in row[1])]
    columns = [
        aligned([cells[column].value for _, cells in told], _FIGURE_SPACE)
        for column in range(len(buckets))
    ]
    return TableBlock(
        title,
        unit,
        [
            (who, [TableCell(columns[k][row], one.note) for k, one in enumerate(cells)])
            for row, (who, cells) in enumerate(told)
        ],
    )


def _law_cell(law: str) -> Callable[[BucketSummary], TableCell]:
    def cell(figures: BucketSummary) -> TableCell:
        mean = figures.laws.get(law)
        if mean is None:
            return TableCell(_figure(mean), "")
        some = f"{mean.count} of {figures.count}" if 0 < mean.count < figures.count else ""
        return TableCell(_figure(mean), f"{plus_minus(mean.value, mean.error)} {some}".strip())

    return cell


def _picture_cell(name: str) -> Callable[[BucketSummary], TableCell]:
    return lambda figures: TableCell(_picture(figures.pictures.get(name)))


def _kept_cell(name: str) -> Callable[[BucketSummary], TableCell]:
    return lambda figures: TableCell(percent(figures.kept.get(name)))


def _reference_cell(name: str) -> Callable[[BucketSummary], TableCell]:
    def cell(figures: BucketSummary) -> TableCell:
        value = figures.reference.get(name)
        return TableCell(number(value), "" if value is None else f"of {figures.reference_count}")

    return cell


def _figure(mean: Mean | None) -> str:
    return NOTHING if mean is None else number(mean.value, mean.error)


def _picture(value: Any) -> str:
    if isinstance(value, NotAvailable):
        return "not available"
    return number(value)


def _picture_unit(name: str) -> str:
    return "dB" if name == "psnr" else ""


def _twofold(summaries: Summaries, law: str) -> bool:
    """Return whether the error is split into before and after an impact."""
    figures = summaries[MODEL].get("all")
    early = figures.laws.get(BEFORE) if figures else None
    return law == HEADLINE and early is not None and early.count > 0
