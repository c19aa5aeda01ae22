"""What requests may hold: checked on the way in, described in OpenAPI; answers are in `replies`."""

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
