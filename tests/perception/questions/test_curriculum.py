"""All samples of the curriculum in one file."""

import json

import pytest

from sightline.errors import InputError
from sightline.perception.questions.records import Record, read_llava, write_curriculum, write_llava


def test_one_file_in_order(tmp_path):
    atomic = [Record(f"images/{k}.jpg", "map?", str(k), "depth") for k in range(7)]
    reasoning = [Record(f"images/{k}.jpg", "which?", str(k), "chain") for k in range(3)]
    write_llava(tmp_path / "generation.json", atomic)
    with pytest.raises(InputError, match="no questions of reasoning"):
        write_curriculum(tmp_path, tmp_path / "all.json")
    write_llava(tmp_path / "reasoning.json", reasoning)
    assert write_curriculum(tmp_path, tmp_path / "all.json", size=10, epochs=4) == 40
    found = read_llava(tmp_path / "all.json")
    epochs = [found[first : first + 10] for first in range(0, 40, 10)]
    shares = [sum(one.task == "depth" for one in epoch) for epoch in epochs]
    assert shares == [10, 7, 4, 1]
    for epoch, share in zip(epochs, shares, strict=True):
        assert all(one.task == "depth" for one in epoch[:share]), "perceiving comes first"
    chains = [one.answer for one in found if one.task == "chain"]
    assert chains == [str(k % 3) for k in range(18)], "they go round and round"
    again = (tmp_path / "all.json").read_text()
    assert write_curriculum(tmp_path, tmp_path / "all.json", size=10, epochs=4) == 40
    assert (tmp_path / "all.json").read_text() == again
    assert write_curriculum(tmp_path, tmp_path / "b.json", epochs=2) == 14
    assert isinstance(json.loads(again), list)
    for wrong in ({"size": 0}, {"epochs": 0}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))} must be at least 1"):
            write_curriculum(tmp_path, tmp_path / "c.json", **wrong)
