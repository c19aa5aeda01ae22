"""`sightline depth INPUT... --out DIR`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from sightline.config import Flag, ParallelConfig
from sightline.depth.config import DepthConfig
from sightline.jobs.options import BatchConfig


def depth(
    inputs: Annotated[list[str], Parameter(name="INPUT")],
    /,
    *,
    out: str = "depth",
    json: Flag = False,
    config: Annotated[DepthConfig, Parameter(name="*")] = DepthConfig(),  # noqa: B008
    batch: Annotated[BatchConfig, Parameter(name="*")] = BatchConfig(),  # noqa: B008
    parallel: Annotated[ParallelConfig, Parameter(name="*")] = ParallelConfig(),  # noqa: B008
) -> int:
    """Estimate depth of images and videos.

    Without --keep-going the first invalid file ends the run; results written before are kept.

    Args:
        inputs: images, videos, folders, quoted globs, or their URLs (s3://, gs://, hf://, …).
        out: output folder or URL.
        json: print one line of JSON per input on the standard output, and nothing else.
        config: settings of the model.
        batch: settings of the files.
        parallel: where to run.
    """
    from sightline.cli.batch import run_batch
    from sightline.jobs.depth import DepthTask

    task = DepthTask(config, batch)
    return run_batch(
        task, inputs, out, parallel, json=json, resume=batch.resume, keep_going=batch.keep_going
    )
