"""A fit as numbers beside its map: what is measured there later knows which errors go together."""

from __future__ import annotations

from typing import Any

import numpy as np

from sightline.metric.head.fit import MetricFit, fit_of

#: Decimals of the logarithms: a millionth of every distance.
_DECIMALS = 6
_SHAPES = {"disparities": (2,), "logs": (3,), "variants": (-1, 3), "widened": ()}


def to_record(fit: MetricFit) -> dict[str, Any]:
    """Return a fit as JSON has it: x, y and φ of `sightline.metric.head.fit` and their variants."""
    return {
        "disparities": fit.span.tolist(),
        "logs": fit.logs.tolist(),
        "variants": fit.variants.round(_DECIMALS).tolist(),
        "widened": fit.widened,
        "focal_sigma": fit.focal_sigma,
    }


def from_record(record: Any) -> MetricFit:
    """Return the fit of a record, without its clues.

    Raises:
        ValueError, TypeError, KeyError: it is no such record.
    """
    span, logs, variants, widened = (
        np.array(record[name], np.float64).reshape(shape) for name, shape in _SHAPES.items()
    )
    finite = all(np.isfinite(part).all() for part in (span, logs, variants, widened))
    if not finite or len(variants) < 2 or span[1] <= span[0]:
        raise ValueError("no numbers of a fit")
    return fit_of(span, logs, variants, float(widened), float(record["focal_sigma"]))
