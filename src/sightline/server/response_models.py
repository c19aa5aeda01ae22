"""Response models of the API, as shown in its OpenAPI description."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from sightline.server.request_models import Direction, Scenario


class ErrorResponse(BaseModel):
    """An error in one sentence."""

    error: str = Field(examples=["Image: is damaged or truncated; copy or download it again."])


class JobResponse(BaseModel):
    """State of a job."""

    id: str
    kind: str = Field(examples=["depth"])
    state: Literal["queued", "running", "done", "failed", "canceled"]
    position: int = Field(description="position in the queue; 1 is next, 0 if not waiting")
    progress: float | None = Field(description="completed share, 0 to 1")
    step: str = Field(examples=["frame 12 of 30"])
    seconds: float
    formats: list[str]
    error: str | None
    status: int | None


class CameraInfo(BaseModel):
    """Camera intrinsics in pixels."""

    fx: float
    fy: float
    cx: float
    cy: float
    fov: float = Field(description="horizontal, in degrees")
    source: Literal["given", "exif", "estimated", "assumed"]


class DepthResponse(BaseModel):
    """Description of a depth map; other formats hold its values."""

    kind: Literal["relative_disparity", "metric_depth", "metric_disparity"]
    unit: Literal["", "m", "1/m"]
    direction: Literal["larger is nearer", "larger is farther"]
    width: int
    height: int
    camera: CameraInfo | None
    minimum: float | None
    maximum: float | None
    low: float = Field(description="lower end of the color range")
    high: float = Field(description="upper end of the color range")
    valid_share: float
    sigma: bool = Field(description="whether the map has error bars")
    model: str = Field(examples=["small@0123456789ab"])
    seconds: float


class VideoDepthResponse(BaseModel):
    """Description of a depth video."""

    kind: str
    unit: str
    direction: str
    frames: int
    fps: float
    width: int
    height: int
    cuts: list[int]
    damage: str | None
    partial: bool = Field(description="whether the time limit ended the video early")
    frames_total: int | None = Field(description="frames of the whole video, if declared")
    model: str
    seconds: float


class EvidenceInfo(BaseModel):
    """One piece of evidence of scale and how well the result fits it."""

    name: str = Field(examples=["person 1"])
    kind: str
    sigma: float
    residual: float
    weight: float
    contradicts: bool
    alone_distances_times: float
    text: str


class PersonInfo(BaseModel):
    """A detected person."""

    name: str
    box: list[float] = Field(description="left, top, right, bottom in pixels")
    outline: list[list[list[int]]] = Field(description="closed polygons (x, y), the largest first")
    confidence: float
    height_m: float | None
    height_sigma_m: float | None
    distance_m: float | None
    distance_sigma_m: float | None
    text: str
    warnings: list[str]


class MetricResponse(DepthResponse):
    """Description of a metric depth map and its evidence."""

    median_depth_m: float
    median_sigma_share: float
    focal_sigma: float
    evidence: list[EvidenceInfo]
    people: list[PersonInfo]
    warnings: list[str]


class MeasuredValue(BaseModel):
    """A value with one standard deviation."""

    value: float
    sigma: float
    unit: str
    text: str = Field(examples=["1.42 ± 0.21 m"])


class MeasureResponse(BaseModel):
    """Measurement between two pixels."""

    start: list[float] = Field(alias="from")
    end: list[float] = Field(alias="to")
    distance: MeasuredValue
    depths: list[MeasuredValue]
    ranges: list[MeasuredValue]
    right: MeasuredValue
    down: MeasuredValue
    farther: MeasuredValue
    elevation: MeasuredValue
    angle: MeasuredValue
    heights: list[MeasuredValue] | None
    evidence: list[str]
    warnings: list[str]


class AskResponse(BaseModel):
    """An answer with its reasoning steps; for counts, with `kind` and `boxes` instead of points."""

    asked: Literal["nearest", "points", "count", "map"]
    answer: str | int | None
    said: str | int | None
    perceived: str | int | None
    agrees: bool | None
    verified: bool
    text: str
    caution: str
    chain: list[str]
    verdict: str
    map_png: str | None
    picture_png: str
    model: str
    seconds: float


class TrainingRange(BaseModel):
    """Position of a world relative to the training range of the reference."""

    bucket: Literal["in", "r_out", "v_out", "rv_out", "zero_speed"]
    in_training_range: bool
    text: str
    radius: list[float]
    speed: list[float]
    radius_low: list[float]
    radius_high: list[float]
    speed_low: list[float]
    speed_high: list[float]


class BodyMotion(BaseModel):
    """True motion of a body per frame; x right, y up, in units of a world with side 10."""

    color: str
    shape: str
    radius: float
    positions: list[list[float]]
    velocities: list[list[float]]


class BodyTrack(BaseModel):
    """Measured motion of a body per frame."""

    color: str
    shape: str
    radius: float
    positions: list[list[float]]
    sigma: list[list[float]]
    radii: list[float]
    states: list[str]


class LawViolation(BaseModel):
    """A violation of a law."""

    frame: int = Field(description="frame of the largest violation, or of its start; from 0")
    body: int = Field(description="index in `tracks`; -1 for all bodies")
    size: float = Field(description="size in the unit of the tolerance")


class LawResult(BaseModel):
    """Result of a law for a video."""

    name: str
    title: str
    description: str = Field(description="what the law measures")
    unit: str = Field(description="unit of the value; empty for a share or ratio")
    value: float | None
    text: str | None = Field(description="value with unit")
    allowed: str = Field(description="allowed values")
    expected: float | None
    interval: list[float] | None
    tolerance: float
    tolerance_unit: str = Field(description="empty for a share or ratio")
    violated: bool
    violations: list[LawViolation]


class AbnormalityResult(BaseModel):
    """Whether a human rater would call the video abnormal, and why."""

    abnormal: bool
    reasons: list[str]


class PhysicsResponse(BaseModel):
    """Tracks and law errors of a video."""

    scenario: Scenario
    frames: int
    size: int
    world_side: float
    frame_time: float
    bodies: list[BodyMotion]
    tracks: list[BodyTrack]
    laws: list[LawResult]
    abnormal: AbnormalityResult
    coverage: float
    range: TrainingRange | None
    seconds: float


class WorldResponse(PhysicsResponse):
    """A simulated world."""

    speeds: list[float]
    radii: list[float]
    seed: int
    direction: Direction
    gravity: float


class ScoreResponse(PhysicsResponse):
    """A scored video."""

    condition: int
    truth: Literal["law", "world", "none"]
    note: str


class PredictResponse(ScoreResponse):
    """A video predicted by the model."""

    speeds: list[float]
    radii: list[float]
    seed: int
    direction: Direction
    model: str


class PixelResponse(BaseModel):
    """Value of a depth map at one pixel."""

    x: int
    y: int
    valid: bool
    value: float | None
    sigma: float | None
    unit: str
    kind: str
    direction: str
    text: str


class ModelInfo(BaseModel):
    """A registered model, or a file given at the start of the server."""

    name: str
    purpose: str
    summary: str
    license: str
    commercial: bool
    bytes: int
    trained_on: str
    downloaded: bool = Field(description="whether its weights are on the server")
    usable: bool = Field(description="whether requests can use it")


class DefaultModels(BaseModel):
    """Default models; None where there is none."""

    depth: str
    ask: str | None
    video: str | None
    people: bool


class ModelsResponse(BaseModel):
    """All models."""

    defaults: DefaultModels
    models: list[ModelInfo]


class LimitsResponse(BaseModel):
    """Limits and accepted inputs of the server."""

    max_body_bytes: int
    max_pixels: int
    max_video_pixels: int
    max_video_seconds: float
    max_video_frames: int
    job_timeout: float
    frame_timeout: float
    video_timeout: float
    max_queue: int
    rate: float
    keep_seconds: float
    palettes: list[str]
    picture_types: list[str]
    video_types: list[str]
    version: str
    token: bool


class ExampleInfo(BaseModel):
    """A bundled photograph."""

    name: str
    text: str


class ExamplesResponse(BaseModel):
    """All bundled photographs."""

    examples: list[ExampleInfo]


class HealthResponse(BaseModel):
    """Health of the server."""

    status: Literal["ok", "starting", "failing"]
    version: str
    workers: int
    ready: int
    queue: int
    error: str | None = Field(description="why workers cannot start, if they cannot")
