"""What the three physics jobs share: worlds by their parameters, tracks, laws, and files of frames."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from PIL import Image

from sightline.app.tasks import law_words
from sightline.app.tasks.order import Order, tidy
from sightline.errors import InputError
from sightline.files import png
from sightline.files.atomic import atomic_path, write_bytes
from sightline.physics.data.mp4 import RATE, encode
from sightline.physics.laws import LAWS, check_laws, is_abnormal
from sightline.physics.parse import State, Tracks, parse, prior_of
from sightline.physics.score.words import law_title, right_value
from sightline.physics.types import WORLD_SIDE, Doubles, Frames, Motion, Shape
from sightline.physics.worlds.buckets import bucket
from sightline.physics.worlds.draws import tag_of
from sightline.physics.worlds.make import simulate
from sightline.physics.worlds.ranges import ranges
from sightline.physics.worlds.sampling import all_fit, place_pair, place_single

#: Frames side by side on a sheet.
_COLUMNS = 8
#: Widest frame on a sheet in [px].
_WIDEST = 256

_RANGE_WORDS = {
    "in": "inside the range that the reference trains on",
    "r_out": "the radius is outside the range that the reference trains on",
    "v_out": "the speed is outside the range that the reference trains on",
    "rv_out": "radius and speed are outside the range that the reference trains on",
    "zero_speed": "a ball at rest, which the reference never trains on",
}


def world_of(fields: dict[str, Any]) -> Motion:
    """Let the balls of a request move.

    Args:
        fields: `scenario`, `radii`, `speeds`, `seed`, `direction`.
    """
    scenario, balls = fields["scenario"], balls_of(fields["scenario"])
    radii, speeds = fields["radii"], fields["speeds"]
    if len(radii) != balls or len(speeds) != balls:
        count = "one radius and one speed" if balls == 1 else "two radii and two speeds"
        raise InputError(f"{scenario} takes {count}, got {len(radii)} and {len(speeds)}")
    init = np.array([[*radii, *speeds]], np.float64)
    index = np.zeros(1, np.int64)
    tag = tag_of("serve", scenario)
    if scenario == "collision":
        if not all_fit(init)[0]:
            raise InputError(
                "these two balls cannot meet in the picture with time before and after",
                remedy="make them smaller, or slower, but not both at rest",
            )
        starts = place_pair(init, seed=fields["seed"], tag=tag, indexes=index)
    else:
        starts = place_single(
            init, falling=scenario == "parabola", seed=fields["seed"], tag=tag, indexes=index
        )
    return simulate(scenario, init, starts, direction=fields["direction"])[0]


def balls_of(scenario: str) -> int:
    """How many balls a scenario has."""
    return 2 if scenario == "collision" else 1


def range_of(scenario: str, init: Doubles) -> dict[str, Any]:
    """Say whether (K,) radii and speeds lie where the reference trains, and where that is."""
    name = str(bucket(scenario, init[None])[0])
    return {
        "bucket": name,
        "in_training_range": name == "in",
        "text": _RANGE_WORDS[name],
        **{key: list(value) for key, value in asdict(ranges(scenario)).items()},
    }


def asked(
    frames: Frames, motion: Motion | None, scenario: str, frame_time: float, first: int
) -> dict[str, Any]:
    """Parse a video and ask every law about it.

    Args:
        frames: (T, S, S, 3) uint8 RGB.
        motion: what should have happened, of as many frames; None where nobody knows.
        scenario: which laws hold.
        frame_time: seconds between frames.
        first: frame from which on it is compared with the truth.
    """
    prior = None if motion is None else prior_of(motion)
    tracks = parse(frames, frame_time=frame_time, prior=prior)
    scores = check_laws(tracks, motion, scenario, first=first)
    verdict = is_abnormal(tracks, scenario)
    laws = []
    for law in LAWS:
        wrong = [one for one in scores.violations if one.law == law.name]
        laws.append(
            {
                "name": law.name,
                "title": law_title(law.name),
                "says": law_words.MEANINGS[law.name],
                "unit": "" if law.unit == "1" else law.unit,
                "value": scores.values[law.name],
                "text": law_words.measured(law, scores.values[law.name], wrong),
                "allowed": law_words.allowed(law, scenario),
                "right": right_value(law.name, scenario),
                "interval": scores.intervals.get(law.name),
                "tolerance": law.tolerance,
                "tolerance_unit": (law.limit_unit or law.unit).removeprefix("1"),
                "violated": bool(wrong),
                "violations": [
                    {"frame": int(one.frame), "body": int(one.body), "size": one.size}
                    for one in wrong
                ],
            }
        )
    return {
        "tracks": tracks_of(tracks),
        "laws": laws,
        "abnormal": {
            "abnormal": verdict.abnormal,
            "reasons": law_words.reasons(verdict.violations, tracks.bodies, frame_time)
            if verdict.abnormal
            else [],
        },
        "coverage": scores.coverage,
    }


def tracks_of(tracks: Tracks) -> list[dict[str, Any]]:
    """Return what was measured of each body, frame by frame."""
    return [
        {
            "colour": colour_of(tracks.body_colours[body]),
            "shape": Shape(int(tracks.body_shapes[body])).name.lower(),
            "radius": float(tracks.sizes[body]),
            "positions": rounded(tracks.positions[:, body]),
            "sigma": rounded(tracks.position_sigma[:, body]),
            "radii": rounded(tracks.radii[:, body]),
            "states": [State(int(state)).name.lower() for state in tracks.states[:, body]],
        }
        for body in range(tracks.bodies)
    ]


def bodies_of(motion: Motion) -> list[dict[str, Any]]:
    """Return where each body truly is, frame by frame."""
    return [
        {
            "colour": colour_of(motion.colours[body]),
            "shape": Shape(int(motion.shapes[body])).name.lower(),
            "radius": float(motion.sizes[body]),
            "positions": rounded(motion.positions[:, body]),
            "velocities": rounded(motion.velocities[:, body]),
        }
        for body in range(len(motion.sizes))
    ]


def scene(frames: Frames, frame_time: float) -> dict[str, Any]:
    """Say what every physics answer says of its video."""
    return {
        "frames": len(frames),
        "size": int(frames.shape[1]),
        "world_side": WORLD_SIDE,
        "frame_time": frame_time,
    }


def rounded(values: Doubles) -> Any:
    """Return numbers of a world as JSON has them: a ten-thousandth of a unit is enough."""
    return tidy(values.tolist(), 4)


def colour_of(rgb: Any) -> str:
    """Write a colour as web pages do."""
    return "#" + "".join(f"{int(level):02x}" for level in rgb)


def store_frames(order: Order, frames: Frames) -> None:
    """Keep frames for other formats, and write the one that is waited for."""
    if order.keep or order.wanted == "npz":
        with atomic_path(order.path("npz")) as temporary:
            np.savez_compressed(temporary, frames=frames)
    if order.wanted in ("mp4", "png"):
        write_frames(order, frames)


def make_again(order: Order) -> None:
    """Make another file of frames that are kept."""
    with np.load(order.path("npz"), allow_pickle=False) as file:
        write_frames(order, file["frames"])


def write_frames(order: Order, frames: Frames) -> None:
    """Write a video, or a sheet of its frames."""
    if order.wanted == "mp4":
        even = frames[:, : frames.shape[1] & ~1, : frames.shape[2] & ~1]
        write_bytes(order.path(), encode(even, "standard", RATE))
    else:
        write_bytes(order.path(), png.encode(sheet(frames), {}))


def sheet(frames: Frames) -> Frames:
    """(T, S, S, 3) frames side by side, eight in a row, a line between them."""
    if frames.shape[2] > _WIDEST:
        high = round(frames.shape[1] * _WIDEST / frames.shape[2])
        frames = np.stack(
            [np.asarray(Image.fromarray(one).resize((_WIDEST, max(1, high)))) for one in frames]
        )
    count, height, width = frames.shape[:3]
    rows = -(-count // _COLUMNS)
    sheet = np.full((rows * (height + 1) - 1, _COLUMNS * (width + 1) - 1, 3), 200, np.uint8)
    for number, frame in enumerate(frames):
        top, left = number // _COLUMNS * (height + 1), number % _COLUMNS * (width + 1)
        sheet[top : top + height, left : left + width] = frame
    return sheet
