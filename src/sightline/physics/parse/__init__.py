"""From frames to measured bodies.

parse            ours: sub-pixel places with their uncertainty, and what became of each body
parse_reference  the released evaluator's rules, for figures that compare with the paper's
"""

from sightline.physics.parse.reference import ReferenceTracks, parse_reference
from sightline.physics.parse.tracks import Prior, State, Tracks, prior_of
from sightline.physics.parse.video import parse

__all__ = [
    "Prior",
    "ReferenceTracks",
    "State",
    "Tracks",
    "parse",
    "parse_reference",
    "prior_of",
]
