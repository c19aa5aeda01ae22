"""Read studies of attributes in conflict: which one is kept."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.physics.probes import probe_of
from sightline.video_model.page import Section
from sightline.video_model.study.outcome import Outcome, Scores, error_table
from sightline.video_model.study.parts import Budget


def read_kept(cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Count which attribute is kept."""
    outcome = error_table(cost, scores)
    rows = []
    header = ["", "keeps", "only the first", "only the second", "both", "neither", "cannot be told"]
    for trial in cost.trials:
        probe = probe_of(trial.name)
        assert probe.attributes is not None
        found = scores[trial.name]["tests"]["not seen"]
        counts = conflict_counts(found["kept"], probe.attributes)
        coded = conflict_counts(found["coded"], probe.attributes)
        first, second = probe.attributes
        winner = (
            first if counts[0] > counts[1] else second if counts[1] > counts[0] else "undecided"
        )
        rows.append([f"{first} or {second} ({trial.words})", winner, *(str(c) for c in counts)])
        rows.append(["… true videos, only coded and decoded", "", *(str(c) for c in coded)])
        outcome.lines.append(
            f"{trial.words}: {winner} wins: only {first} kept in {counts[0]}, only {second} in "
            f"{counts[1]}, both in {counts[2]}, neither in {counts[3]}, not to be told in {counts[4]}; "
            f"the codec alone keeps both in {coded[2]} of {sum(coded)}"
        )
    words = (
        "At the end of a video each attribute is as the first frames showed it, or it is not. What the "
        "codec does not keep says nothing of the network."
    )
    outcome.sections.append(Section("Which attribute is kept", [words], header, rows))
    return outcome


def conflict_counts(
    kept: Sequence[dict[str, bool]], attributes: tuple[str, str]
) -> tuple[int, int, int, int, int]:
    """Count videos that keep the first attribute alone, the second, both, neither, or say nothing."""
    first, second = attributes
    told = [(one[first], one[second]) for one in kept if one]
    pairs = ((True, False), (False, True), (True, True), (False, False))
    counts = [told.count(pair) for pair in pairs]
    return counts[0], counts[1], counts[2], counts[3], len(kept) - len(told)
