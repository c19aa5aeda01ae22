"""Answers as they look, for OpenAPI."""

from __future__ import annotations

from typing import Any

_CAMERA = {
    "fx": 576.6,
    "fy": 576.6,
    "cx": 299.5,
    "cy": 199.5,
    "fov": 55.0,
    "source": "assumed",
}

DEPTH: dict[str, Any] = {
    "kind": "relative_disparity",
    "unit": "",
    "direction": "larger is nearer",
    "width": 600,
    "height": 400,
    "camera": _CAMERA,
    "minimum": 0.1,
    "maximum": 14.2,
    "low": 0.6,
    "high": 13.1,
    "valid_share": 1.0,
    "sigma": False,
    "model": "small@0123456789ab",
    "seconds": 0.9,
}

METRIC: dict[str, Any] = {
    **DEPTH,
    "kind": "metric_depth",
    "unit": "m",
    "direction": "larger is farther",
    "sigma": True,
    "median_depth_m": 2.2,
    "median_sigma_share": 0.17,
    "focal_sigma": 0.2,
    "yardsticks": [
        {
            "name": "person 1",
            "kind": "person",
            "sigma": 0.16,
            "residual": 0.0,
            "weight": 1.0,
            "contradicts": False,
            "alone_distances_times": 1.0,
            "text": "person 1 (± 16%)",
        }
    ],
    "people": [
        {
            "name": "person 1",
            "box": [120.0, 30.0, 300.0, 399.0],
            "outline": [[[120, 30], [300, 30], [300, 399], [120, 399]]],
            "confidence": 0.97,
            "height_m": 1.7,
            "height_sigma_m": 0.08,
            "distance_m": 1.31,
            "distance_sigma_m": 0.2,
            "text": "1.70 ± 0.08 m tall, 1.31 ± 0.20 m away",
            "warnings": [],
        }
    ],
    "warnings": [],
}

_VALUE = {"value": 1.42, "sigma": 0.21, "unit": "m", "text": "1.42 ± 0.21 m"}
_ANGLE = {"value": 3.1, "sigma": 0.9, "unit": "°", "text": "3.10 ± 0.90 °"}

MEASURE: dict[str, Any] = {
    "from": [120, 80],
    "to": [300, 200],
    "distance": _VALUE,
    "depths": [_VALUE, _VALUE],
    "ranges": [_VALUE, _VALUE],
    "right": _VALUE,
    "down": _VALUE,
    "farther": _VALUE,
    "elevation": _ANGLE,
    "angle": _ANGLE,
    "heights": None,
    "yardsticks": ["person 1 (± 16%)"],
    "warnings": [],
}

ASK: dict[str, Any] = {
    "asked": "nearest",
    "answer": "B",
    "said": "B",
    "perceived": "B",
    "agrees": True,
    "verified": True,
    "text": "Depth map: … A=033,033=21 …",
    "caution": "",
    "points": {"A": [120.0, 80.0], "B": [300.0, 200.0]},
    "own_points": {"A": [121.4, 79.0]},
    "values": {"A": 0.41, "B": 0.77},
    "own_values": {"A": 0.4},
    "chain": ["A at 120,80 (seen at 121,79)", "Its map reads A 0.41, B 0.77: B is nearest"],
    "verdict": "Words and perception agree.",
    "map_png": None,
    "picture_png": "iVBORw0KGgo…",
    "model": "speaker",
    "seconds": 2.0,
}

_PHYSICS: dict[str, Any] = {
    "scenario": "uniform",
    "frames": 32,
    "size": 128,
    "world_side": 10.0,
    "frame_time": 0.1,
    "bodies": [
        {
            "colour": "#ff0000",
            "shape": "ball",
            "radius": 1.0,
            "positions": [[1.2, 5.0], [1.45, 5.0]],
            "velocities": [[2.5, 0.0], [2.5, 0.0]],
        }
    ],
    "tracks": [
        {
            "colour": "#ff0000",
            "shape": "ball",
            "radius": 1.0,
            "positions": [[1.2, 5.0], [1.45, 5.0]],
            "sigma": [[0.002, 0.002], [0.002, 0.002]],
            "radii": [1.0, 1.0],
            "states": ["seen", "seen"],
        }
    ],
    "laws": [
        {
            "name": "velocity_paper",
            "title": "velocity error",
            "says": "how far speed and direction are off on average, after the given frames",
            "unit": "units/s",
            "value": 0.004,
            "text": "0.004 units/s",
            "allowed": "up to 0.2 units/s",
            "right": None,
            "interval": None,
            "tolerance": 0.2,
            "tolerance_unit": "units/s",
            "violated": False,
            "violations": [],
        }
    ],
    "abnormal": {"abnormal": False, "reasons": []},
    "coverage": 1.0,
    "range": {
        "bucket": "in",
        "in_training_range": True,
        "text": "inside the range that the reference trains on",
        "radius": [0.7, 1.4],
        "speed": [1.0, 4.0],
        "radius_low": [0.3, 0.6],
        "radius_high": [1.5, 2.0],
        "speed_low": [0.0, 0.8],
        "speed_high": [4.5, 6.0],
    },
    "seconds": 0.02,
}

