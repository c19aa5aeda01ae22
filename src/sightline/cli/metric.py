"""`sightline metric INPUT... --out DIR`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from sightline.config import Flag, ParallelConfig
from sightline.jobs.options import BatchConfig
from sightline.metric.options import MetricConfig


def metric(
    inputs: Annotated[list[str], Parameter(name="INPUT")],
    /,
    *,
    out: str = "metric",
    json: Flag = False,
    config: Annotated[MetricConfig, Parameter(name="*")] = MetricConfig(),  # noqa: B008
    batch: Annotated[BatchConfig, Parameter(name="*")] = BatchConfig(),  # noqa: B008
    parallel: Annotated[ParallelConfig, Parameter(name="*")] = ParallelConfig(),  # noqa: B008
) -> int:
    """Estimate metric depth of images, with uncertainty, from people or known sizes.

    Beside the requested files, a .json file lists the evidence and how well each piece of it agrees
    with the result.

    Args:
        inputs: images, folders, quoted globs, or their URLs (s3://, gs://, hf://, …).
        out: output folder or URL.
        json: print one line of JSON per input on the standard output, and nothing else.
        config: evidence and settings of the models.
        batch: settings of the files.
        parallel: where to run.
    """
    from sightline.cli.batch import run_batch
    from sightline.jobs.metric import MetricTask

    task = MetricTask(config, batch)
    return run_batch(
        task, inputs, out, parallel, json=json, resume=batch.resume, keep_going=batch.keep_going
    )
