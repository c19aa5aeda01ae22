"""Data sets of combinatorial worlds: the layout of the reference, read and written."""

import hashlib
import pickle
from functools import partial

import h5py
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.combinatorial.rendering import render_scene
from sightline.physics.combinatorial.simulation import make_sample
from sightline.physics.combinatorial.store import (
    BLOCK,
    CombinatorialSpec,
    differences,
    make_block,
    parse_trials,
)
from sightline.physics.combinatorial.tasks import HELD_OUT, SIX
from sightline.physics.datasets import making, mp4
from sightline.physics.datasets.describe import describe
from sightline.physics.datasets.making import Step, iter_make_dataset
from sightline.physics.datasets.reader import open_dataset

TEMPLATES = (10003, 10061)


def spec_of(**changes):
    settings = {
        "templates": TEMPLATES,
        "tasks": 2,
        "trials": 3,
        "seed": 7,
        "frames": 4,
        "size": 32,
        "video": "lossless",
    }
    return CombinatorialSpec(**{**settings, **changes})


@pytest.fixture(autouse=True, scope="module")
def _every_block_is_a_part():
    """Tests have few videos; whole data sets of them would be a single part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "PART_SECONDS", 0.0)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small data set made by one process."""
    out = tmp_path_factory.mktemp("made") / "a.h5"
    steps = list(iter_make_dataset(spec_of(), out, workers=1))
    assert steps == [Step(3)] * 4
    assert [path.name for path in out.parent.iterdir()] == ["a.h5"]
    return out


def test_the_layout_reads_with_plain_h5py(made):
    with h5py.File(made) as file:
        assert {"action_streams", "object_streams", "video_streams"} <= set(file)
        for name in file:
            assert list(file[name]) == ["10003:000", "10003:001", "10061:000", "10061:001"]
        objects = file["object_streams/10061:001"]
        assert objects.shape[:2] == (3, 4)
        assert objects.shape[3] == 14
        assert file["action_streams/10061:001"].shape == (3, 3)
        frames = mp4.decode(file["video_streams/10061:001"][2].tobytes())
        sample = make_sample(10061, 1, 2, seed=7, frames=4)
        np.testing.assert_array_equal(frames, render_scene(sample, 32))
        np.testing.assert_array_equal(objects[2], sample.objects.astype(np.float32))
        np.testing.assert_array_equal(file["action_streams/10061:001"][2], sample.action)


def test_videos_are_played_at_five_frames_a_second(made):
    import io

    import av

    with h5py.File(made) as file:
        data = file["video_streams/10003:000"][0].tobytes()
    with av.open(io.BytesIO(data)) as container:
        assert container.streams.video[0].average_rate == 5


def test_the_reader_gives_videos_and_objects(made):
    with open_dataset(made) as data:
        assert (len(data), data.scenario, data.frame_time) == (12, "combinatorial", 1 / 3)
        assert data.made["templates"] == list(TEMPLATES)
        assert data.place(7) == ("10061:000", 1)
        sample, wanted = data.sample(7), make_sample(10061, 0, 1, seed=7, frames=4)
        np.testing.assert_allclose(sample.objects, wanted.objects, atol=1e-7)
        np.testing.assert_allclose(sample.velocities, wanted.velocities, atol=1e-5)
        np.testing.assert_array_equal(sample.action, wanted.action)
        assert (sample.key, sample.trial) == (wanted.key, wanted.trial)
        np.testing.assert_array_equal(data.video(7), render_scene(wanted, 32))
        np.testing.assert_array_equal(data.video(-1), data.video(11))
        assert data.digest == hashlib.sha256(made.read_bytes()).hexdigest()
        said = describe(data)
        assert (said["templates"], said["tasks"]) == ("10003, 10061", "4")
        assert said["each"] == "4 frames of 32×32, one every 0.333 s"
        with pytest.raises(InputError, match="no video 12"):
            data.video(12)
        again = pickle.loads(pickle.dumps(data))
        np.testing.assert_array_equal(again.video(3), data.video(3))
        again.close()


def test_samples_of_balls_are_refused_in_one_line(made):
    with open_dataset(made) as data:
        for ask in (lambda: data.samples, lambda: data.motion(0)):
            with pytest.raises(InputError, match=r"not samples of moving balls; use \.sample"):
                ask()


@pytest.mark.slow
def test_two_workers_give_the_same_bytes(made, tmp_path):
    list(iter_make_dataset(spec_of(), tmp_path / "b.h5", workers=2))
    assert (tmp_path / "b.h5").read_bytes() == made.read_bytes()


