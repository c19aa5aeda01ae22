"""Make the parts of the demo and put them on one page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from sightline.demo import depth, films, meters, question
from sightline.demo.part import Order, Part, Plan, Tell, attempt, failure
from sightline.io.atomic import make_folder, write_bytes
from sightline.reports.templating import check_ours, environment

PLANS = (
    Plan(
        "depth",
        "Depth from one photograph",
        "Drag the line to uncover depth, point at the picture to read a value; drag the cloud to turn "
        "it, scroll or pinch to come closer.",
        "",
        depth.make,
    ),
    Plan(
        "meters",
        "Meters, by a person in the picture",
        "Depth alone has no unit. A person is found, a body is fitted, and the picture gets meters "
        "with error bars.",
        "metric",
        meters.make,
    ),
    Plan(
        "ask",
        "A question, answered in steps",
        "The embedded VLM writes down what it perceives, depth included, before it concludes; the "
        "conclusion is then checked against the map that it wrote itself.",
        "perception",
        question.make,
    ),
    Plan(
        "films",
        "A video model, and what the laws say of it",
        "The embedded video model sees the first frames of a world whose laws are known and goes on by "
        "itself: with radii and speeds as in its training, and with others.",
        "perception,physics",
        films.make,
    ),
)

NAMES = tuple(plan.name for plan in PLANS)


def run_demo(
    out: Path, model: str, tell: Tell, *, live: str, only: Sequence[str] = NAMES
) -> tuple[Path, list[Part]]:
    """Make the page; return where it is, and its parts.

    Args:
        out: folder for the page and for what it links to.
        model: name of a depth model or a weight file.
        tell: told what is about to take a while.
        live: the command that starts the live page.
        only: names of the parts to make, in the order of the page.

    Raises:
        InputError: the folder or the model cannot be used, or holds a page of somebody else's.
    """
    order = Order(out, model, tell)
    make_folder(out)
    path = out / "index.html"
    check_ours(path)
    parts = [attempt(plan, order) for plan in PLANS if plan.name in only]
    return path, write(path, parts, live)


def write(path: Path, parts: Sequence[Part], live: str) -> list[Part]:
    """Write a page that stands alone; return its parts, those that failed on the way among them.

    Args:
        path: path of the page.
        parts: parts to show.
        live: the command that starts the live page.
    """
    page = environment("sightline.demo").get_template("demo.html")
    shown = [render(part) for part in parts]
    text = page.render(shown=shown, live=live)
    write_bytes(path, text.encode(errors="backslashreplace"))
    return [part for part, _ in shown]


def render(part: Part) -> tuple[Part, Markup]:
    """Return a part and its HTML; one that cannot be written is one that failed."""
    if part.missing:
        return part, Markup("")
    template = environment("sightline.demo").get_template(f"{part.plan.name}.html")
    try:
        return part, Markup(template.render(shown=part.fields))
    except Exception as error:  # ours: the other parts must not suffer
        return failure(part.plan, error), Markup("")
