"""What is hidden from a compact speaker until it knows where to look."""

import torch

from sightline.perception.model.focus import focused
from sightline.perception.model.speech import Lesson

IMAGE = 7


def lesson():
    row = [1, 2, *[IMAGE] * 129, 3, 4, 0]
    ids = torch.tensor([row] * 3)
    mask = (ids > 0).long()
    return Lesson(ids, mask, ids.clone(), torch.ones(ids.shape))


def test_pointing_sees_points_and_lists_see_things():
    before = lesson()
    after = focused(before, ["points", "boxes", "chain"], IMAGE)
    points, things, everything = (
        row[2:131].nonzero()[:, 0].tolist() for row in after.attention_mask
    )
    assert points == list(range(100, 105))
    assert things == list(range(105, 129))
    assert everything == list(range(129))
    words = torch.cat([after.attention_mask[:, :2], after.attention_mask[:, 131:]], dim=1)
    assert words.tolist() == [[1, 1, 1, 1, 0]] * 3, "words and padding stay as they are"
    assert before.attention_mask.sum() == 3 * 133, "the lesson that was given is not changed"
    assert torch.equal(after.labels, before.labels)
