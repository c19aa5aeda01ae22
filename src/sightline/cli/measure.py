"""`sightline measure IMAGE --from x,y --to x,y`: distances in a picture, with ±."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sightline.metric.options import Yardsticks


def measure(
    image: Annotated[Path, Parameter(name="IMAGE")],
    /,
    *,
    start: Annotated[str, Parameter(name="--from")],
    end: Annotated[str, Parameter(name="--to")],
    options: Annotated[Yardsticks, Parameter(name="*")] = Yardsticks(),  # noqa: B008 - frozen
) -> int:
    """Measure between two pixels of a picture, or of a map in metres (.npz).

    Args:
        image: a picture, measured by people in it or by what you know; or a .npz of `sightline metric`.
        start: pixel x,y; the top left one is 0,0.
        end: pixel x,y.
        options: everything else; one flag per field.
    """
    from sightline.cli.metric import told
    from sightline.metric.measured import measure as measured
    from sightline.metric.measured import origin_of

    result, metres = measured(image, start, end, options)
    if metres is None:
        print(f"by {origin_of(image)}")
    else:
        for clue in metres.fit.clues:
            print(f"by {told(clue, alone=len(metres.fit.clues) == 1)}")
    notes = dict.fromkeys((*(() if metres is None else metres.warnings), *result.notes))
    for note in notes:
        print(f"note: {note}")
    right, down, farther = result.across
    heights = () if result.heights is None else result.heights
    rows = (
        ("distance", f"{result.distance} m"),
        ("to the right", f"{right} m"),
        ("down", f"{down} m"),
        ("farther away", f"{farther} m"),
        ("depth of the first", f"{result.depths[0]} m"),
        ("depth of the second", f"{result.depths[1]} m"),
        ("camera to the first", f"{result.ranges[0]} m"),
        ("camera to the second", f"{result.ranges[1]} m"),
        ("rise in the picture", f"{result.elevation}°"),
        ("angle between them", f"{result.angle}°"),
        *(
            (f"{which} over the floor", f"{height} m")
            for which, height in zip(("first", "second"), heights, strict=False)
        ),
    )
    for name, value in rows:
        print(f"{name:<22}{value}")
    return 0
