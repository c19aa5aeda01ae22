"""Forms and bodies of requests. Settings are generated from the config classes of the features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import UploadFile
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from sightline.config import Palette, to_pydantic
from sightline.depth.config import DepthConfig
from sightline.errors import InputError
from sightline.metric.known_sizes import parse_known, parse_length, parse_pixels
from sightline.metric.options import MetricConfig
from sightline.server.errors import flags_to_fields

Scenario = Literal["uniform", "parabola", "collision"]
Direction = Literal["right", "left", "up", "down"]


def _parsed_by(parse: Callable[[str], object]) -> AfterValidator:
    """Return a validator that rejects texts which a worker could not parse."""

    def check(text: str) -> str:
        try:
            parse(text)
        except InputError as error:
            raise ValueError(flags_to_fields(str(error))) from None
        return text

    return AfterValidator(check)


_Text = Annotated[str, StringConstraints(max_length=120)]
Pixel = Annotated[_Text, _parsed_by(lambda text: parse_pixels(text, 2))]
#: Two pixels or a box with a length, and one pixel with a depth.
KnownLength = Annotated[_Text, _parsed_by(lambda text: parse_known(text, 4))]
KnownDepthAt = Annotated[_Text, _parsed_by(lambda text: parse_known(text, 2))]
Height = Annotated[_Text, _parsed_by(parse_length)]
FieldOfView = Annotated[float, Field(ge=1, le=175, allow_inf_nan=False)]
Radius = Annotated[float, Field(ge=0.2, le=2.5, allow_inf_nan=False)]
Speed = Annotated[float, Field(ge=0, le=8, allow_inf_nan=False)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]
ModelName = Annotated[str, StringConstraints(max_length=100)]

_IMAGE_TEXT = "picture: jpg, png, webp, gif, tiff, bmp, avif, jp2, hdr, exr …"
_VIDEO_TEXT = "video: mp4, mov, mkv, webm, avi or gif"

#: Stricter types of generated fields.
_TYPES = {
    "model": Annotated[ModelName | None, Field(examples=["small"])],
    "fov": Annotated[FieldOfView | None, Field(examples=[60])],
    "length": Annotated[
        list[KnownLength], Field(max_length=16, examples=[["120,400,180,400=0.9m"]])
    ],
    "depth_at": Annotated[list[KnownDepthAt], Field(max_length=64, examples=[["320,240=3.2m±5%"]])],
    "box": Annotated[list[KnownLength], Field(max_length=16, examples=[["10,20,60,180=2m"]])],
    "camera_height": Annotated[Height | None, Field(examples=["1.5m"])],
}
#: Descriptions of fields that differ from the command line: requests name no files.
_TEXTS = {
    "model": "name of a model in /v1/models; default: the first of them",
    "depth_at": "known depth at a pixel, x,y=3.2m; may be repeated",
    "length": "known length between two pixels, x,y,x,y=0.9m; may be repeated",
}
_EVIDENCE = ("people", "length", "depth_at", "box", "camera_height", "iris", "fov", "model")


class StrictModel(BaseModel):
    """Base of all request models; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")


def _generate(config: type, include: tuple[str, ...]) -> type[BaseModel]:
    """Return a request model with some settings of a config class."""
    return to_pydantic(
        config,
        base=StrictModel,
        include=include,
        types=_TYPES,
        defaults={"model": None},
        texts=_TEXTS,
    )


_DepthSettings = _generate(DepthConfig, ("model", "fov", "sigma", "tiles", "stabilize"))
_Evidence = _generate(MetricConfig, _EVIDENCE)


class DepthForm(_DepthSettings):  # type: ignore[misc, valid-type]
    """Form of `POST /v1/depth`."""

    image: UploadFile | None = Field(None, description=_IMAGE_TEXT)
    video: UploadFile | None = Field(None, description=_VIDEO_TEXT)
    palette: Palette = Field("spectral", description="color map of the format color and of videos")


class MetricForm(_Evidence):  # type: ignore[misc, valid-type]
    """Form of `POST /v1/metric`."""

    image: UploadFile = Field(description=_IMAGE_TEXT)
    palette: Palette = Field("spectral", description="color map of the format color")


class MeasureForm(_Evidence):  # type: ignore[misc, valid-type]
    """Form of `POST /v1/measure`."""

    image: UploadFile | None = Field(None, description=_IMAGE_TEXT)
    start: Pixel = Field(alias="from", description="first pixel x,y", examples=["120,80"])
    end: Pixel = Field(alias="to", description="second pixel x,y", examples=["300,200"])
    job: ModelName | None = Field(
        None, description="id of a finished metric job, instead of an image and evidence"
    )


class AskForm(StrictModel):
    """Form of `POST /v1/ask`."""

    image: UploadFile = Field(description=_IMAGE_TEXT)
    question: Annotated[str, StringConstraints(min_length=1, max_length=500)] = Field(
        description="about points (nearest, order, sides, yes or no), how many of a kind, or depth map",
        examples=["which is nearest?"],
    )
    points: list[_Text] = Field(
        default_factory=list,
        max_length=26,
        description="letter, column and row of each point, A to Z",
        examples=[["A=120,80", "B=300,200"]],
    )
    verify: bool = Field(
        True, description="prefer the answer of the decoded depth map where the text disagrees"
    )


class WorldRequest(StrictModel):
    """Body of `POST /v1/physics/world` and `/v1/physics/predict`: parameters of a world."""

    scenario: Scenario = "uniform"
    speeds: list[Speed] = Field(
        default_factory=list,
        max_length=2,
        description="speed of each ball in units/s; default: 2.5, in a collision 2 and 1",
    )
    radii: list[Radius] = Field(
        default_factory=list,
        max_length=2,
        description="radius of each ball in units; default: 1, in a collision 1 and 0.7",
    )
    seed: Seed = Field(0, description="random seed of the start positions")
    direction: Direction = "right"
    size: int = Field(128, ge=32, le=256, multiple_of=2, description="side of a frame in pixels")
    condition: int = Field(3, ge=1, le=16, description="number of given frames, not scored")

    @model_validator(mode="after")
    def _set_defaults(self) -> WorldRequest:
        collision = self.scenario == "collision"
        self.speeds = self.speeds or ([2.0, 1.0] if collision else [2.5])
        self.radii = self.radii or ([1.0, 0.7] if collision else [1.0])
        return self


class ScoreForm(StrictModel):
    """Form of `POST /v1/physics/score`."""

    video: UploadFile = Field(description=_VIDEO_TEXT)
    scenario: Scenario = "uniform"
    truth: Literal["law", "world", "none"] = Field(
        "law",
        description="ground truth: the law applied to the first frames, the world of the given "
        "parameters, or none",
    )
    speeds: list[Speed] = Field(default_factory=list, max_length=2)
    radii: list[Radius] = Field(default_factory=list, max_length=2)
    seed: Seed = 0
    direction: Direction = "right"
    condition: int = Field(3, ge=1, le=16, description="number of frames given to the model")
    fps: float | None = Field(
        None,
        gt=0,
        le=1000,
        allow_inf_nan=False,
        description="video frames per second of the world; default: 10",
    )
    panel: Literal["auto", "whole", "left", "middle", "right"] = "auto"
