"""How sure it is that a finding is a person, from what three networks say.

The networks' own scores are no probabilities: a chandelier gets 0.98 of one of them. But they rarely
agree on a chandelier's elbows. The weights are a logistic regression on 545 findings in 26 photographs
with people and 390 with hardly any (`docs/lab-log.md`); at 0.5 it lets through a false person in one
photograph of twenty, where presence and detection alone need one of seven for the same recall.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

BIAS, DETECTION, PRESENCE, APART = -6.17, 0.91, 0.31, -1.6


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a finding.

    Attributes:
        detection: best score of the detector, 0 to 1.
        presence: of the landmark network, 0 to 1.
        apart: median distance of the landmarks in two opinions, over the diameter of the circle
            about the body.
    """

    detection: float
    presence: float
    apart: float


def confidence(evidence: Evidence) -> float:
    """Probability that the finding is a person, 0 to 1."""
    logit = (
        BIAS
        + DETECTION * _logit(evidence.detection)
        + PRESENCE * _logit(evidence.presence)
        + APART * math.log(evidence.apart + 0.01)
    )
    return 1 / (1 + math.exp(-logit))


def _logit(score: float) -> float:
    kept = min(max(score, 0.001), 0.999)
    return math.log(kept / (1 - kept))
