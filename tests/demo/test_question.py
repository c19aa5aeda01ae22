"""The chain of an answer, as the page shows it."""

from __future__ import annotations

from sightline.demo.question import told

CHAIN = [
    "A at 1,2 (seen at 1,3)",
    "Depth as it wrote it down, denser is nearer:",
    "   .:-=",
    "  .:-=+",
    "Its map reads A 0.1, B 0.7: B is nearest",
    "Its words: B is nearest",
    "Words and perception agree.",
    "Answer: B",
]


def test_steps_and_verdict():
    steps, verdict = told(CHAIN)
    assert steps == [CHAIN[0], "Depth as it wrote it down: the picture above", *CHAIN[4:6]]
    assert verdict == "Words and perception agree."


def test_an_answer_that_could_not_be_checked():
    steps, verdict = told(["It wrote no depth map.", "It could not be verified.", "Answer: A"])
    assert steps == ["It wrote no depth map."]
    assert verdict == "It could not be verified."
    assert told(["It wrote no depth map.", "No answer."]) == (["It wrote no depth map."], "")
