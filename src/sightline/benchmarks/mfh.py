"""Metres as Metric from Human measures them: its crops, ranges and masks (paper §4, and its code).

Nothing is aligned. On DIODE its code counts the same box of pixels as on NYU although pictures are
larger, and ignores the set's own masks of valid depth; here these count, since a hole has no depth.
"""

from __future__ import annotations

from sightline.benchmarks.protocol import Protocol
from sightline.errors import InputError

PROTOCOLS = {
    "nyu": Protocol("none", cap=10.0, far=10.0, crop="eigen"),
    "kitti": Protocol("none", cap=80.0, far=80.0, crop="kb-garg"),
    "ibims": Protocol("none", cap=10.0, far=10.0, near=1e-6, crop="eigen"),
    "diode": Protocol("none", cap=10.0, far=10.0, crop="eigen-box"),
    "eth3d": Protocol("none", cap=80.0, far=80.0),
}


def protocol_of(name: str) -> Protocol:
    """Return the protocol for a set; refuse sets that the paper does not have."""
    if name not in PROTOCOLS:
        raise InputError(
            f"Metric from Human says nothing of {name}", remedy=f"use {', '.join(PROTOCOLS)}"
        )
    return PROTOCOLS[name]
