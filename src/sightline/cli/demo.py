"""`sightline demo`: the whole way once, on a photograph that comes with the package."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from sightline.batch.options import Flag


def demo(
    *, out: Path = Path("demo"), model: str = "default", people: Flag = False, ask: Flag = False
) -> int:
    """Estimate the depth of a photograph and write everything that can be looked at.

    Args:
        out: folder for the results.
        model: name of a model or a weight file.
        people: metres, by the person in another photograph (fetches the networks that find people).
        ask: ask the embedded speaker which of two points is nearest, and see how it gets there.
    """
    if ask:
        return _ask(out)
    if people:
        from sightline.cli.metric import metric
        from sightline.examples import example_person
        from sightline.metric.options import MetricOptions

        options = MetricOptions(model=model)
        return metric(
            [str(example_person())], out=out, save=("npz", "color", "glb"), options=options
        )
    from sightline.batch.options import DepthOptions
    from sightline.batch.run import prepare, run
    from sightline.cli.view import exhibit
    from sightline.examples import example_photograph
    from sightline.report import write_page

    wanted = DepthOptions(model=model, save=("npz", "color", "glb"))
    (job,) = prepare([example_photograph()], out, wanted)
    with closing(run([job], out, wanted)) as outcomes:
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


def _ask(out: Path) -> int:
    """Ask about the cup and the table behind it."""
    from sightline.cli.ask import ask
    from sightline.examples import example_photograph

    path = out / "ask.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    ask(
        example_photograph(),
        "which is nearest?",
        points=["A=60,40", "B=330,330"],
        picture=path,
        force=True,
    )
    print(path)
    return 0
