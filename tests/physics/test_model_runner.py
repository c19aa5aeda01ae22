"""Somebody else's model behind one method: whatever it does, the run goes on and says what happened."""

import sys

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.datasets.mp4 import decode
from sightline.physics.model_runner import continue_video, continue_videos, load_model

TRUTH = np.random.default_rng(0).integers(0, 256, (8, 16, 16, 3), dtype=np.uint8)


class Data:
    """Stands in for a data set: ten times the same video."""

    def video(self, index):
        return TRUTH.copy()


class Model:
    """Answers with what a function of the condition gives."""

    def __init__(self, answer):
        self.answer = answer

    def predict(self, condition, mask, n):
        return self.answer(condition)


def fail_at(number, error):
    """Return a model that raises at one call and works at all others."""
    calls = iter(range(100))

    def answer(condition):
        if next(calls) == number:
            raise error
        return condition

    return Model(answer)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("not today"), "sample 1: RuntimeError: not today"),
        (SystemExit(3), "sample 1: SystemExit: 3"),
        (SystemExit(), "sample 1: SystemExit"),
        (GeneratorExit(), "sample 1: GeneratorExit"),
        (BaseException("odd"), "sample 1: BaseException: odd"),
        (MemoryError(), "sample 1: MemoryError"),
        (InputError("mine"), "sample 1: mine"),
    ],
)
def test_whatever_a_model_raises_costs_one_sample(tmp_path, error, words):
    done = list(continue_videos(fail_at(1, error), Data(), tmp_path, range(3), condition=2))
    assert [one.failure and str(one.failure) for one in done] == [None, words, None]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00000.mp4", "00002.mp4"]


def test_ctrl_c_within_a_model_stops_the_run(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        list(
            continue_videos(
                fail_at(1, KeyboardInterrupt()), Data(), tmp_path, range(3), condition=2
            )
        )


def test_videos_begin_with_the_given_frames_and_are_kept(tmp_path):
    white = Model(lambda condition: np.full_like(condition, 255))
    list(continue_videos(white, Data(), tmp_path, [4], condition=2))
    frames = decode((tmp_path / "00004.mp4").read_bytes())
    np.testing.assert_array_equal(frames[:2], TRUTH[:2])
    assert (frames[2:] == 255).all()
    (again,) = continue_videos(fail_at(0, RuntimeError()), Data(), tmp_path, [4], condition=2)
    assert again.skipped


@pytest.mark.parametrize(
    ("answer", "got"),
    [
        (lambda c: c[:4].astype(np.float32), r"float32 of shape \(4, 16, 16, 3\)"),
        (lambda c: c[..., 0], r"uint8 of shape \(8, 16, 16\)"),
        (lambda c: c.transpose(0, 3, 1, 2), r"uint8 of shape \(8, 3, 16, 16\)"),
        (lambda c: None, "NoneType"),
        (lambda c: {"frames": c}, "dict"),
        (lambda c: [[1], [2, 3]], "a list that is no array"),
    ],
)
def test_an_answer_that_is_no_video_is_told_beside_what_was_expected(answer, got):
    wanted = rf"predict returned {got}.*expected uint8 of shape \(8, 16, 16, 3\)"
    with pytest.raises(InputError, match=wanted):
        continue_video(Model(answer), TRUTH, 2)


MODULES = {
    "exits_at_import": "import sys; sys.exit(0)",
    "breaks_at_import": "1 / 0",
    "is_no_python": "def :",
    "exits_when_made": "import sys\ndef make(): sys.exit(0)",
    "breaks_when_made": "def make(): raise ValueError('a\\nb')",
    "makes_nothing": "def make(): pass",
    "makes_one": "class make:\n    def predict(self, condition, mask, n): return condition",
}


@pytest.fixture
def modules(tmp_path, monkeypatch):
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("exits_at_import:make", "cannot be imported .SystemExit: 0"),
        ("breaks_at_import:make", "cannot be imported .ZeroDivisionError"),
        ("is_no_python:make", "cannot be imported .SyntaxError"),
        ("no_such_module:make", "cannot be imported .ModuleNotFoundError.*PYTHONPATH"),
        (".relative:make", "cannot be imported"),
        ("exits_when_made:make", "could not be made .SystemExit: 0"),
        ("breaks_when_made:make", "could not be made .ValueError"),
        ("makes_nothing:make", "without the method predict"),
        ("makes_one:other", "no factory called other"),
        ("makes_one", "module:factory"),
        ("makes_one:", "module:factory"),
        (":make", "module:factory"),
    ],
)
def test_what_makes_no_model_is_refused(modules, reference, words):
    with pytest.raises(InputError, match=words):
        load_model(reference)


def test_a_class_makes_a_model(modules):
    assert load_model("makes_one:make").predict(TRUTH, None, 8) is TRUTH
