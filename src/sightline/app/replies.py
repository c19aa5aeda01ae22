"""What answers look like: the models that the description of the service shows."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from sightline.app.schemas import Direction, Scenario


class Error(BaseModel):
    """What is wrong, in words."""

    error: str = Field(examples=["Image: is damaged or truncated; copy or download it again."])


class JobAnswer(BaseModel):
    """How far a job is."""

    id: str
    kind: str = Field(examples=["depth"])
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    position: int = Field(description="in the queue, 1 is next; 0 when it does not wait")
    progress: float | None = Field(description="0 to 1")
    step: str = Field(examples=["frame 12 of 30"])
    seconds: float
    formats: list[str]
    error: str | None
    status: int | None


class CameraAnswer(BaseModel):
    """A lens in pixels."""

    fx: float
    fy: float
    cx: float
    cy: float
    fov: float = Field(description="horizontal, in degrees")
    source: Literal["given", "exif", "estimated", "assumed"]


class MapAnswer(BaseModel):
    """What a map is; its numbers come in the other formats."""

    kind: Literal["relative_disparity", "metric_depth", "metric_disparity"]
    unit: Literal["", "m", "1/m"]
    direction: Literal["larger is nearer", "larger is farther"]
    width: int
    height: int
    camera: CameraAnswer | None
    minimum: float | None
    maximum: float | None
    low: float = Field(description="lower end of the colours")
    high: float = Field(description="upper end of the colours")
    valid_share: float
    sigma: bool = Field(description="whether there are error bars")
    model: str = Field(examples=["small@0123456789ab"])
    seconds: float


class FilmAnswer(BaseModel):
    """What the depth of a video is."""

    kind: str
    unit: str
    direction: str
    frames: int
    fps: float
    width: int
    height: int
    cuts: list[int]
    damage: str | None
    model: str
    seconds: float


class YardstickAnswer(BaseModel):
    """What became of one thing of known size."""

    name: str = Field(examples=["person 1"])
    kind: str
    sigma: float
    residual: float
    weight: float
    contradicts: bool
    alone_distances_times: float
    text: str


class PersonAnswer(BaseModel):
    """Somebody in the picture."""

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


class MetricAnswer(MapAnswer):
    """What a map of metres is, and what it comes from."""

    median_depth_m: float
    median_sigma_share: float
    focal_sigma: float
    yardsticks: list[YardstickAnswer]
    people: list[PersonAnswer]
    warnings: list[str]


class ValueAnswer(BaseModel):
    """A number with one standard deviation."""

    value: float
    sigma: float
    unit: str
    text: str = Field(examples=["1.42 ± 0.21 m"])


class MeasureAnswer(BaseModel):
    """Two pixels in space."""

    start: list[float] = Field(alias="from")
    end: list[float] = Field(alias="to")
    distance: ValueAnswer
    depths: list[ValueAnswer]
    ranges: list[ValueAnswer]
    right: ValueAnswer
    down: ValueAnswer
    farther: ValueAnswer
    elevation: ValueAnswer
    angle: ValueAnswer
    heights: list[ValueAnswer] | None
    yardsticks: list[str]
    warnings: list[str]


class AskAnswer(BaseModel):
    """An answer with the steps that led to it; of a count, `kind` and `boxes` instead of points."""

    asked: Literal["nearest", "count", "map"]
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


class RangeAnswer(BaseModel):
    """Where a world lies beside what the reference trains on."""

    bucket: Literal["in", "r_out", "v_out", "rv_out", "zero_speed"]
    in_training_range: bool
    text: str
    radius: list[float]
    speed: list[float]
    radius_low: list[float]
    radius_high: list[float]
    speed_low: list[float]
    speed_high: list[float]


class BodyAnswer(BaseModel):
    """Where a body truly is, frame by frame; x to the right, y up, in units of a world of side 10."""

    colour: str
    shape: str
    radius: float
    positions: list[list[float]]
    velocities: list[list[float]]


class TrackAnswer(BaseModel):
    """Where a body was measured, frame by frame."""

    colour: str
    shape: str
    radius: float
    positions: list[list[float]]
    sigma: list[list[float]]
    radii: list[float]
    states: list[str]


class ViolationAnswer(BaseModel):
    """Where a law is broken."""

    frame: int = Field(description="where it is worst, or begins; the first is 0")
    body: int = Field(description="place in `tracks`, the first is 0; -1 where it is of all")
    size: float = Field(description="by how much, in the unit of the tolerance")


class LawAnswer(BaseModel):
    """What a law says about a video."""

    name: str
    title: str
    says: str = Field(description="what it is about, in a phrase")
    unit: str = Field(description="of the value; empty for a share or a ratio")
    value: float | None
    text: str | None = Field(description="the value as people say it")
    allowed: str = Field(description="what passes, as people say it")
    right: float | None
    interval: list[float] | None
    tolerance: float
    tolerance_unit: str = Field(description="empty for a share or a ratio")
    violated: bool
    violations: list[ViolationAnswer]


class AbnormalAnswer(BaseModel):
    """Whether a person would call a video abnormal, and why."""

    abnormal: bool
    reasons: list[str]


class PhysicsAnswer(BaseModel):
    """A video, what is seen in it, and what the laws say."""

    scenario: Scenario
    frames: int
    size: int
    world_side: float
    frame_time: float
    bodies: list[BodyAnswer]
    tracks: list[TrackAnswer]
    laws: list[LawAnswer]
    abnormal: AbnormalAnswer
    coverage: float
    range: RangeAnswer | None
    seconds: float


class WorldAnswer(PhysicsAnswer):
    """A world that was played."""

    speeds: list[float]
    radii: list[float]
    seed: int
    direction: Direction
    gravity: float


class ScoreAnswer(PhysicsAnswer):
    """A video that was scored."""

    condition: int
    truth: Literal["law", "world", "none"]
    note: str


class PredictAnswer(ScoreAnswer):
    """A video that a model made."""

    speeds: list[float]
    radii: list[float]
    seed: int
    direction: Direction
    model: str


class AtAnswer(BaseModel):
    """The value at one pixel."""

    x: int
    y: int
    valid: bool
    value: float | None
    sigma: float | None
    unit: str
    kind: str
    direction: str
    text: str


class ModelAnswer(BaseModel):
    """A model of the catalogue, or a file that this server was started with."""

    name: str
    purpose: str
    summary: str
    licence: str
    commercial: bool
    bytes: int
    trained_on: str
    here: bool = Field(description="whether it is on the server's disk")
    usable: bool = Field(description="whether this server runs it")


class DefaultsAnswer(BaseModel):
    """Which model does what; None where there is none."""

    depth: str
    ask: str | None
    video: str | None
    people: bool


class ModelsAnswer(BaseModel):
    """All models."""

    defaults: DefaultsAnswer
    models: list[ModelAnswer]


class LimitsAnswer(BaseModel):
    """What a request may cost."""

    body_bytes: int
    pixels: int
    video_pixels: int
    video_seconds: float
    video_frames: int
    seconds: float
    queue: int
    rate_per_minute: float
    keep_seconds: float
    palettes: list[str]
    picture_types: list[str]
    video_types: list[str]
    version: str
    token: bool


class ExampleAnswer(BaseModel):
    """A photograph that comes with the package."""

    name: str
    text: str


class ExamplesAnswer(BaseModel):
    """All photographs that come with the package."""

    examples: list[ExampleAnswer]


class HealthAnswer(BaseModel):
    """A sign of life."""

    status: Literal["ok", "starting", "failing"]
    version: str
    workers: int
    ready: int
    queue: int
    error: str | None = Field(description="why nothing can be done, where workers cannot start")
