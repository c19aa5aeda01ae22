"""`sightline label INPUT... --model TEACHER --out LABELS`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from sightline.config import Flag, ParallelConfig
from sightline.depth.config import LabelConfig


def label(
    inputs: Annotated[list[str], Parameter(name="INPUT")],
    /,
    *,
    out: str = "labels",
    json: Flag = False,
    config: Annotated[LabelConfig, Parameter(name="*")] = LabelConfig(),  # noqa: B008
    parallel: Annotated[ParallelConfig, Parameter(name="*")] = ParallelConfig(),  # noqa: B008
) -> int:
    """Label images with a teacher network, to train a student.

    The label of an image is a 16-bit PNG of the same path and name below --out: relative inverse
    depth, 0 for the farthest and 65535 for the nearest pixel. Images that have a label are skipped,
    so the same command continues an interrupted run. Invalid images are reported at the end.

    Args:
        inputs: images, folders, quoted globs, or their URLs (s3://, gs://, hf://, …).
        out: output folder or URL.
        json: print one line of JSON per input on the standard output, and nothing else.
        config: settings of the teacher.
        parallel: where to run.
    """
    from sightline.cli.batch import run_batch
    from sightline.jobs.labels import LabelTask

    return run_batch(LabelTask(config), inputs, out, parallel, json=json)
