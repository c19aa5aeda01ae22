"""The score on one screen of 80 × 24: everybody by bucket, then law by law beside the yardsticks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sightline.batch.outcome import one_line
from sightline.physics.pictures.values import NotAvailable
from sightline.physics.score.notes import SHORT, WIDTH, clipped, notes_of
from sightline.physics.score.readings import TITLES, Told
from sightline.physics.score.run import Result
from sightline.physics.score.summary import (
    Figures,
    Mean,
    main_buckets,
    summarise,
    told_laws,
    worth_showing,
)
from sightline.physics.score.words import (
    BEFORE,
    HEADLINE,
    NOTHING,
    SCENARIO_WORDS,
    aligned,
    bucket_name,
    number,
    percent,
    probe_in,
    unit_of,
)
from sightline.physics.score.work import MODEL

#: Lines: they leave room for the path of the report and for the prompt after it.
LINES = 21

#: Videos left out that are named; the others are in scores.json.
NAMED = 50

#: Columns of names, and of everything else: of a bucket, of a predictor where there is one bucket and
#: where there are two, and of the share of violations.
_NAME, _BUCKET, _ONE, _TWO, _VIOLATED = 24, 9, 9, 7, 6

#: What a yardstick is, beside its name.
_REMARKS = {"truth": " (the floor)", "nearest-case": " (memory)"}

Summaries = Mapping[str, Mapping[str, Figures]]
Row = tuple[str, list[str]]


def summary_text(result: Result) -> str:
    """Return the lines to print."""
    summaries = {who: summarise(scores) for who, scores in result.scores.items()}
    own, notes = summaries[MODEL], notes_of(result)
    buckets = worth_showing(own)
    if len(buckets) > 1:
        buckets = [name for name in buckets if name != "all"]
    if not buckets:
        return "\n".join([_title(result), "no video was scored", *notes])
    lines = [_title(result), *_everybody(result, summaries, buckets)]
    lines += _laws(result, summaries, room=LINES - len(lines) - len(notes))
    return "\n".join([*lines, *notes])


def left_out_lines(result: Result) -> list[str]:
    """Return a line for each video that was left out, with the reason in full."""
    lines = [one_line(f"{name}: left out: {why}") for name, why in result.left_out]
    rest = len(lines) - NAMED
    return lines[:NAMED] + ([f"and {rest:,} more, named in scores.json"] if rest > 0 else [])


def _title(result: Result) -> str:
    origin, count = result.provenance, len(result.scores[MODEL])
    world = SCENARIO_WORDS.get(result.scenario, result.scenario)
    rest = f": {count:,} video{'s' * (count != 1)} of {world}, "
    rest += f"{origin['condition_frames']} of {origin['frames']} frames given"
    return clipped(str(origin["videos"]), WIDTH - len(rest)) + rest


def _everybody(result: Result, summaries: Summaries, buckets: Sequence[str]) -> list[str]:
    """Return the headline figure of the model and of the yardsticks by bucket, or picture metrics."""
    own, probe = summaries[MODEL], probe_in(result.provenance)
    names = [bucket_name(bucket, probe, short=True) for bucket in buckets]
    laws = bool(own[buckets[0]].laws)
    rows: list[Row] = []
    for who, table in summaries.items() if laws else ():
        cells = [_figure(table[bucket].laws.get(HEADLINE)) for bucket in buckets]
        rows.append((f"  {who}{_REMARKS.get(who, '')}", cells))
    for name in () if laws else own[buckets[0]].pictures:
        for who, table in summaries.items():
            found = [table[bucket].pictures.get(name) for bucket in buckets]
            if any(value is not None for value in found):
                rows.append((f"  {_metric(name)}, {who}", [_picture(one) for one in found]))
    head = f"{HEADLINE}, {unit_of(HEADLINE)}" if laws else "against the true video"
    widths = [_BUCKET] * len(buckets)
    return [
        _line(head, names, widths),
        _line("  videos", [f"{own[bucket].count:,}" for bucket in buckets], widths),
        *(_line(name, cells, widths) for name, cells in _in_columns(rows)),
    ]


def _laws(result: Result, summaries: Summaries, room: int) -> list[str]:
    """Return the laws, as many as there is room for; those violated least often give way."""
    own, buckets = summaries[MODEL], main_buckets(summaries[MODEL])
    told = [name for name in told_laws(own) if name != HEADLINE]
    if not told:
        return []
    two, probe = len(buckets) > 1, probe_in(result.provenance)
    whos = _compared(list(summaries), two=two)
    widths = ([_TWO, _TWO, _TWO + 1] if two else [_ONE] * len(whos)) + [_VIOLATED]
    more = _beside_laws(own[buckets[0]])
    left = max(1, room - 2 - two - len(more))
    shown = told if len(told) <= left else _worst(own, buckets, told, left)
    rows: list[Row] = []
    for name in shown:
        cells = []
        for bucket in buckets:
            cells += [_figure(summaries[who][bucket].laws.get(name), 3) for who in whos]
            cells.append(_percent(own[bucket].laws[name].violated))
        rows.append((name + ", " * bool(unit_of(name)) + unit_of(name), cells))
    for title, cell in more:
        cells = []
        for bucket in buckets:
            cells += [cell(summaries[who][bucket]) for who in whos] + [""]
        rows.append((title, cells))
    hidden = len(told) - len(shown)
    head = f"law ({hidden} more in report)" if hidden else "law"
    heads = [*(SHORT.get(who, who) for who in whos), "viol%"] * len(buckets)
    lines = [""]
    if two:
        group = sum(widths)
        titles = [bucket_name(bucket, probe) for bucket in buckets]
        short = [bucket_name(bucket, probe, short=True) for bucket in buckets]
        fitting = titles if max(map(len, titles)) < group else short
        lines.append(_line("", fitting, [group] * len(buckets)))
    lines.append(_line(head, heads, widths * len(buckets)))
    return lines + [_line(name, cells, widths * len(buckets)) for name, cells in _in_columns(rows)]


def _worst(
    own: Mapping[str, Figures], buckets: Sequence[str], told: Sequence[str], count: int
) -> list[str]:
    """Choose the laws violated most often, in their order; the error before an impact among them."""

    def telling(name: str) -> tuple[float, bool]:
        means = [own[bucket].laws[name] for bucket in buckets]
        return max(one.violated for one in means), any(_figure(one, 3) != "0" for one in means)

    order = sorted(told, key=telling, reverse=True)
    chosen = [name for name in order if name != BEFORE][: count - (BEFORE in told)]
    return [name for name in told if name in chosen or name == BEFORE]


def _compared(whos: list[str], *, two: bool) -> list[str]:
    """Return whose figures there is room for: everybody's, or in two buckets the telling ones."""
    if not two:
        return whos
    last = "nearest-case" if "nearest-case" in whos else "constant-velocity"
    return [who for who in whos if who in (MODEL, "truth", last)]


