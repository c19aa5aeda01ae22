"""Depth of a photograph, with its numbers, its mesh and a cloud to turn."""

from __future__ import annotations

from contextlib import closing

from sightline.demo.part import Order, Shown


def make(order: Order) -> Shown:
    """Estimate the depth of the cup of coffee, and write everything that can be looked at."""
    from sightline.batch.options import DepthOptions
    from sightline.batch.run import prepare, run
    from sightline.examples import example_photograph
    from sightline.files.depth_files import read_depth
    from sightline.files.pictures import read_picture
    from sightline.report import Exhibit
    from sightline.report.page import fields_of

    order.tell("depth of a photograph")
    wanted = DepthOptions(model=order.model, save=("npz", "color", "glb"))
    (job,) = prepare([example_photograph()], order.out, wanted)
    with closing(run([job], order.out, wanted)) as outcomes:
        for outcome in outcomes:
            if outcome.failure is not None:
                raise outcome.failure
    paths = dict(job.outputs)
    depth = read_depth(paths["npz"])
    files = {name: paths[name] for name in ("npz", "glb")} | {"colours": paths["color"]}
    exhibit = Exhibit("a cup of coffee", depth, read_picture(example_photograph()).pixels, files)
    lines = (
        f"in colours              {paths['color']}",
        f"the numbers             {paths['npz']}",
        f"mesh for any 3D viewer  {paths['glb']}",
    )
    return Shown({"exhibit": fields_of(exhibit, order.out)}, lines)
