"""Round numbers for axes and legends."""

from __future__ import annotations

import math

#: Decades that a logarithmic axis shows at most: what is smaller lies on its lower end.
DECADES = 6


def ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Return round numbers that hold a range, evenly spaced.

    >>> ticks(0.0, 0.43)
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    """
    if high <= low:
        high = low + (abs(low) or 1.0)
    rough = (high - low) / (most - 1)
    unit = 10 ** math.floor(math.log10(rough))
    step = next(unit * k for k in (1, 2, 2.5, 5, 10) if unit * k >= rough * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [round(step * k, 12) for k in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten that hold a range, with twos and fives between them where there are few.

    >>> log_ticks(0.02, 30)
    [0.01, 0.1, 1.0, 10.0, 100.0]
    >>> log_ticks(0.3, 0.9)
    [0.1, 0.2, 0.5, 1.0]
    """
    last = math.ceil(math.log10(high) - 1e-9)
    first = max(min(math.floor(math.log10(low) + 1e-9), last - 1), last - DECADES)
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    return [float(f"{k}e{power}") for power in range(first, last) for k in steps] + [10.0**last]


def tick_label(value: float) -> str:
    """Write a tick without an exponent.

    >>> tick_label(0.00001), tick_label(-2.5), tick_label(10.0)
    ('0.00001', '−2.5', '10')
    """
    return f"{value:.9f}".rstrip("0").rstrip(".").replace("-", "−")
