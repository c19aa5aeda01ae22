"""A metric that cannot be computed on this machine says so, in a value that travels like a number.

It goes through JSON, tables and f-strings where a float would, so that a report has a cell for it, with
the reason and the command that helps; and it has no arithmetic, so it cannot slip into a mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class NotAvailable:
    """The place of a figure that was not computed.

    Attributes:
        metric: name for people, such as `LPIPS (alex)`.
        reason: what is missing, without a full stop.
        remedy: the command that gets it.
    """

    metric: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        """One line with everything: for logs and for the note below a table."""
        return f"{self.metric}: not available ({self.reason}; run `{self.remedy}`)"

    def __format__(self, spec: str) -> str:
        """Two words whatever the format, so that a cell of a table may ask for `.3f` of either."""
        return "not available" if spec else str(self)

    def as_json(self) -> dict[str, str]:
        """Return what stands in JSON where the number would: the keys tell it from one."""
        return {"not_available": self.reason, "metric": self.metric, "remedy": self.remedy}


def as_json(value: float | NotAvailable) -> float | dict[str, Any] | None:
    """Return `value` as strict JSON can carry it: a finite number, `null` for NaN, or an object."""
    if isinstance(value, NotAvailable):
        return value.as_json()
    return float(value) if math.isfinite(value) else None
