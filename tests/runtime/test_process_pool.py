"""Work in several processes: nothing is lost when one of them is killed."""

import functools
import importlib
import os
import signal
import time
from contextlib import closing

import pytest

from sightline.errors import InputError, SightlineError
from sightline.runtime import process_pool
from sightline.runtime.parallel import map_inputs as run

#: A module of its own, as new processes cannot import a test.
JOBS = '''
import os
import signal
import time
from pathlib import Path

from sightline.errors import InputError


def square(number):
    return number * number


def refuse_three(number):
    if number == 3:
        raise InputError("three is not wanted", path="three.jpg")
    if number == 4:
        raise ValueError("four")
    return number


def die_once(folder, number):
    """Kill this process the first time that it sees number 2."""
    mark = Path(folder) / "died"
    if number == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_at_two(number):
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die(number):
    os._exit(7)


def who(number):
    time.sleep(0.05)
    return os.getpid()
'''


#: A module that is being imported when somebody presses Ctrl-C.
STRUCK = """
import multiprocessing
import signal

if multiprocessing.parent_process() is not None:
    signal.raise_signal(signal.SIGINT)


def same(number):
    return number
"""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs")
    (folder / "jobs_of_the_test.py").write_text(JOBS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("jobs_of_the_test")


def gather(answers):
    """Return input to result, or to failure."""
    return {a.item: a.result if a.failure is None else a.failure for a in answers}


def test_every_input_comes_back_with_its_result(jobs):
    done = gather(run(jobs.square, range(20), workers=2))
    assert done == {n: n * n for n in range(20)}


def test_more_workers_than_inputs_and_none_at_all(jobs):
    assert gather(run(jobs.square, [3], workers=4)) == {3: 9}
    assert list(run(jobs.square, [], workers=2)) == []


def test_the_work_is_shared(jobs):
    pids = {answer.result for answer in run(jobs.who, range(12), workers=2)}
    assert len(pids) == 2
    assert os.getpid() not in pids


def test_an_exception_is_a_result_and_not_tried_again(jobs):
    done = gather(run(jobs.refuse_three, range(6), workers=2))
    assert done[5] == 5
    assert isinstance(done[3], InputError)
    assert str(done[3]) == "three.jpg: three is not wanted"
    assert isinstance(done[4], SightlineError)
    assert str(done[4]) == "4: ValueError: four"


def test_a_killed_worker_costs_nothing(jobs, tmp_path):
    job = functools.partial(jobs.die_once, str(tmp_path))
    assert gather(run(job, range(8), workers=2)) == {n: n for n in range(8)}
    assert (tmp_path / "died").exists()


def test_an_input_that_kills_every_worker_is_given_up(jobs):
    done = gather(run(jobs.die_at_two, range(6), workers=2, retries=1))
    assert isinstance(done[2], SightlineError)
    assert "2 worker processes were ended over it, the last by signal 9" in str(done[2])
    assert [done[n] for n in (0, 1, 3, 4, 5)] == [0, 1, 3, 4, 5]


def test_workers_that_only_die_end_the_run(jobs):
    with pytest.raises(SightlineError, match="6 worker processes in a row were ended"):
        list(run(jobs.die, range(50), workers=1, retries=1))


def test_ctrl_c_while_a_worker_imports_is_the_parents_business(tmp_path, monkeypatch):
    (tmp_path / "struck_at_import.py").write_text(STRUCK)
    monkeypatch.syspath_prepend(tmp_path)
    struck = importlib.import_module("struck_at_import")
    done = gather(run(struck.same, range(3), workers=1, retries=0))
    assert done == {n: n for n in range(3)}


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_waits_until_a_worker_is_started(sign):
    """The handler is the caller's all the time, and the new process does not outlive the stop."""
    done = []

    class Process:
        def start(self):
            os.kill(os.getpid(), sign)
            time.sleep(0.3)
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
            done.append(("started", signal.getsignal(sign) is stop, signal.SIGINT in blocked))

        def terminate(self):
            done.append("terminated")

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(sign, stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            process_pool._start_process(Process())
    finally:
        signal.signal(sign, before)
    assert done == [("started", True, True), "terminated"]
    assert sign not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_stopping_early_ends_the_workers(jobs):
    with closing(run(jobs.who, range(100), workers=2)) as results:
        pids = {next(results).result, next(results).result}
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
