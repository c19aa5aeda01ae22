"""The crew with workers that do nothing but misbehave: time, memory, deaths, cancelling."""

from __future__ import annotations

import asyncio
import importlib
import time

import pytest

from sightline.app import crew as crews
from sightline.app import hands
from sightline.app import task as tasks
from sightline.app.crew import Crew
from sightline.app.jobs import Job, Jobs
from sightline.app.metrics import Metrics
from sightline.app.options import Limits
from sightline.app.problems import Problem

#: A module of its own, as new processes cannot import a test.
WORKER = """
import json
import os
import signal
import time

from sightline.app import worker


def work(pipe, setup):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(worker.NUDGE, signal.SIG_IGN)
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
                pipe.send_bytes(b'{"type": "cancelled"}')
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
            case "ponder":  # a long step without a word, as the real workers do it
                try:
                    with worker.Reporter(pipe) as report:
                        signal.signal(worker.NUDGE, report.heed)
                        while True:
                            sum(range(1000))
                except worker.Cancelled:
                    pipe.send_bytes(b'{"type": "cancelled"}')
            case "cancel":
                pass
            case "complain":
                answer = {"type": "failed", "status": 422, "error": "No.", "retry": 3}
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
    """Run a coroutine function with a crew and a maker of jobs."""
    monkeypatch.setattr(hands, "work", module.work)

    def run(story, workers=1, setup=None, **limits):
        async def whole():
            most, metrics = Limits(**limits), Metrics()
            crew = Crew(setup, workers, most, metrics)
            jobs = Jobs(tmp_path, most, metrics)

            def job():
                name, folder = jobs.new_folder()
                return Job(name, "test", {}, folder, ("json",), keep=True)

            crew.start()
            try:
                return await asyncio.wait_for(story(crew, job, metrics), 60)
            finally:
                await asyncio.wait_for(crew.close(), 20)

        return asyncio.run(whole())

    return run


async def outcome(task):
    """Return (status, sentence) of a task that fails."""
    with pytest.raises(Problem) as caught:
        await task.done
    return caught.value.status, caught.value.sentence


def test_one_after_the_other(play):
    async def story(crew, job, metrics):
        one = job()
        tasks = [await crew.submit(one, {"action": "echo", "said": "hi"})]
        tasks += [await crew.submit(job(), {"action": "echo", "said": str(k)}) for k in range(3)]
        answers = [await task.done for task in tasks]
        assert [answer["said"] for answer in answers] == ["hi", "0", "1", "2"]
        assert len({answer["pid"] for answer in answers}) == 1
        assert one.state == "done"

    play(story)


def test_two_workers_share(play):
    async def story(crew, job, metrics):
        while crew.ready < 2:
            await asyncio.sleep(0.01)
        two = [await crew.submit(job(), {"action": "sleep", "seconds": 2.0}) for _ in range(2)]
        while not all(task.job.state == "running" for task in two):
            assert not any(task.done.done() for task in two)
            await asyncio.sleep(0.01)
        await asyncio.gather(*(task.done for task in two))

    play(story, workers=2)


def test_a_death_costs_one_job(play):
    async def story(crew, job, metrics):
        victim = job()
        dead = await crew.submit(victim, {"action": "die"})
        after = await crew.submit(job(), {"action": "echo", "said": "still here"})
        status, sentence = await outcome(dead)
        assert status == 503
        assert "exit code 7" in sentence
        assert (victim.state, victim.retry) == ("failed", 1)
        assert (await after.done)["said"] == "still here"
        assert metrics.value("worker_deaths_total", reason="crash") == 1

    play(story)


def test_rubbish_from_a_worker_is_a_death(play):
    async def story(crew, job, metrics):
        status, _ = await outcome(await crew.submit(job(), {"action": "babble"}))
        assert status == 503
        again = await crew.submit(job(), {"action": "echo", "said": "fine"})
        assert (await again.done)["said"] == "fine"

    play(story)


def test_too_long(play):
    async def story(crew, job, metrics):
        slow = await crew.submit(job(), {"action": "sleep", "seconds": 60})
        status, sentence = await outcome(slow)
        assert status == 503
        assert "longer than 1 s" in sentence
        again = await crew.submit(job(), {"action": "echo", "said": "fine"})
        assert (await again.done)["said"] == "fine"
        assert metrics.value("worker_deaths_total", reason="time") == 1

    play(story, seconds=1)


def test_progress_is_no_excuse(play):
    async def story(crew, job, metrics):
        status, sentence = await outcome(await crew.submit(job(), {"action": "chatter"}))
        assert status == 503
        assert "longer than 1 s" in sentence

    play(story, seconds=1)


def test_too_much_memory(play):
    async def story(crew, job, metrics):
        status, sentence = await outcome(await crew.submit(job(), {"action": "grow"}))
        assert status == 503
        assert "memory" in sentence
        assert metrics.value("worker_deaths_total", reason="memory") == 1

    play(story, memory_mb=200)


def test_a_job_that_listens_is_cancelled_without_a_death(play):
    async def story(crew, job, metrics):
        one = job()
        task = await crew.submit(one, {"action": "listen"})
        while one.step != "half":
            await asyncio.sleep(0.01)
        assert one.progress == 0.5
        crew.cancel(task)
        assert (await outcome(task))[0] == 409
        assert one.state == "cancelled"
        assert metrics.value("worker_deaths_total") == 0

    play(story)


def test_a_long_step_is_cancelled_without_a_death(play):
    async def story(crew, job, metrics):
        one = job()
        task = await crew.submit(one, {"action": "ponder"})
        while one.state != "running":
            await asyncio.sleep(0.01)
        before = time.monotonic()
        crew.cancel(task)
        assert (await outcome(task))[0] == 409
        assert time.monotonic() - before < 5  # well before anybody would be killed
        again = await crew.submit(job(), {"action": "echo", "said": "fine"})
        assert (await again.done)["said"] == "fine"
        assert metrics.value("worker_deaths_total") == 0

    play(story)


def test_time_that_is_not_the_jobs_own_is_not_counted(play):
    async def story(crew, job, metrics):
        excused = await crew.submit(job(), {"action": "compile", "counted": False})
        await excused.done
        assert metrics.value("worker_deaths_total") == 0
        status, sentence = await outcome(
            await crew.submit(job(), {"action": "compile", "counted": True})
        )
        assert (status, "longer than 1 s" in sentence) == (503, True)

    play(story, seconds=1)


def test_but_only_up_to_a_point(play, monkeypatch):
    monkeypatch.setattr(tasks, "_UNCOUNTED", 0.2)

    async def story(crew, job, metrics):
        task = await crew.submit(job(), {"action": "compile", "counted": False})
        assert (await outcome(task))[0] == 503

    play(story, seconds=1)


def test_memory_of_the_dead_is_not_told(play):
    async def story(crew, job, metrics):
        first = await (await crew.submit(job(), {"action": "echo", "said": ""})).done
        assert f'worker="{first["pid"]}"' in metrics.text()
        await outcome(await crew.submit(job(), {"action": "die"}))
        second = await (await crew.submit(job(), {"action": "echo", "said": ""})).done
        assert f'worker="{first["pid"]}"' not in metrics.text()
        assert f'worker="{second["pid"]}"' in metrics.text()

    play(story)


def test_a_job_that_does_not_listen_is_ended(play, monkeypatch):
    monkeypatch.setattr(crews, "GRACE", 1.0)

    async def story(crew, job, metrics):
        one = job()
        task = await crew.submit(one, {"action": "sleep", "seconds": 60})
        while one.state != "running":
            await asyncio.sleep(0.01)
        crew.cancel(task)
        assert (await outcome(task))[0] == 409
        assert one.state == "cancelled"
        again = await crew.submit(job(), {"action": "echo", "said": "fine"})
        assert (await again.done)["said"] == "fine"

    play(story)


def test_the_queue_is_bounded_and_in_order(play):
    async def story(crew, job, metrics):
        while not crew.ready:
            await asyncio.sleep(0.01)
        first, jobs = job(), [job() for _ in range(3)]
        busy = await crew.submit(first, {"action": "listen"})
        while first.state != "running":
            await asyncio.sleep(0.01)
        tasks = [await crew.submit(one, {"action": "echo", "said": ""}) for one in jobs[:2]]
        assert [crew.position(one) for one in jobs] == [1, 2, 0]
        with pytest.raises(Problem) as caught:
            await crew.submit(jobs[2], {"action": "echo", "said": ""})
        assert caught.value.status == 429
        assert int(caught.value.headers["Retry-After"]) >= 1
        crew.cancel(tasks[0])
        assert jobs[0].state == "cancelled"
        assert crew.position(jobs[1]) == 1
        crew.cancel(busy)
        await tasks[1].done

    play(story, queue=2)


def test_a_failure_keeps_its_words(play):
    async def story(crew, job, metrics):
        one = job()
        assert await outcome(await crew.submit(one, {"action": "complain"})) == (422, "No.")
        problem = one.problem()
        assert (problem.status, problem.sentence) == (422, "No.")
        assert problem.headers["Retry-After"] == "3"

    play(story)


def test_what_waits_is_told_when_the_server_stops(play):
    async def story(crew, job, metrics):
        first, second = job(), job()
        busy = await crew.submit(first, {"action": "sleep", "seconds": 60})
        waiting = await crew.submit(second, {"action": "echo", "said": ""})
        while first.state != "running":
            await asyncio.sleep(0.01)
        await crew.close()
        assert (await outcome(waiting))[0] == 503
        assert (await outcome(busy))[0] == 503
        assert second.state == first.state == "failed"

    play(story)


def test_workers_that_never_start_are_not_hired_in_a_frenzy(play, monkeypatch, module):
    monkeypatch.setattr(hands, "work", module.stillborn)

    async def story(crew, job, metrics):
        waiting, first = job(), time.monotonic()
        task = await crew.submit(waiting, {"action": "echo", "said": ""})
        status, sentence = await outcome(task)  # it does not wait for ever
        assert status == 503
        assert "cannot start" in sentence
        assert "exit code 1" in sentence
        assert waiting.state == "failed"
        assert metrics.value("worker_deaths_total", reason="start") == crews.TRIES
        assert time.monotonic() - first > crews.PAUSE * 3  # a second, then two
        with pytest.raises(Problem) as refused:
            crew.check_room()
        assert refused.value.status == 503
        assert int(refused.value.headers["Retry-After"]) >= 4  # then four, and so on
        assert crew.ready == 0

    play(story)


def test_a_crew_recovers_when_a_worker_starts(play, monkeypatch, module, tmp_path):
    monkeypatch.setattr(hands, "work", module.recovering)
    monkeypatch.setattr(crews, "PAUSE", 0.05)
    disk = tmp_path / "disk"

    async def story(crew, job, metrics):
        while crew.failing is None:
            await asyncio.sleep(0.01)
        assert "OSError: no such disk" in crew.failing.sentence
        disk.touch()
        while not crew.ready:
            await asyncio.sleep(0.01)
        assert crew.failing is None
        answer = await (await crew.submit(job(), {"action": "echo", "said": "back"})).done
        assert answer["said"] == "back"

    play(story, setup=str(disk))


def test_old_and_large_results_go(tmp_path):
    def kept(jobs, count, size):
        made = []
        for _ in range(count):
            name, folder = jobs.new_folder()
            job = Job(name, "test", {}, folder, ("json",), keep=True)
            (folder / "result").write_bytes(bytes(size))
            job.end("done")
            jobs.add(job)
            made.append(job)
        return made

    async def story():
        jobs = Jobs(tmp_path, Limits(kept=3, kept_mb=1, keep=100), Metrics())
        made = kept(jobs, 5, 10)
        jobs.tidy()
        assert [one.folder.exists() for one in made] == [False, False, True, True, True]
        made[2].ended -= 200
        jobs.tidy()
        assert not made[2].folder.exists()
        with pytest.raises(Problem):
            jobs.get(made[2].id)
        held, free = kept(jobs, 2, 900_000)
        held.held = 1
        jobs.tidy()
        assert held.folder.exists()
        assert not made[3].folder.exists()
        assert not free.folder.exists()

    asyncio.run(story())
