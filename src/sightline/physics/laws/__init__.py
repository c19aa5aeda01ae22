"""Laws of motion as pure functions of tracked bodies.

check_laws         evaluate every law of `LAWS`: values, and violations with frame, body and size
is_abnormal        classify a video as abnormal by rules over the laws, with reasons
reference_figures  the figures of the released evaluator
"""

from sightline.physics.laws.evidence import LawEvidence, Outcome, Violation
from sightline.physics.laws.reference_evaluator import ReferenceFigures, reference_figures
from sightline.physics.laws.table import (
    LAWS,
    Law,
    LawScores,
    Thresholds,
    Verdict,
    check_laws,
    is_abnormal,
)

__all__ = [
    "LAWS",
    "Law",
    "LawEvidence",
    "LawScores",
    "Outcome",
    "ReferenceFigures",
    "Thresholds",
    "Verdict",
    "Violation",
    "check_laws",
    "is_abnormal",
    "reference_figures",
]
