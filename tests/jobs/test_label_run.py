"""The whole of labeling, in processes of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

import sightline
from sightline.config import ParallelConfig
from sightline.depth.checkpoints import load_network
from sightline.depth.config import LabelConfig
from sightline.depth.training import StudentTrainConfig, train_student
from sightline.errors import InputError
from sightline.io.atomic import write_bytes
from sightline.io.paths import to_path
from sightline.jobs import LabelTask, run


def label(photos, out, workers=1, **settings):
    task = LabelTask(LabelConfig(**settings))
    folder = to_path(str(out))
    jobs = task.prepare([str(photos)], folder)
    return list(run(task, jobs, folder, ParallelConfig(workers=workers), resume=True))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_label_again_and_add_one(conv_onnx, save_photos, tmp_path):
    photos, out = save_photos(5), tmp_path / "labels"
    first = label(photos, out, model=str(conv_onnx))
    assert [outcome.failure for outcome in first] == [None] * 5
    assert sorted(contents(out)) == [*(f"{n:03d}.png" for n in range(5)), "labels.json"]
    about = json.loads((out / "labels.json").read_text())
    assert about == {
        "teacher": "conv",
        "sha256": about["sha256"],
        "size": 64,
        "mirror": True,
        "coding": "disparity",
        "kind": "relative_disparity",
        "sightline": sightline.__version__,
    }
    times = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    again = label(photos, out, model=str(conv_onnx))
    assert all(outcome.skipped for outcome in again)
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == times
    # One gone, one cut off by a power failure, one empty.
    before = contents(out)
    (out / "001.png").unlink()
    (out / "002.png").write_bytes(before["002.png"][:200])
    (out / "003.png").write_bytes(b"")
    some = label(photos, out, model=str(conv_onnx))
    assert sorted(o.job.paths[0].name for o in some if not o.skipped) == [
        f"00{n}.png" for n in (1, 2, 3)
    ]
    assert contents(out) == before
    assert (out / "000.png").stat().st_mtime_ns == times[out / "000.png"]


def test_one_worker_and_two_write_the_same_bytes(save_photos, tmp_path):
    photos = save_photos(6)
    for workers in (1, 2):
        label(photos, tmp_path / str(workers), model="tiny", size=96, workers=workers)
    one, two = contents(tmp_path / "1"), contents(tmp_path / "2")
    assert len(one) == 7
    assert one == two


def test_a_bad_picture_costs_only_itself(conv_onnx, save_photos, tmp_path):
    photos, out = save_photos(5), tmp_path / "labels"
    (photos / "002.png").write_bytes((photos / "002.png").read_bytes()[:100])
    (photos / "003.png").write_bytes(b"")
    outcomes = label(photos, out, model=str(conv_onnx), workers=2)
    failures = {str(o.job.source): o.failure for o in outcomes if o.failure is not None}
    assert sorted(failures) == [str(photos / "002.png"), str(photos / "003.png")]
    assert all(isinstance(failure, InputError) for failure in failures.values())
    assert len(contents(out)) == 3 + 1


def test_a_folder_belongs_to_one_teacher(make_onnx, conv_spec, conv_onnx, save_photos, tmp_path):
    photos, out = save_photos(1), tmp_path / "labels"
    label(photos, out, model=str(conv_onnx))
    before = contents(out)
    from dataclasses import replace

    other = make_onnx(tmp_path / "other.onnx", replace(conv_spec, size=72))
    with pytest.raises(InputError, match="labeled by another teacher, conv") as caught:
        label(photos, out, model=str(other))
    assert str(caught.value).startswith(f"{out}: ")
    with pytest.raises(InputError, match="labeled with --size 64 --mirror, not with --size 80"):
        label(photos, out, model=str(conv_onnx), size=80)
    with pytest.raises(InputError, match="not with --size 64 --no-mirror"):
        label(photos, out, model=str(conv_onnx), mirror=False)
    assert contents(out) == before
    label(photos, out, model=str(conv_onnx), size=64)  # the network's own, said aloud


@pytest.mark.parametrize("text", ["", "{}", "[]", "not json"])
def test_a_damaged_account_is_refused(conv_onnx, save_photos, tmp_path, text):
    photos, out = save_photos(1), tmp_path / "labels"
    out.mkdir()
    (out / "labels.json").write_text(text)
    with pytest.raises(InputError, match=r"labels\.json: is (damaged|empty)"):
        label(photos, out, model=str(conv_onnx))


def test_labels_of_unknown_origin_are_not_replaced(conv_onnx, save_photos, tmp_path):
    photos, out = save_photos(2), tmp_path / "labels"
    out.mkdir()
    (out / "001.png").write_text("somebody's work")
    with pytest.raises(InputError, match=r"there is no labels\.json that says who made it"):
        label(photos, out, model=str(conv_onnx))
    assert contents(out) == {"001.png": b"somebody's work"}


def test_a_model_that_does_not_load_leaves_no_folder(save_photos, tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x07not a network")
    with pytest.raises(InputError, match=r"broken\.onnx"):
        label(save_photos(1), tmp_path / "labels", model=str(tmp_path / "broken.onnx"))
    assert not (tmp_path / "labels").exists()


def test_from_a_url_to_a_url(conv_onnx, save_photos, tmp_path):
    photos = save_photos(3)
    (photos / "002.png").write_text("no picture")
    url = f"file://{tmp_path}/out"
    outcomes = label(f"file://{photos}", url, model=str(conv_onnx), workers=2)
    assert sum(outcome.failure is None for outcome in outcomes) == 2
    label(photos, tmp_path / "here", model=str(conv_onnx))
    assert contents(tmp_path / "out") == contents(tmp_path / "here")
    again = label(f"file://{photos}", url, model=str(conv_onnx))
    assert sum(outcome.skipped for outcome in again) == 2
    with pytest.raises(InputError, match="labeled with --size 64"):
        label(f"file://{photos}", url, model=str(conv_onnx), size=80)
    write_bytes("memory://stranger/000.png", b"somebody's work")
    with pytest.raises(InputError, match=r"there is no labels\.json"):
        label(photos, "memory://stranger", model=str(conv_onnx))


@pytest.mark.parametrize("wrong", [{"size": 5}, {"threads": 0}, {"max_pixels": 0}])
def test_impossible_options(wrong):
    with pytest.raises(InputError):
        LabelConfig(**wrong)


@pytest.mark.parametrize("teacher", ["transformers", "onnx"])
def test_any_teacher_labels_and_a_student_learns_from_it(
    teacher, hub_depth_model, conv_onnx, save_photos, tmp_path
):
    photos, out = save_photos(4), tmp_path / "labels"
    model = f"hf:{hub_depth_model}" if teacher == "transformers" else str(conv_onnx)
    assert [one.failure for one in label(photos, out, model=model)] == [None] * 4
    about = json.loads((out / "labels.json").read_text())
    size = 56 if teacher == "transformers" else 64
    assert (about["size"], about["kind"]) == (size, "relative_disparity")
    with Image.open(out / "000.png") as first:
        assert min(first.size) == size
    quick = {"steps": 2, "short_side": 64, "warmup": 1}
    student = train_student(
        tmp_path / "student",
        StudentTrainConfig(start="nothing", **quick),
        photos=photos,
        labels=[out],
        share=2,
        report=lambda _: None,
    )
    assert load_network(student).spec.architecture == "compact"
