"""The report as text of 80 × 24 characters: predictors by bucket, then the laws beside baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sightline.errors import one_line
from sightline.physics.scoring.labels import (
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
from sightline.physics.scoring.report import few_videos
from sightline.physics.scoring.run import MODEL, PhysicsReport
from sightline.physics.scoring.summary import (
    TITLES,
    BucketSummary,
    Mean,
    ProbeFigure,
    applicable_laws,
    main_buckets,
    summarize,
    worth_showing,
)
from sightline.physics.video_metrics.frame_metrics import NotAvailable
from sightline.physics.video_metrics.fvd import Fvd

#: Columns of the screen.
WIDTH = 80

#: Names of baselines that fit above a column.
SHORT = {"copy-last": "copy", "constant-velocity": "constant", "nearest-case": "nearest"}


def notes_of(result: PhysicsReport) -> list[str]:
    """Return notes on how to read the values, what was compared, and what is missing."""
    origin, lines = result.provenance, []
    data = f" ({origin['data_set_sha256'][:12]}), by {origin['matched_by']}"
    probe, violated = probe_in(origin), "viol%: videos over tolerance"
    if probe is not None:
        lines.append(f"{origin.get('part') or 'test'} part of probe {probe.name}; {violated}")
    elif "ranges" in origin:
        ranges = f"the {origin['ranges']}'s ranges of radius r, speed v"
        lines.append(f"in/out of {ranges}; {violated}")
    if probe is None and "nearest_case_from" in origin:
        data += f"; nearest case: {clipped(str(origin['nearest_case_from']), 30)}"
    room = WIDTH - len("data ") - len(data)
    lines.append(f"data {clipped(str(origin['data_set']), room)}{data}")
    if origin["video_fps"] is not None:
        lines.append(f"videos taken at {origin['video_fps']:g} frames a second")
    short = sum(bool(score.note) for score in result.scores[MODEL])
    if short:
        lines.append(f"{short} videos have another number of frames: see scores.json")
    lines += _distances(result)
    lines += _fewer(result)
    lines += _absent(result)
    return lines + _unavailable(result)


def _distances(result: PhysicsReport) -> list[str]:
    """Return the FVD of all predictors, with a warning if there are few videos."""
    if result.fvd is None:
        return []
    known = {who: one for who, one in result.fvd.items() if isinstance(one, Fvd)}
    if not known:
        return ["fvd of all videos: n/a"]
    cells = [f"{SHORT.get(who, who)} {number(one.value)}" for who, one in known.items()]
    head = f"fvd of {min(one.videos for one in known.values()):,} videos: "
    return [_fitting(head, cells)] + ([caution] if (caution := few_videos(result.fvd)) else [])


def _fewer(result: PhysicsReport) -> list[str]:
    """Return the laws that apply only to some of the videos."""
    table = summarize(result.scores[MODEL]).get("all")
    if table is None:
        return []
    some = [
        f"{name} {mean.count}"
        for name, mean in table.laws.items()
        if 0 < mean.count < table.count and name in applicable_laws({"all": table})
    ]
    return [_fitting(f"of {table.count} videos: ", some)] if some else []


def _absent(result: PhysicsReport) -> list[str]:
    """Count the videos that were left out, and those that are missing."""
    count, missing, found = len(result.left_out), result.missing, []
    if missing:
        found.append(f"{missing:,} sample{'s' * (missing != 1)} without a video")
    if count:
        found.append(f"{count:,} video{'s' * (count != 1)} left out, named in scores.json")
    return ["; ".join(found)] if found else []


def _unavailable(result: PhysicsReport) -> list[str]:
    """Return what could not be computed, and how to get it."""
    values: list[object] = []
    for score in result.scores[MODEL][:1]:
        values += score.pictures.values()
    values += (result.fvd or {}).values()
    missing = [one for one in values if isinstance(one, NotAvailable)]
    return list(dict.fromkeys(str(one) for one in missing))


def _fitting(head: str, names: Sequence[str]) -> str:
    """Return names on one line: all, or as many whole ones as fit and how many more there are."""
    line = head + ", ".join(names)
    for count in range(len(names) - 1, 0, -1):
        if len(line) <= WIDTH:
            break
        line = f"{head}{', '.join(names[:count])} and {len(names) - count} more, in scores.json"
    return line


def clipped(text: str, width: int) -> str:
    """Return text on one line, cut in its middle where it is too long."""
    line = one_line(text)
    if len(line) <= width:
        return line
    head = max(1, (width - 1) // 2)
    return line[:head] + "…" + line[len(line) - (width - 1 - head) :]


#: Lines: they leave room for the path of the report and for the prompt after it.
LINES = 21

#: Videos left out that are named; the others are in scores.json.
NAMED = 50

#: Columns of names, and of everything else: of a bucket, of a predictor where there is one bucket and
#: where there are two, and of the share of violations.
_NAME, _BUCKET, _ONE, _TWO, _VIOLATED = 24, 9, 9, 7, 6

#: What a baseline is, beside its name.
_REMARKS = {"truth": " (the floor)", "nearest-case": " (memory)"}

Summaries = Mapping[str, Mapping[str, BucketSummary]]
Row = tuple[str, list[str]]


def summary_text(result: PhysicsReport) -> str:
    """Return the lines to print."""
    summaries = {who: summarize(scores) for who, scores in result.scores.items()}
    own, notes = summaries[MODEL], notes_of(result)
    buckets = worth_showing(own)
    if len(buckets) > 1:
        buckets = [name for name in buckets if name != "all"]
    if not buckets:
        return "\n".join([_title(result), "no video was scored", *notes])
    lines = [_title(result), *_everybody(result, summaries, buckets)]
    lines += _laws(result, summaries, room=LINES - len(lines) - len(notes))
    return "\n".join([*lines, *notes])


def left_out_lines(result: PhysicsReport) -> list[str]:
    """Return a line for each video that was left out, with the reason in full."""
    lines = [one_line(f"{name}: left out: {why}") for name, why in result.left_out]
    rest = len(lines) - NAMED
    return lines[:NAMED] + ([f"and {rest:,} more, named in scores.json"] if rest > 0 else [])


def _title(result: PhysicsReport) -> str:
    origin, count = result.provenance, len(result.scores[MODEL])
    world = SCENARIO_WORDS.get(result.scenario, result.scenario)
    rest = f": {count:,} video{'s' * (count != 1)} of {world}, "
    rest += f"{origin['condition_frames']} of {origin['frames']} frames given"
    return clipped(str(origin["videos"]), WIDTH - len(rest)) + rest


def _everybody(result: PhysicsReport, summaries: Summaries, buckets: Sequence[str]) -> list[str]:
    """Return the headline figure of the model and of the baselines by bucket, or picture metrics."""
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


def _laws(result: PhysicsReport, summaries: Summaries, room: int) -> list[str]:
    """Return as many laws as fit, those violated most often first."""
    own, buckets = summaries[MODEL], main_buckets(summaries[MODEL])
    told = [name for name in applicable_laws(own) if name != HEADLINE]
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
    own: Mapping[str, BucketSummary], buckets: Sequence[str], told: Sequence[str], count: int
) -> list[str]:
    """Choose the laws violated most often, in their order; the error before an impact among them."""

    def telling(name: str) -> tuple[float, bool]:
        means = [own[bucket].laws[name] for bucket in buckets]
        return max(one.violated for one in means), any(_figure(one, 3) != "0" for one in means)

    order = sorted(told, key=telling, reverse=True)
    chosen = [name for name in order if name != BEFORE][: count - (BEFORE in told)]
    return [name for name in told if name in chosen or name == BEFORE]


def _compared(whos: list[str], *, two: bool) -> list[str]:
    """Return the predictors that fit: all, or in two buckets the most informative ones."""
    if not two:
        return whos
    last = "nearest-case" if "nearest-case" in whos else "constant-velocity"
    return [who for who in whos if who in (MODEL, "truth", last)]


def _beside_laws(figures: BucketSummary) -> list[tuple[str, Callable[[BucketSummary], str]]]:
    """Return the other rows: probe readings, abnormal videos, picture metrics."""

    def kept(name: str) -> Callable[[BucketSummary], str]:
        return lambda one: _percent(one.kept.get(name))

    def reading(name: str) -> Callable[[BucketSummary], str]:
        return lambda one: _told(one.reading.get(name), TITLES[name][2])

    def picture(name: str) -> Callable[[BucketSummary], str]:
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


def _told(told: ProbeFigure | None, unit: str) -> str:
    if told is None:
        return NOTHING
    return _percent(told.value) if unit == "%" else number(told.value, most=3)


def _metric(name: str) -> str:
    return f"{name}, dB" if name == "psnr" else name


def _picture(value: float | NotAvailable | None) -> str:
    return "n/a" if isinstance(value, NotAvailable) else number(value)
