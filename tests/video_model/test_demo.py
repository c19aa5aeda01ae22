"""The demo shows, as a film and on its page, the video with the middle error."""

from types import SimpleNamespace

import numpy as np

from sightline.video_model import demo
from sightline.video_model.scoring import VELOCITY, score_model


def take(error):
    return SimpleNamespace(score=SimpleNamespace(values={VELOCITY: error}))


def test_the_middle_of_those_that_can_be_measured():
    takes = [take(0.9), take(None), take(0.1), take(0.5), take(None)]
    assert demo.median_video(takes) is takes[3]
    assert demo.median_video(takes[1:2]) is takes[1]


def test_films_and_page_show_the_same_video(make, tmp_path, monkeypatch):
    model = make()
    errors = {"id": [0.9, 0.2, 0.4], "ood": [0.1, 0.2, 0.3]}
    made, shown = [], []

    def known(model, spec):
        takes = score_model(model, spec)
        for one, error in zip(takes, errors[spec.split], strict=True):
            one.score.values[VELOCITY] = error
        made.append(takes)
        return takes

    monkeypatch.setattr(demo, "load", lambda _: model)
    monkeypatch.setattr(demo, "score_model", known)
    monkeypatch.setattr(demo, "encode", lambda film, _: shown.append(film) or b"mp4")
    monkeypatch.setattr(demo, "_floors", lambda *_: (0.1, 0.2))
    demo.run_demo(tmp_path, "video", 3, report=lambda _: None)
    larger = demo.side_by_side(made[0][2].truth, made[0][2].made, 4)
    assert np.array_equal(shown[0], larger)  # 0.4 is the middle of 0.9, 0.2 and 0.4
    assert np.array_equal(shown[1], demo.side_by_side(made[1][1].truth, made[1][1].made, 4))
