"""The pool with workers that do nothing but misbehave: time, memory, deaths, cancelling."""

from __future__ import annotations

import asyncio
import importlib
import time
from types import SimpleNamespace

import pytest

from sightline.server import worker_pool
from sightline.server.config import Limits
from sightline.server.errors import ServiceError
from sightline.server.jobs import JobStore
from sightline.server.metrics import Metrics
from sightline.server.worker_pool import WorkerPool

#: A module of its own, as new processes cannot import a test.
WORKER = """
import json
import os
import signal
import time

from sightline.server import worker


def work(pipe, setup):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(worker.WAKE_SIGNAL, signal.SIG_IGN)
    pipe.send_bytes(b'{"type": "ready"}')
    while True:
        try:
            order = json.loads(pipe.recv_bytes())
        except EOFError:
            return
        match order["action"]:
            case "echo":
                answer = {"type": "done", "said": order["said"], "pid": os.getpid()}
                pipe.send_bytes(json.dumps(answer).encode())
            case "sleep":
                time.sleep(order["seconds"])
                pipe.send_bytes(b'{"type": "done"}')
            case "listen":
                while not pipe.poll(0.01):
                    pipe.send_bytes(b'{"type": "progress", "share": 0.5, "step": "half"}')
                pipe.recv_bytes()
                pipe.send_bytes(b'{"type": "canceled"}')
            case "chatter":
                while True:
                    pipe.send_bytes(b'{"type": "progress", "share": null, "step": "soon"}')
                    time.sleep(0.01)
            case "grow":
                kept = [bytearray(10_000_000) for _ in range(40)]
                for piece in kept:
                    piece[::4096] = b"x" * len(piece[::4096])
                time.sleep(60)
            case "die":
                os._exit(7)
            case "babble":
                os.write(pipe.fileno(), b"\\0\\0\\0\\5hello")
                time.sleep(60)
            case "compile":
                for _ in range(15):
                    said = {"type": "progress", "share": None, "step": "compiling"}
                    pipe.send_bytes(json.dumps({**said, "counted": order["counted"]}).encode())
                    time.sleep(0.1)
                pipe.send_bytes(b'{"type": "done"}')
            case "frames":  # steps with a time limit of their own
                for number in range(order["count"]):
                    said = {"type": "progress", "share": None, "step": f"frame {number}"}
                    pipe.send_bytes(json.dumps({**said, "step_limit": 1.0}).encode())
                    time.sleep(order["seconds"])
                pipe.send_bytes(b'{"type": "done"}')
            case "ponder":  # a long step without a word, as the real workers do it
                try:
                    with worker.ProgressReporter(pipe) as report:
                        signal.signal(worker.WAKE_SIGNAL, report.check_canceled)
                        while True:
                            sum(range(1000))
                except worker.JobCanceled:
                    pipe.send_bytes(b'{"type": "canceled"}')
            case "cancel":
                pass
            case "complain":
                answer = {"type": "failed", "status": 422, "error": "No.", "retry_after": 3}
                pipe.send_bytes(json.dumps(answer).encode())


def stillborn(pipe, setup):
    os._exit(1)


def recovering(pipe, setup):
    if not os.path.exists(setup):
        answer = {"type": "broken", "error": "OSError: no such disk"}
        pipe.send_bytes(json.dumps(answer).encode())
        os._exit(1)
    work(pipe, setup)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "misbehaving.py").write_text(WORKER)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module("misbehaving")


@pytest.fixture
def play(tmp_path, monkeypatch, module):
    """Run a coroutine function with a pool and a maker of jobs."""
    monkeypatch.setattr(worker_pool, "run_worker", module.work)

    def run(story, workers=1, setup=None, **limits):
        async def whole():
            most, metrics = Limits(**limits), Metrics()
            pool = WorkerPool(setup, workers, most, metrics)
            jobs = JobStore(tmp_path, most, metrics)

            def job():
                return jobs.new_job("test", ("json",), keep=True)

            pool.start()
            try:
                return await asyncio.wait_for(story(pool, job, metrics), 60)
            finally:
                await asyncio.wait_for(pool.close(), 20)

        return asyncio.run(whole())

    return run


def deaths(metrics, *reasons):
    """Number of lost workers, for some reasons or all."""
    (counter,) = metrics.worker_deaths.collect()
    return sum(
        one.value
        for one in counter.samples
        if one.name.endswith("_total") and (not reasons or one.labels["reason"] in reasons)
    )


async def outcome(task):
    """Return (status, sentence) of a task that fails."""
    with pytest.raises(ServiceError) as caught:
        await task.done
    return caught.value.status, caught.value.message


def test_one_after_the_other(play):
    async def story(pool, job, metrics):
        one = job()
        tasks = [await pool.submit(one, {"action": "echo", "said": "hi"})]
        tasks += [await pool.submit(job(), {"action": "echo", "said": str(k)}) for k in range(3)]
        answers = [await task.done for task in tasks]
        assert [answer["said"] for answer in answers] == ["hi", "0", "1", "2"]
        assert len({answer["pid"] for answer in answers}) == 1
        assert one.state == "done"

    play(story)


def test_two_workers_share(play):
    async def story(pool, job, metrics):
        while pool.ready < 2:
            await asyncio.sleep(0.01)
        two = [await pool.submit(job(), {"action": "sleep", "seconds": 2.0}) for _ in range(2)]
        while not all(task.job.state == "running" for task in two):
            assert not any(task.done.done() for task in two)
            await asyncio.sleep(0.01)
        await asyncio.gather(*(task.done for task in two))

    play(story, workers=2)


def test_a_death_costs_one_job(play):
    async def story(pool, job, metrics):
        victim = job()
        dead = await pool.submit(victim, {"action": "die"})
        after = await pool.submit(job(), {"action": "echo", "said": "still here"})
        status, sentence = await outcome(dead)
        assert status == 503
        assert "exit code 7" in sentence
        assert (victim.state, victim.error.retry_after) == ("failed", 1)
        assert (await after.done)["said"] == "still here"
        assert deaths(metrics, "crash") == 1

    play(story)


def test_rubbish_from_a_worker_is_a_death(play):
    async def story(pool, job, metrics):
        status, _ = await outcome(await pool.submit(job(), {"action": "babble"}))
        assert status == 503
        again = await pool.submit(job(), {"action": "echo", "said": "fine"})
        assert (await again.done)["said"] == "fine"

    play(story)


def test_too_long(play):
    async def story(pool, job, metrics):
        slow = await pool.submit(job(), {"action": "sleep", "seconds": 60})
        status, sentence = await outcome(slow)
        assert status == 503
        assert "longer than 1 s" in sentence
        again = await pool.submit(job(), {"action": "echo", "said": "fine"})
        assert (await again.done)["said"] == "fine"
        assert deaths(metrics, "time") == 1

    play(story, job_timeout=1)


def test_progress_is_no_excuse(play):
    async def story(pool, job, metrics):
        status, sentence = await outcome(await pool.submit(job(), {"action": "chatter"}))
        assert status == 503
        assert "longer than 1 s" in sentence

    play(story, job_timeout=1)


def test_too_much_memory(play):
    async def story(pool, job, metrics):
        status, sentence = await outcome(await pool.submit(job(), {"action": "grow"}))
        assert status == 503
        assert "memory" in sentence
        assert deaths(metrics, "memory") == 1

    play(story, worker_memory_mb=200)


def test_a_job_that_listens_is_canceled_without_a_death(play):
    async def story(pool, job, metrics):
        one = job()
        task = await pool.submit(one, {"action": "listen"})
        while one.step != "half":
            await asyncio.sleep(0.01)
        assert one.progress == 0.5
        pool.cancel(task)
        assert (await outcome(task))[0] == 409
        assert one.state == "canceled"
        assert deaths(metrics) == 0

    play(story)


def test_a_long_step_is_canceled_without_a_death(play):
    async def story(pool, job, metrics):
        one = job()
        task = await pool.submit(one, {"action": "ponder"})
        while one.state != "running":
            await asyncio.sleep(0.01)
        before = time.monotonic()
        pool.cancel(task)
        assert (await outcome(task))[0] == 409
        assert time.monotonic() - before < 5  # well before anybody would be killed
        again = await pool.submit(job(), {"action": "echo", "said": "fine"})
        assert (await again.done)["said"] == "fine"
        assert deaths(metrics) == 0

    play(story)


def test_time_that_is_not_the_jobs_own_is_not_counted(play):
    async def story(pool, job, metrics):
        excused = await pool.submit(job(), {"action": "compile", "counted": False})
        await excused.done
        assert deaths(metrics) == 0
        status, sentence = await outcome(
            await pool.submit(job(), {"action": "compile", "counted": True})
        )
        assert (status, "longer than 1 s" in sentence) == (503, True)

    play(story, job_timeout=1)


def test_but_only_up_to_a_point(play, monkeypatch):
    monkeypatch.setattr(worker_pool, "_MAX_UNCOUNTED", 0.2)

    async def story(pool, job, metrics):
        task = await pool.submit(job(), {"action": "compile", "counted": False})
        assert (await outcome(task))[0] == 503

    play(story, job_timeout=1)


def test_steps_with_limits_of_their_own(play):
    async def story(pool, job, metrics):
        long = await pool.submit(job(), {"action": "frames", "count": 8, "seconds": 0.3})
        await long.done  # longer than a job may take, but no step is
        assert deaths(metrics) == 0
        stuck = await pool.submit(job(), {"action": "frames", "count": 1, "seconds": 60})
        status, message = await outcome(stuck)
        assert (status, "one step (frame 0) took longer than 1 s" in message.lower()) == (503, True)

    play(story, job_timeout=1)


def test_memory_of_the_dead_is_not_told(play):
    async def story(pool, job, metrics):
        first = await (await pool.submit(job(), {"action": "echo", "said": ""})).done
        assert f'worker="{first["pid"]}"' in metrics.text()
        await outcome(await pool.submit(job(), {"action": "die"}))
        second = await (await pool.submit(job(), {"action": "echo", "said": ""})).done
        assert f'worker="{first["pid"]}"' not in metrics.text()
        assert f'worker="{second["pid"]}"' in metrics.text()

    play(story)


def test_a_job_that_does_not_listen_is_ended(play, monkeypatch):
    monkeypatch.setattr(worker_pool, "CANCEL_TIMEOUT", 1.0)

    async def story(pool, job, metrics):
        one = job()
        task = await pool.submit(one, {"action": "sleep", "seconds": 60})
        while one.state != "running":
            await asyncio.sleep(0.01)
        pool.cancel(task)
        assert (await outcome(task))[0] == 409
        assert one.state == "canceled"
        again = await pool.submit(job(), {"action": "echo", "said": "fine"})
        assert (await again.done)["said"] == "fine"

    play(story)


def test_the_queue_is_bounded_and_in_order(play):
    async def story(pool, job, metrics):
        while not pool.ready:
            await asyncio.sleep(0.01)
        first, jobs = job(), [job() for _ in range(3)]
        busy = await pool.submit(first, {"action": "listen"})
        while first.state != "running":
            await asyncio.sleep(0.01)
        tasks = [await pool.submit(one, {"action": "echo", "said": ""}) for one in jobs[:2]]
        assert [pool.position(one) for one in jobs] == [1, 2, 0]
        with pytest.raises(ServiceError) as caught:
            await pool.submit(jobs[2], {"action": "echo", "said": ""})
        assert caught.value.status == 429
        assert int(caught.value.headers["Retry-After"]) >= 1
        pool.cancel(tasks[0])
        assert jobs[0].state == "canceled"
        assert pool.position(jobs[1]) == 1
        pool.cancel(busy)
        await tasks[1].done

    play(story, max_queue=2)


def test_a_failure_keeps_its_words(play):
    async def story(pool, job, metrics):
        one = job()
        assert await outcome(await pool.submit(one, {"action": "complain"})) == (422, "No.")
        with pytest.raises(ServiceError) as caught:
            one.require_result()
        assert (caught.value.status, caught.value.message) == (422, "No.")
        assert caught.value.headers["Retry-After"] == "3"

    play(story)


def test_what_waits_is_told_when_the_server_stops(play):
    async def story(pool, job, metrics):
        first, second = job(), job()
        busy = await pool.submit(first, {"action": "sleep", "seconds": 60})
        waiting = await pool.submit(second, {"action": "echo", "said": ""})
        while first.state != "running":
            await asyncio.sleep(0.01)
        await pool.close()
        assert (await outcome(waiting))[0] == 503
        assert (await outcome(busy))[0] == 503
        assert second.state == first.state == "failed"

    play(story)


def test_workers_that_never_start_are_not_hired_in_a_frenzy(play, monkeypatch, module):
    monkeypatch.setattr(worker_pool, "run_worker", module.stillborn)

    async def story(pool, job, metrics):
        waiting, first = job(), time.monotonic()
        task = await pool.submit(waiting, {"action": "echo", "said": ""})
        status, sentence = await outcome(task)  # it does not wait for ever
        assert status == 503
        assert "cannot start" in sentence
        assert "exit code 1" in sentence
        assert waiting.state == "failed"
        assert deaths(metrics, "start") == worker_pool.MAX_FAILED_STARTS
        assert time.monotonic() - first > worker_pool.RESTART_PAUSE * 3  # a second, then two
        with pytest.raises(ServiceError) as refused:
            pool.check_capacity()
        assert refused.value.status == 503
        assert int(refused.value.headers["Retry-After"]) >= 4  # then four, and so on
        assert pool.ready == 0

    play(story)


def test_a_crew_recovers_when_a_worker_starts(play, monkeypatch, module, tmp_path):
    monkeypatch.setattr(worker_pool, "run_worker", module.recovering)
    monkeypatch.setattr(worker_pool, "RESTART_PAUSE", 0.05)
    disk = tmp_path / "disk"

    async def story(pool, job, metrics):
        while pool.start_error is None:
            await asyncio.sleep(0.01)
        assert "OSError: no such disk" in pool.start_error.message
        disk.touch()
        while not pool.ready:
            await asyncio.sleep(0.01)
        assert pool.start_error is None
        answer = await (await pool.submit(job(), {"action": "echo", "said": "back"})).done
        assert answer["said"] == "back"

    play(story, setup=str(disk))


def test_a_full_disk_costs_the_oldest_results_first(tmp_path, monkeypatch):
    async def story():
        jobs = JobStore(tmp_path, Limits(min_free_mb=100), Metrics())
        made = [jobs.new_job("test", ("json",), keep=True) for _ in range(4)]
        for job in made:
            jobs.add(job)
        for job in made[:3]:
            job.finish("done")
        made[0].users = 1

        def usage(_):  # every folder that is gone frees 30 MB
            gone = sum(not job.folder.exists() for job in made)
            return SimpleNamespace(free=90e6 + 30e6 * gone)

        monkeypatch.setattr("shutil.disk_usage", usage)
        jobs.ensure_space(1_000_000)
        assert [job.folder.exists() for job in made] == [True, False, True, True]
        with pytest.raises(ServiceError) as caught:
            jobs.ensure_space(100_000_000)
        assert caught.value.status == 507
        assert "Retry-After" in caught.value.headers
        assert [job.folder.exists() for job in made] == [True, False, False, True]  # used, running

    asyncio.run(story())


def test_old_and_large_results_go(tmp_path):
    def kept(jobs, count, size):
        made = []
        for _ in range(count):
            job = jobs.new_job("test", ("json",), keep=True)
            (job.folder / "result").write_bytes(bytes(size))
            job.finish("done")
            jobs.add(job)
            made.append(job)
        return made

    async def story():
        jobs = JobStore(tmp_path, Limits(max_kept=3, max_kept_mb=1, keep_seconds=100), Metrics())
        made = kept(jobs, 5, 10)
        jobs.remove_expired()
        assert [one.folder.exists() for one in made] == [False, False, True, True, True]
        made[2].ended -= 200
        jobs.remove_expired()
        assert not made[2].folder.exists()
        with pytest.raises(ServiceError):
            jobs.get(made[2].id)
        held, free = kept(jobs, 2, 900_000)
        held.users = 1
        jobs.remove_expired()
        assert held.folder.exists()
        assert not made[3].folder.exists()
        assert not free.folder.exists()

    asyncio.run(story())
