"""What workers do: one file per kind of job."""

from __future__ import annotations

import importlib
from typing import Any

from sightline.app.tasks.order import Order
from sightline.app.tasks.tools import Tools
from sightline.app.worker import Reporter

#: Where each kind of job is done: a module with `run(order, tools, report)` and `make(order)`.
HOMES = {
    "depth": "sightline.app.tasks.depth",
    "metric": "sightline.app.tasks.metric",
    "measure": "sightline.app.tasks.measuring",
    "ask": "sightline.app.tasks.asking",
    "score": "sightline.app.tasks.scoring",
    "world": "sightline.app.tasks.worlds",
    "predict": "sightline.app.tasks.predicting",
}


def carry_out(message: dict[str, Any], tools: Tools, report: Reporter) -> dict[str, Any]:
    """Do a job, or make another form of its result.

    Args:
        message: the order as it came from the server.
        tools: the models.
        report: tells how far it is.

    Returns:
        `formats` that the result can be had in, and `headers` with facts about it.
    """
    order = Order.read(message)
    home = importlib.import_module(HOMES[order.kind])
    if message["action"] == "make":
        home.make(order)
        return {}
    formats, headers = home.run(order, tools, report)
    if not order.path().is_file():  # what `run` itself does not write
        home.make(order)
    return {"formats": list(formats), "headers": headers}
