"""`POST /v1/metric` and `/v1/measure`: metric depth, and distances between two pixels."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sightline.errors import InputError
from sightline.io.atomic import atomic_path
from sightline.io.depth_files import read_npz
from sightline.io.images import Picture
from sightline.metric.estimation import MetricResult
from sightline.metric.known_sizes import (
    CameraHeight,
    KnownBox,
    KnownDepth,
    KnownSizes,
    Length,
    parse_pixels,
)
from sightline.metric.measurement import DistanceMeasurement, measure_between
from sightline.metric.metric_fit import EvidenceReport, MetricFit
from sightline.metric.options import MetricConfig
from sightline.metric.people.detected import DetectedPerson
from sightline.metric.people.types import PeopleFinder
from sightline.metric.work import Tools, meters_of
from sightline.server.errors import ServiceError, flags_to_fields
from sightline.server.formats import JSON_ONLY
from sightline.server.models import LoadedModels
from sightline.server.tasks.depth import convert_map, describe_map, read_upload, store_map
from sightline.server.worker import ProgressReporter, TaskResult, WorkerRequest, result_path
from sightline.types import Kind, Measurement

__all__ = ["convert_map", "run_measure", "run_metric"]

#: File and fields of the fit of a kept job, which later measurements need.
_FIT = "fit.npz"
_FIT_NUMBERS = ("scale", "shift", "scale_sigma", "shift_sigma", "widened", "focal_sigma")
_FIT_ARRAYS = ("span", "logs", "variants")


def run_metric(
    request: WorkerRequest, models: LoadedModels, report: ProgressReporter
) -> TaskResult:
    """Estimate metric depth."""
    start = time.perf_counter()
    report(None, "reading the picture")
    picture = read_upload(request, models.limits.max_pixels)
    result = _estimate(request.fields, picture, models, report)
    report(None, "writing the result")
    record = result.to_dict()
    record["warnings"] = [flags_to_fields(line) for line in result.warnings]
    for item, line in zip(record["evidence"], result.fit.evidence, strict=True):
        item["text"] = _evidence_text(line)
    request.write_json(
        {
            **record,
            **describe_map(result.depth),
            "people": [_describe_person(person) for person in result.people],
            "seconds": round(time.perf_counter() - start, 3),
        }
    )
    if request.keep:
        _write_fit(request.folder / _FIT, result.fit)
    return store_map(request, result.depth, picture)


def run_measure(
    request: WorkerRequest, models: LoadedModels, report: ProgressReporter
) -> TaskResult:
    """Measure in the result of a metric job, or in a picture."""
    fields = request.fields
    start, end = (parse_pixels(fields[name], 2) for name in ("from", "to"))
    if request.source is not None:
        record = json.loads(result_path(request.source, "json").read_text(encoding="utf-8"))
        depth = read_npz(result_path(request.source, "npz"))
        fit = _read_fit(request.source / _FIT)
        evidence = [one["text"] for one in record["evidence"]]
        warnings = record["warnings"]
    else:
        picture = read_upload(request, models.limits.max_pixels)
        _check_inside(start, end, picture.width, picture.height)
        result = _estimate(fields, picture, models, report)
        depth, fit = result.depth, result.fit
        evidence = [_evidence_text(item) for item in fit.evidence]
        warnings = [flags_to_fields(line) for line in result.warnings]
    _check_inside(start, end, depth.width, depth.height)
    found = measure_between(depth, start, end, fit=fit)
    request.write_json(
        {
            "from": list(start),
            "to": list(end),
            **_describe_distance(found),
            "evidence": evidence,
            "warnings": list(dict.fromkeys([*warnings, *found.notes])),
        }
    )
    return TaskResult(JSON_ONLY, {})


def _estimate(
    fields: dict[str, Any], picture: Picture, models: LoadedModels, report: ProgressReporter
) -> MetricResult:
    """Estimate metric depth with the evidence of a request."""
    known = _known_sizes(fields)
    estimator = models.estimator(fields["model"])
    if estimator.spec.kind is not Kind.RELATIVE_DISPARITY:
        raise InputError("this model is metric itself", remedy="use /v1/depth, or another model")
    finder, notes = _person_finder(fields, known, models)
    irises = models.irises if fields["iris"] else None
    report(None, "detecting people" if finder else "estimating depth")
    options = MetricConfig(people=finder is not None, fov=fields["fov"], iris=fields["iris"])
    result = meters_of(picture, known, Tools(estimator, finder, None, irises), options)
    report(None, "measuring people")
    return replace(result, warnings=(*result.warnings, *notes))


def _known_sizes(fields: dict[str, Any]) -> KnownSizes:
    """Parse the known sizes of a request; unlike on the command line, none names a file."""
    height = fields["camera_height"]
    return KnownSizes(
        tuple(Length.parse(text) for text in fields["length"]),
        tuple(KnownDepth.parse(text) for text in fields["depth_at"]),
        tuple(KnownBox.parse(text) for text in fields["box"]),
        None if height is None else CameraHeight.parse(height),
    )


def _person_finder(
    fields: dict[str, Any], known: KnownSizes, models: LoadedModels
) -> tuple[PeopleFinder | None, list[str]]:
    """Return the person detector, and warnings if it is missing but other evidence exists."""
    if not fields["people"]:
        return None, []
    try:
        return models.people, []
    except ServiceError as error:
        if known == KnownSizes() and not fields["iris"]:
            raise
        return None, [error.message]


def _evidence_text(item: EvidenceReport) -> str:
    """Return one line with the uncertainty of the evidence and the deviation of the result."""
    share = math.expm1(item.off)
    line = f"{item.name} (± {item.sigma:.0%})"
    if abs(share) >= 0.005:
        line += f": the result is {share:+.0%} from it"
    return line + (", contradicts the others" if item.contradicts else "")


def _describe_person(person: DetectedPerson) -> dict[str, Any]:
    height, distance = person.height, person.distance
    return {
        "name": person.name,
        "box": [round(side, 1) for side in person.box],
        "outline": [[list(corner) for corner in piece] for piece in person.outline],
        "confidence": round(person.confidence, 3),
        "height_m": None if height is None else height.value,
        "height_sigma_m": None if height is None else height.sigma,
        "distance_m": None if distance is None else distance.value,
        "distance_sigma_m": None if distance is None else distance.sigma,
        "text": person.text,
        "warnings": list(person.warnings),
    }


def _describe_distance(found: DistanceMeasurement) -> dict[str, Any]:
    right, down, farther = found.across
    return {
        "distance": _describe_value(found.distance),
        "depths": [_describe_value(one) for one in found.depths],
        "ranges": [_describe_value(one) for one in found.ranges],
        "right": _describe_value(right),
        "down": _describe_value(down),
        "farther": _describe_value(farther),
        "elevation": _describe_value(found.elevation),
        "angle": _describe_value(found.angle),
        "heights": None
        if found.heights is None
        else [_describe_value(one) for one in found.heights],
    }


def _describe_value(found: Measurement) -> dict[str, Any]:
    return {"value": found.value, "sigma": found.sigma, "unit": found.unit, "text": str(found)}


def _check_inside(
    start: tuple[float, ...], end: tuple[float, ...], width: int, height: int
) -> None:
    for name, (x, y) in (("from", start), ("to", end)):
        if not (0 <= x <= width - 1 and 0 <= y <= height - 1):
            raise InputError(f"{name}={x:g},{y:g} is outside the picture of {width} × {height} px")


def _write_fit(path: Path, fit: MetricFit) -> None:
    """Write the numbers that `measure_between` needs; the evidence is in the JSON result."""
    arrays = {name: np.asarray(getattr(fit, name)) for name in (*_FIT_NUMBERS, *_FIT_ARRAYS)}
    with atomic_path(path) as temporary:
        np.savez(temporary, **arrays)  # type: ignore[arg-type]  # mistaken for options


def _read_fit(path: Path) -> MetricFit:
    with np.load(path, allow_pickle=False) as file:
        stored: dict[str, Any] = {name: float(file[name]) for name in _FIT_NUMBERS}
        stored |= {name: file[name] for name in _FIT_ARRAYS}
    return MetricFit(**stored, evidence=())
