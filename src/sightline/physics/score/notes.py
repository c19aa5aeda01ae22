"""Notes below the summary: what was compared with what, how to read it, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.batch.outcome import one_line
from sightline.physics.pictures.fvd import Fvd
from sightline.physics.pictures.values import NotAvailable
from sightline.physics.score.distance import few_videos
from sightline.physics.score.run import Result
from sightline.physics.score.summary import summarise, told_laws
from sightline.physics.score.words import number, probe_in
from sightline.physics.score.work import MODEL

#: Columns of the screen.
WIDTH = 80

#: Names of yardsticks that fit above a column.
SHORT = {"copy-last": "copy", "constant-velocity": "constant", "nearest-case": "nearest"}


def notes_of(result: Result) -> list[str]:
    """Say how to read the figures, what was compared with what, and what is missing."""
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


def _distances(result: Result) -> list[str]:
    """Give the Fréchet video distance of everybody, and a caution where it stands on few videos."""
    if result.fvd is None:
        return []
    known = {who: one for who, one in result.fvd.items() if isinstance(one, Fvd)}
    if not known:
        return ["fvd of all videos: n/a"]
    cells = [f"{SHORT.get(who, who)} {number(one.value)}" for who, one in known.items()]
    head = f"fvd of {min(one.videos for one in known.values()):,} videos: "
    return [_fitting(head, cells)] + ([caution] if (caution := few_videos(result.fvd)) else [])


def _fewer(result: Result) -> list[str]:
    """Say which laws have a figure for some of the model's videos only."""
    table = summarise(result.scores[MODEL]).get("all")
    if table is None:
        return []
    some = [
        f"{name} {mean.count}"
        for name, mean in table.laws.items()
        if 0 < mean.count < table.count and name in told_laws({"all": table})
    ]
    return [_fitting(f"of {table.count} videos: ", some)] if some else []


def _absent(result: Result) -> list[str]:
    """Count the videos that were left out, and those that are missing."""
    count, missing, found = len(result.left_out), result.missing, []
    if missing:
        found.append(f"{missing:,} sample{'s' * (missing != 1)} without a video")
    if count:
        found.append(f"{count:,} video{'s' * (count != 1)} left out, named in scores.json")
    return ["; ".join(found)] if found else []


def _unavailable(result: Result) -> list[str]:
    """Say what could not be computed and how to get it, each once, however long it is."""
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
