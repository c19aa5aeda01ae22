"""Laws of motion as pure functions of a parsed video.

check_laws         every law of `LAWS`: figures, and violations with frame, body and size
is_abnormal        would a person call it abnormal: rules over the laws, with reasons
reference_figures  the released evaluator's figures
"""

from sightline.physics.laws.abnormal import Thresholds, Verdict, is_abnormal
from sightline.physics.laws.evidence import Evidence, Outcome, Violation
from sightline.physics.laws.reference import ReferenceFigures, reference_figures
from sightline.physics.laws.table import LAWS, Law, LawScores, check_laws

__all__ = [
    "LAWS",
    "Evidence",
    "Law",
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
