"""`sightline measure IMAGE --from x,y --to x,y`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sightline.metric.options import MetricConfig


def measure(
    image: Annotated[Path, Parameter(name="IMAGE")],
    /,
    *,
    start: Annotated[str, Parameter(name="--from")],
    end: Annotated[str, Parameter(name="--to")],
    config: Annotated[MetricConfig, Parameter(name="*")] = MetricConfig(),  # noqa: B008
) -> int:
    """Measure the distance between two pixels of an image or of a metric depth map.

    Args:
        image: an image, or a .npz file of `sightline metric`.
        start: first pixel x,y; 0,0 is the top left.
        end: second pixel x,y.
        config: evidence and settings of the models.
    """
    from sightline.metric.api import measure_file, origin_of
    from sightline.metric.work import describe_evidence

    result, meters = measure_file(image, start, end, config)
    if meters is None:
        print(f"by {origin_of(image)}")
    else:
        for item in meters.fit.evidence:
            print(f"by {describe_evidence(item, alone=len(meters.fit.evidence) == 1)}")
    notes = dict.fromkeys((*(() if meters is None else meters.warnings), *result.notes))
    for note in notes:
        print(f"note: {note}")
    right, down, farther = result.across
    heights = () if result.heights is None else result.heights
    rows = (
        ("distance", str(result.distance)),
        ("to the right", str(right)),
        ("down", str(down)),
        ("farther away", str(farther)),
        ("depth of the first", str(result.depths[0])),
        ("depth of the second", str(result.depths[1])),
        ("camera to the first", str(result.ranges[0])),
        ("camera to the second", str(result.ranges[1])),
        ("rise in the picture", str(result.elevation)),
        ("angle between them", str(result.angle)),
        *(
            (f"{which} over the floor", str(height))
            for which, height in zip(("first", "second"), heights, strict=False)
        ),
    )
    for name, value in rows:
        print(f"{name:<22}{value}")
    return 0
