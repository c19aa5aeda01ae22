"""What requests may hold and what answers do hold: checked on the way in, described in OpenAPI."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from sightline.app.problems import without_flags
from sightline.errors import InputError
from sightline.metric.yardsticks.words import parse_known, parse_length, parse_pixels

Palette = Literal["spectral", "turbo", "inferno", "grey"]
Scenario = Literal["uniform", "parabola", "collision"]
Direction = Literal["right", "left", "up", "down"]


def _readable(read: Callable[[str], object]) -> AfterValidator:
    """Say at once what is wrong with words that a worker would not understand either."""

    def check(text: str) -> str:
        try:
            read(text)
        except InputError as error:
            raise ValueError(without_flags(str(error))) from None
        return text

    return AfterValidator(check)


#: A yardstick or a point, as people type it.
Word = Annotated[str, StringConstraints(max_length=120)]
#: A pixel; two pixels or a box with a length; a pixel with a depth; a length alone.
Pixel = Annotated[Word, _readable(lambda text: parse_pixels(text, 2))]
Known4 = Annotated[Word, _readable(lambda text: parse_known(text, 4))]
Known2 = Annotated[Word, _readable(lambda text: parse_known(text, 2))]
Height = Annotated[Word, _readable(parse_length)]
Fov = Annotated[float, Field(ge=1, le=175, allow_inf_nan=False)]
Radius = Annotated[float, Field(ge=0.2, le=2.5, allow_inf_nan=False)]
Speed = Annotated[float, Field(ge=0, le=8, allow_inf_nan=False)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]
ModelName = Annotated[str, StringConstraints(max_length=100)]


class Strict(BaseModel):
    """Nothing but what is named."""

    model_config = ConfigDict(extra="forbid")


class DepthFields(Strict):
    """Fields of `POST /v1/depth` beside the file `image` or `video`."""

    model: ModelName | None = Field(None, description="name out of /v1/models", examples=["small"])
    fov: Fov | None = Field(None, description="horizontal field of view in degrees", examples=[60])
    sigma: bool = Field(False, description="add error bars (pictures only, four times the work)")
    tiles: bool = Field(False, description="look again at tiles, for detail (ten times the work)")
    palette: Palette = Field("spectral", description="colours of the format color and of videos")
    steady: bool = Field(True, description="steady a video from frame to frame")


class Yardsticks(Strict):
    """What is known of a picture."""

    people: bool = Field(True, description="look for people and measure by them")
    length: list[Known4] = Field(
        default_factory=list,
        max_length=16,
        description="a known length between two pixels, several if there are several",
        examples=[["120,400,180,400=0.9m"]],
    )
    depth_at: list[Known2] = Field(
        default_factory=list,
        max_length=64,
        description="a known depth at a pixel",
        examples=[["320,240=3.2m±5%"]],
    )
    box: list[Known4] = Field(
        default_factory=list,
        max_length=16,
        description="a thing of known height: left,top,right,bottom=height",
        examples=[["10,20,60,180=2m"]],
    )
    camera_height: Height | None = Field(None, description="over the floor", examples=["1.5m"])
    iris: bool = Field(False, description="measure by irises, 11.7 mm wide: for portraits")
    fov: Fov | None = Field(None, description="horizontal field of view in degrees", examples=[60])
    model: ModelName | None = Field(None, description="name out of /v1/models", examples=["small"])


class MetricFields(Yardsticks):
    """Fields of `POST /v1/metric` beside the file `image`."""

    palette: Palette = Field("spectral", description="colours of the format color")


class MeasureFields(Yardsticks):
    """Fields of `POST /v1/measure` beside the file `image`."""

    start: Pixel = Field(alias="from", description="pixel x,y", examples=["120,80"])
    end: Pixel = Field(alias="to", description="pixel x,y", examples=["300,200"])
    job: ModelName | None = Field(
        None, description="a metric job that is done, instead of a picture and yardsticks"
    )


class AskFields(Strict):
    """Fields of `POST /v1/ask` beside the file `image`."""

    question: Annotated[str, StringConstraints(min_length=1, max_length=500)] = Field(
        description="which is nearest (with points), how many of a kind, or depth map",
        examples=["which is nearest?"],
    )
    points: list[Word] = Field(
        default_factory=list,
        max_length=16,
        description="letter, column and row of each, A to E",
        examples=[["A=120,80", "B=300,200"]],
    )
    verify: bool = Field(True, description="let perception decide where words disagree with it")


class World(Strict):
    """A world by its parameters: body of `POST /v1/physics/world` and `/v1/physics/predict`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"scenario": "uniform", "speeds": [2.5], "radii": [1.0]},
                {"scenario": "collision", "speeds": [2.0, 1.0], "radii": [1.0, 0.7], "seed": 3},
            ]
        },
    )

    scenario: Scenario = "uniform"
    speeds: list[Speed] = Field(
        default_factory=list,
        max_length=2,
        description="of each ball, in units/s; where none is given 2.5, in a collision 2 and 1",
    )
    radii: list[Radius] = Field(
        default_factory=list,
        max_length=2,
        description="of each ball, in units; where none is given 1, in a collision 1 and 0.7",
    )
    seed: Seed = Field(0, description="of the places that the balls start from")
    direction: Direction = "right"
    size: int = Field(128, ge=32, le=256, multiple_of=2, description="side of a frame in pixels")
    condition: int = Field(3, ge=1, le=16, description="frames that are given, not scored")

    @model_validator(mode="after")
    def _with_balls(self) -> World:
        two = self.scenario == "collision"
        self.speeds = self.speeds or ([2.0, 1.0] if two else [2.5])
        self.radii = self.radii or ([1.0, 0.7] if two else [1.0])
        return self


class ScoreFields(Strict):
    """Fields of `POST /v1/physics/score` beside the file `video`."""

    scenario: Scenario = "uniform"
    truth: Literal["law", "world", "none"] = Field(
        "law",
        description="what should have happened: by the law from the first frames, in the world of "
        "these parameters, or nobody knows",
    )
    speeds: list[Speed] = Field(default_factory=list, max_length=2)
    radii: list[Radius] = Field(default_factory=list, max_length=2)
    seed: Seed = 0
    direction: Direction = "right"
    condition: int = Field(3, ge=1, le=16, description="frames that the model was given")
    fps: float | None = Field(
        None,
        gt=0,
        le=1000,
        allow_inf_nan=False,
        description="frames of the video per second of the world; default: 10",
    )
    panel: Literal["auto", "whole", "left", "middle", "right"] = "auto"


# What comes back.


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
