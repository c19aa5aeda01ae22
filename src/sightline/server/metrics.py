"""Prometheus metrics of the service."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

#: Upper bounds of the histogram buckets in [s].
_BUCKETS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)


class Metrics:
    """All metrics of one service, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = self._counter(
            "requests", "Requests by route, method and status.", "path", "method", "status"
        )
        self.request_seconds = self._histogram("request_seconds", "Response time.", "path")
        self.refused = self._counter("refused", "Requests refused before any work.", "reason")
        self.jobs = self._counter("jobs", "Finished jobs by kind and final state.", "kind", "end")
        self.job_seconds = self._histogram("job_seconds", "Processing time of jobs.", "kind")
        self.worker_deaths = self._counter("worker_deaths", "Lost worker processes.", "reason")
        self.worker_memory = self._gauge(
            "worker_memory_bytes", "Resident memory of a worker.", "worker"
        )
        self.workers_ready = self._gauge("workers_ready", "Workers with loaded models.")
        self.queue_length = self._gauge("queue_length", "Waiting jobs.")
        self.jobs_kept = self._gauge("jobs_kept", "Jobs whose results are kept.")

    def text(self) -> str:
        """Return all metrics in the Prometheus text format."""
        return generate_latest(self.registry).decode()

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"sightline_{name}", text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"sightline_{name}", text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, *labels: str) -> Histogram:
        return Histogram(
            f"sightline_{name}", text, labels, registry=self.registry, buckets=_BUCKETS
        )