WORLD: dict[str, Any] = {
    **_PHYSICS,
    "speeds": [2.5],
    "radii": [1.0],
    "seed": 0,
    "direction": "right",
    "gravity": 0.0,
}

SCORE: dict[str, Any] = {**_PHYSICS, "condition": 3, "truth": "law", "note": ""}

PREDICT: dict[str, Any] = {**WORLD, **SCORE, "truth": "world", "model": "video"}

JOB: dict[str, Any] = {
    "id": "k3J8sJw2T0yq5b7h",
    "kind": "depth",
    "state": "running",
    "position": 0,
    "progress": 0.4,
    "step": "frame 12 of 30",
    "seconds": 1.8,
    "formats": ["json", "mp4", "mkv"],
    "error": None,
    "status": None,
}

WAITING: dict[str, Any] = {**JOB, "state": "queued", "position": 1, "progress": None, "step": ""}
WAITING["seconds"] = 0.0

AT: dict[str, Any] = {
    "x": 120,
    "y": 80,
    "valid": True,
    "value": 1.42,
    "sigma": 0.21,
    "unit": "m",
    "kind": "metric_depth",
    "direction": "larger is farther",
    "text": "1.42 ± 0.21 m",
}

MODELS: dict[str, Any] = {
    "defaults": {"depth": "small", "ask": "speaker", "video": "video", "people": True},
    "models": [
        {
            "name": "small",
            "purpose": "depth",
            "summary": "depth of any picture",
            "licence": "Apache-2.0",
            "commercial": True,
            "bytes": 50_000_000,
            "trained_on": "synthetic pictures",
            "here": True,
            "usable": True,
        }
    ],
}

LIMITS: dict[str, Any] = {
    "body_bytes": 32_000_000,
    "pixels": 24_000_000,
    "video_pixels": 2_100_000,
    "video_seconds": 60.0,
    "video_frames": 1800,
    "seconds": 120.0,
    "queue": 16,
    "rate_per_minute": 600.0,
    "keep_seconds": 900.0,
    "palettes": ["spectral", "turbo", "inferno", "grey"],
    "picture_types": [".jpg", ".png", ".webp"],
    "video_types": [".mp4", ".mov", ".mkv"],
    "version": "0.1.0",
    "token": False,
}

PHOTOGRAPHS: dict[str, Any] = {"examples": [{"name": "coffee.jpg", "text": "A cup of coffee"}]}

HEALTH: dict[str, Any] = {
    "status": "ok",
    "version": "0.1.0",
    "workers": 1,
    "ready": 1,
    "queue": 0,
    "error": None,
}

FAILING: dict[str, Any] = {
    **HEALTH,
    "status": "failing",
    "ready": 0,
    "error": "The worker processes cannot start: the last ended by signal 9; "
    "see what the server printed.",
}

METRICS = """# HELP sightline_queue_length Jobs that wait.
# TYPE sightline_queue_length gauge
sightline_queue_length 0
"""

#: What forms look like; files stand for themselves.
DEPTH_FORM = {"image": "photo.jpg", "sigma": True}
METRIC_FORM = {"image": "photo.jpg", "people": False, "length": ["200,200,330,200=8cm"]}
MEASURE_FORM = {**METRIC_FORM, "from": "200,200", "to": "420,300"}
ASK_FORM = {
    "image": "photo.jpg",
    "question": "which is nearest?",
    "points": ["A=120,80", "B=300,200"],
}
SCORE_FORM = {
    "video": "world.mp4",
    "scenario": "uniform",
    "truth": "world",
    "speeds": [2.5],
    "radii": [1.0],
    "condition": 3,
}
