"""`sightline demo`: the whole way once, on a photograph that comes with the package."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path


def demo(*, out: Path = Path("demo"), model: str = "default") -> int:
    """Estimate the depth of a photograph and write everything that can be looked at.

    Args:
        out: folder for the results.
        model: name of a model or a weight file.
    """
    from sightline.batch.options import DepthOptions
    from sightline.batch.run import prepare, run
    from sightline.cli.view import exhibit
    from sightline.examples import example_photograph
    from sightline.report import write_page

    options = DepthOptions(model=model, save=("npz", "color", "glb"))
    (job,) = prepare([example_photograph()], out, options)
    with closing(run([job], out, options)) as outcomes:
        for outcome in outcomes:
            if outcome.failure is not None:
                raise outcome.failure
    paths = dict(job.outputs)
    page = out / "index.html"
    write_page(page, [exhibit(paths["npz"])], title="Depth from one photograph")
    rows = (
        ("depth in colours", paths["color"]),
        ("the numbers", paths["npz"]),
        ("mesh for any 3D viewer", paths["glb"]),
        ("page to look at", page),
    )
    width = max(len(label) for label, _ in rows)
    for label, path in rows:
        print(f"{label:<{width}}  {path}")
    return 0