def test_a_stopped_run_goes_on_with_the_same_bytes(made, tmp_path):
    out = tmp_path / "b.h5"
    steps = iter_make_dataset(spec_of(), out, workers=1)
    next(steps)
    steps.close()
    assert not out.exists()
    with pytest.raises(InputError, match="unfinished data set of seed 7, not 8"):
        list(iter_make_dataset(spec_of(seed=8), out))
    steps = list(iter_make_dataset(spec_of(), out, workers=1))
    assert [step.skipped for step in steps] == [True, False, False, False]
    assert out.read_bytes() == made.read_bytes()


def test_trials_do_not_depend_on_which_are_made(made, tmp_path):
    out = tmp_path / "b.h5"
    list(iter_make_dataset(spec_of(tasks=1, first_trial=2, trials=1), out))
    with open_dataset(out) as few, open_dataset(made) as many:
        assert [few.place(index) for index in range(2)] == [("10003:000", 2), ("10061:000", 2)]
        np.testing.assert_array_equal(few.video(1), many.video(8))
        np.testing.assert_array_equal(few.objects(1), many.objects(8))


def test_many_trials_are_made_in_blocks():
    jobs = spec_of(trials=2 * BLOCK + 5, first_trial=10).jobs()
    assert [job.videos for job in jobs[:3]] == [BLOCK, BLOCK, 5]
    assert [job.number for job in jobs] == list(range(12))
    assert str(jobs[5]) == f"trials {10 + 2 * BLOCK} to {14 + 2 * BLOCK} of task 10003:001"
    assert len(make_block(spec_of(size=16, frames=1), spec_of(trials=1).jobs()[0])) > 1000


def test_the_first_so_many(made, tmp_path):
    """In the order of templates, tasks and trials; whole blocks, and a part of one."""
    few = spec_of(limit=8)
    assert (few.count, few.record()["count"]) == (8, 8)
    assert [job.videos for job in few.jobs()] == [3, 3, 2]
    list(iter_make_dataset(few, tmp_path / "b.h5"))
    with open_dataset(tmp_path / "b.h5") as data, open_dataset(made) as whole:
        assert len(data) == 8
        assert data.made["count"] == 8
        for index in range(8):
            assert data.place(index) == whole.place(index)
            np.testing.assert_array_equal(data.video(index), whole.video(index))
            np.testing.assert_array_equal(data.objects(index), whole.objects(index))
    assert spec_of(limit=12).jobs() == spec_of().jobs()
    many = spec_of(trials=2 * BLOCK, limit=BLOCK + 1).jobs()
    assert [(job.key, job.videos) for job in many] == [("10003:000", BLOCK), ("10003:000", 1)]


def test_a_shard_of_the_first_task(made, tmp_path):
    list(iter_make_dataset(spec_of(limit=2), tmp_path / "b.h5", layout="shard"))
    with open_dataset(tmp_path / "b.h5") as data, open_dataset(made) as whole:
        np.testing.assert_array_equal(data.video(1), whole.video(1))
    with pytest.raises(InputError, match="a shard holds one task"):
        list(iter_make_dataset(spec_of(limit=4), tmp_path / "c.h5", layout="shard"))


def test_another_count_is_another_data_set(tmp_path):
    out = tmp_path / "b.h5"
    steps = iter_make_dataset(spec_of(limit=5), out, workers=1)
    next(steps)
    steps.close()
    with pytest.raises(InputError, match="unfinished data set of count 5, not 6"):
        list(iter_make_dataset(spec_of(limit=6), out))


def test_a_damaged_part_is_noticed(tmp_path):
    out = tmp_path / "a.h5"
    steps = iter_make_dataset(spec_of(), out, workers=1)
    next(steps)
    steps.close()
    part = tmp_path / "a.h5.parts" / "000000-000000.part"
    damaged = bytearray(part.read_bytes())
    damaged[200] ^= 1
    part.write_bytes(damaged)
    with pytest.raises(InputError, match=r"000000-000000\.part: is damaged"):
        list(iter_make_dataset(spec_of(), out, workers=1))
    assert not out.exists()


def test_what_the_reference_itself_would_write(made, tmp_path):
    """Three streams and no more, in one shard: velocities are differences."""
    path = tmp_path / "10003:000.hdf5"
    with h5py.File(made) as file, h5py.File(path, "w") as plain:
        for name in ("action_streams", "object_streams"):
            plain[name] = file[f"{name}/10003:000"][:]
        videos = plain.create_dataset("video_streams", (3,), h5py.vlen_dtype(np.uint8))
        for trial in range(3):
            videos[trial] = file["video_streams/10003:000"][trial]
    with open_dataset(path) as data, open_dataset(made) as whole:
        assert (len(data), data.made, data.place(2)) == (3, {}, ("", 2))
        np.testing.assert_array_equal(data.video(2), whole.video(2))
        sample = data.sample(2)
        steps = np.diff(sample.objects[:, :, :2], axis=0) * 3
        np.testing.assert_allclose(sample.velocities[:-1, :, :2], steps)
        assert describe(data)["tasks"] == "1"