def _beside_laws(figures: Figures) -> list[tuple[str, Callable[[Figures], str]]]:
    """Return rows that are no laws: what a probe asks for, abnormal videos, picture metrics."""

    def kept(name: str) -> Callable[[Figures], str]:
        return lambda one: _percent(one.kept.get(name))

    def reading(name: str) -> Callable[[Figures], str]:
        return lambda one: _told(one.reading.get(name), TITLES[name][2])

    def picture(name: str) -> Callable[[Figures], str]:
        return lambda one: _picture(one.pictures.get(name))

    rows = [(f"{name} kept, %", kept(name)) for name in figures.kept]
    for name in figures.reading:
        _, title, unit = TITLES[name]
        rows.append((f"{title}, {unit}" if unit else title, reading(name)))
    if figures.abnormal is not None:
        rows.append(("abnormal, %", lambda one: _percent(one.abnormal)))
    return rows + [(_metric(name), picture(name)) for name in figures.pictures]


def _in_columns(rows: Sequence[Row]) -> list[Row]:
    """Fill up cells so that the points of a column of numbers lie below each other."""
    columns = [aligned(list(column)) for column in zip(*(cells for _, cells in rows), strict=True)]
    return [(name, [column[k] for column in columns]) for k, (name, _) in enumerate(rows)]


def _line(name: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return f"{name:{_NAME}}{padded}".rstrip()


def _figure(mean: Mean | None, most: int = 4) -> str:
    return NOTHING if mean is None else number(mean.value, mean.error, most)


def _percent(share: float | None) -> str:
    """Return a share in per cent, without the sign."""
    return percent(share).removesuffix("\u00a0%")


def _told(told: Told | None, unit: str) -> str:
    if told is None:
        return NOTHING
    return _percent(told.value) if unit == "%" else number(told.value, most=3)


def _metric(name: str) -> str:
    return f"{name}, dB" if name == "psnr" else name


def _picture(value: float | NotAvailable | None) -> str:
    return "n/a" if isinstance(value, NotAvailable) else number(value)
