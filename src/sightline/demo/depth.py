"""Depth of a photograph, with its numbers, its mesh and a cloud to turn."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from sightline.demo.part import Order, Shown


def make(order: Order) -> Shown:
    """Estimate the depth of the cup of coffee, and write everything that can be looked at."""
    from sightline.depth.config import DepthConfig
    from sightline.examples import example_photograph
    from sightline.io.depth_files import read_depth
    from sightline.io.images import read_picture
    from sightline.jobs import BatchConfig, DepthTask, run
    from sightline.reports import Exhibit
    from sightline.reports.page import fields_of

    order.tell("depth of a photograph")
    config, batch = DepthConfig(model=order.model), BatchConfig(save=("npz", "color", "glb"))
    task = DepthTask(config, batch)
    (job,) = task.prepare([example_photograph()], order.out)
    with closing(run(task, [job], order.out)) as outcomes:
        for outcome in outcomes:
            if outcome.failure is not None:
                raise outcome.failure
    paths = {kind: Path(str(path)) for kind, path in job.outputs}
    depth = read_depth(paths["npz"])
    files = {name: paths[name] for name in ("npz", "glb")} | {"colors": paths["color"]}
    exhibit = Exhibit("a cup of coffee", depth, read_picture(example_photograph()).pixels, files)
    lines = (
        f"in colors              {paths['color']}",
        f"the numbers             {paths['npz']}",
        f"mesh for any 3D viewer  {paths['glb']}",
    )
    return Shown({"exhibit": fields_of(exhibit, order.out)}, lines)
