"""Counters, gauges and histograms in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field

#: Upper ends of the histograms in [s].
BUCKETS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)

_SAYS = {
    "requests_total": ("counter", "Requests by path, method and status."),
    "request_seconds": ("histogram", "Time from request to the end of its answer."),
    "refused_total": ("counter", "Requests refused before any work, by reason."),
    "jobs_total": ("counter", "Jobs by kind and end."),
    "job_seconds": ("histogram", "Time that a worker took over a job."),
    "worker_deaths_total": ("counter", "Workers that ended over a job, by reason."),
    "worker_memory_bytes": ("gauge", "Resident memory of each worker."),
    "workers_ready": ("gauge", "Workers that have their models."),
    "queue_length": ("gauge", "Jobs that wait."),
    "jobs_kept": ("gauge", "Jobs whose results are kept."),
}

Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Histogram:
    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0


class Metrics:
    """All figures of one service; used from one thread."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[Labels, float]] = defaultdict(lambda: defaultdict(float))
        self._times: dict[str, dict[Labels, _Histogram]] = defaultdict(
            lambda: defaultdict(_Histogram)
        )

    def count(self, name: str, **labels: str) -> None:
        """Add one to a counter."""
        self._numbers[name][_key(labels)] += 1

    def set(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._numbers[name][_key(labels)] = value

    def forget(self, name: str, **labels: str) -> None:
        """Drop one series of a gauge: what it was of is gone."""
        self._numbers[name].pop(_key(labels), None)

    def time(self, name: str, seconds: float, **labels: str) -> None:
        """Add a time to a histogram."""
        histogram = self._times[name][_key(labels)]
        histogram.counts[bisect_left(BUCKETS, seconds)] += 1
        histogram.total += seconds

    def value(self, name: str, **labels: str) -> float:
        """Return the sum of a counter or gauge over all series with these labels."""
        wanted = set(labels.items())
        return sum(v for key, v in self._numbers[name].items() if wanted <= set(key))

    def text(self) -> str:
        """Return everything as Prometheus reads it."""
        lines = []
        for name, (kind, says) in _SAYS.items():
            lines += [f"# HELP sightline_{name} {says}", f"# TYPE sightline_{name} {kind}"]
            for key, value in sorted(self._numbers[name].items()):
                lines.append(f"sightline_{name}{_labels(key)} {value:g}")
            for key, histogram in sorted(self._times[name].items()):
                lines += _histogram_lines(f"sightline_{name}", key, histogram)
        return "\n".join(lines) + "\n"


def _histogram_lines(name: str, key: Labels, histogram: _Histogram) -> list[str]:
    lines, so_far = [], 0
    for end, count in zip((*BUCKETS, "+Inf"), histogram.counts, strict=True):
        so_far += count
        lines.append(f"{name}_bucket{_labels((*key, ('le', str(end))))} {so_far}")
    lines.append(f"{name}_sum{_labels(key)} {histogram.total:.6f}")
    lines.append(f"{name}_count{_labels(key)} {so_far}")
    return lines


def _key(labels: dict[str, str]) -> Labels:
    return tuple(sorted(labels.items()))


def _labels(key: Labels) -> str:
    if not key:
        return ""
    words = ",".join(f'{name}="{_escaped(value)}"' for name, value in key)
    return "{" + words + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