def test_differences_of_angles_take_the_short_way():
    objects = np.zeros((2, 1, 14))
    objects[:, 0, 2] = 0.95, 0.05
    np.testing.assert_allclose(differences(objects, 0.5)[:, 0, 2], 2 * np.pi * 0.1 / 0.5)


def tampered(made, path, change):
    path.write_bytes(made.read_bytes())
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def replaced(name, values):
    def change(file):
        del file[name]
        file[name] = values

    return change


def write_note(note, file):
    file.attrs["sightline"] = np.bytes_(note)


def test_a_note_that_is_no_note(made, tmp_path):
    for note in ('{"made": 3}', '{"frame_time": -1}', '{"frame_time": 1' + "0" * 400 + "}"):
        path = tampered(made, tmp_path / "bad.h5", partial(write_note, note))
        with pytest.raises(InputError, match=r"bad\.h5"):
            open_dataset(path)


BAD_FILES = {
    "has no action_streams": lambda file: file.__delitem__("action_streams"),
    "links are not followed": lambda file: (
        file["object_streams"].__delitem__("10003:000"),
        file["object_streams"].__setitem__("10003:000", h5py.ExternalLink("/etc/passwd", "/")),
    ),
    "has no shard 10061:001": lambda file: file["object_streams"].__delitem__("10061:001"),
    r"not \(trials, frames, objects, 14\)": replaced(
        "object_streams/10003:000", np.zeros((3, 4, 5, 13))
    ),
    r"has the shape \(3, 2\)": replaced("action_streams/10003:000", np.zeros((3, 2))),
    "does not hold numbers": replaced("action_streams/10003:000", np.full((3, 3), b"x")),
    "is not a list of byte strings": replaced("video_streams/10003:000", np.zeros(3)),
    "has 2 samples": replaced("action_streams/10003:000", np.zeros((2, 3))),
    "claims 2,000 frames": replaced("object_streams/10003:000", np.zeros((3, 2000, 2, 14))),
}


@pytest.mark.parametrize("message", BAD_FILES)
def test_broken_and_hostile_files(made, tmp_path, message):
    path = tampered(made, tmp_path / "bad.h5", BAD_FILES[message])
    with pytest.raises(InputError, match=message):
        open_dataset(path)


@pytest.mark.parametrize(
    ("value", "message"), [(np.nan, "not finite, first in trial 0"), (0.5, "exactly one shape")]
)
def test_numbers_that_make_no_sense(made, tmp_path, value, message):
    def change(file):
        file["object_streams/10003:000"][0, 0, 0, 4] = value

    with (
        open_dataset(tampered(made, tmp_path / "bad.h5", change)) as data,
        pytest.raises(InputError, match=message),
    ):
        data.sample(0)


def test_a_broken_mp4(made, tmp_path):
    def change(file):
        file["video_streams/10003:000"][1] = np.arange(9, dtype=np.uint8)

    with open_dataset(tampered(made, tmp_path / "bad.h5", change)) as data:
        data.video(0)
        with pytest.raises(InputError, match="trial 1 of video_streams/10003:000: the mp4"):
            data.video(1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"templates": ()}, "at least one template"),
        ({"templates": (3,)}, "no template 3"),
        ({"tasks": 0}, "1 to 1000 tasks"),
        ({"trials": 0}, "trials are numbered"),
        ({"first_trial": -1}, "trials are numbered"),
        ({"frames": 51}, "1 to 50 frames"),
        ({"size": 5}, "16 to 1024"),
        ({"size": 33, "video": "standard"}, "even size"),
        ({"video": "runs"}, "no quality"),
        ({"seed": -1}, "seed"),
        ({"limit": 0}, "1 to 12 videos, got 0"),
        ({"limit": 13}, "1 to 12 videos, got 13"),
        ({"tasks": 1000, "trials": 1_000_000}, "1 to 100,000,000 videos, got 2,000,000,000"),
    ],
)
def test_settings_that_there_are_not(changes, message):
    with pytest.raises(InputError, match=message):
        spec_of(**changes)


def test_how_many_trials():
    assert parse_trials(None, SIX) == (0, 1000)
    assert parse_trials(None, HELD_OUT) == (0, 1)
    assert parse_trials("5", SIX) == (0, 5)
    assert parse_trials("990-999", SIX) == (990, 10)
    for text in ("", "x", "-3", "3-", "1-2-3"):
        with pytest.raises(InputError, match="no number of trials"):
            parse_trials(text, SIX)
