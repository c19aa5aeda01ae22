"""The loop: same seed, same weights, however often it was stopped."""

import signal

import pytest
import torch

from sightline.depth.compact import CompactDepth
from sightline.depth.training.learner import Learner, LossConfig
from sightline.depth.training.loop import TrainConfig, Trainer, rate_at, train
from sightline.errors import InputError, SightlineError
from sightline.running.log import Log

from .helpers import small_stream, two_sources


def trainer(folder, steps=4, network_seed=0):
    torch.manual_seed(network_seed)
    folder.mkdir(exist_ok=True)
    network = CompactDepth()
    config = TrainConfig(steps=steps, save_every=1, validate_every=2, warmup=1)
    return Trainer(Learner(network, network.spec, LossConfig()), config, folder)


def go(one, validate=lambda _: {"score": 1.0}, report=lambda _: None):
    train(one, two_sources(), small_stream(), validate, report)


def same(a, b):
    return all(torch.equal(value, b[name]) for name, value in a.items())


def test_stopped_and_resumed_equals_unbroken(tmp_path):
    whole = trainer(tmp_path / "a")
    go(whole)
    first = trainer(tmp_path / "b")

    def cut(_):
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        go(first, cut)
    second = trainer(tmp_path / "b", network_seed=99)
    assert second.resume()
    assert second.step == 1, "the checkpoint before the validation that was cut"
    go(second)
    assert same(whole.network.state_dict(), second.network.state_dict())
    assert same(whole.average, second.average)
    rows = [Log(tmp_path / name / "log.jsonl").rows() for name in "ab"]
    assert rows[0] == rows[1]
    assert [row["step"] for row in rows[0]] == [2, 4]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_polite_stop_ends_after_the_step_and_saves(tmp_path, number):
    before = signal.getsignal(number)
    one = trainer(tmp_path / "run")

    def stop(_):
        # Not by a real signal: where tests do not run in the main thread, it would end their process.
        handler = signal.getsignal(number)
        if handler is before:
            pytest.skip("signals are minded in the main thread only")
        handler(number, None)
        return {}

    with pytest.raises(KeyboardInterrupt, match="stopped at step 2 of 4"):
        go(one, stop)
    assert signal.getsignal(number) is before
    again = trainer(tmp_path / "run", network_seed=5)
    assert again.resume()
    assert again.step == 2
    assert same(again.network.state_dict(), one.network.state_dict())


def test_a_checkpoint_of_another_network_is_refused(tmp_path):
    one = trainer(tmp_path)
    torch.save({"network": {"x": torch.zeros(1)}}, tmp_path / "checkpoint.pt")
    with pytest.raises(InputError, match="does not fit"):
        one.resume()


def test_a_damaged_checkpoint_is_refused(tmp_path):
    one = trainer(tmp_path)
    one.save()
    data = one.checkpoint.read_bytes()
    one.checkpoint.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="is damaged and cannot be read"):
        one.resume()


def test_a_loss_that_is_not_finite_stops_the_run_and_spares_the_checkpoint(tmp_path):
    one = trainer(tmp_path)
    one.save()
    before = one.checkpoint.read_bytes()
    with torch.no_grad():
        one.network.last.bias.fill_(float("nan"))
    with pytest.raises(SightlineError, match="not finite at step 0"):
        go(one)
    assert one.checkpoint.read_bytes() == before


def test_weights_that_are_not_finite_are_not_saved(tmp_path):
    one = trainer(tmp_path)
    go(one)
    before = one.checkpoint.read_bytes()
    with torch.no_grad():
        one.network.last.bias.fill_(float("inf"))
    with pytest.raises(
        SightlineError, match=r"a weight is not finite .* the checkpoint of step \d+ is"
    ):
        one.save()
    assert one.checkpoint.read_bytes() == before


def test_a_gradient_that_is_not_finite_changes_no_weight(tmp_path):
    one = trainer(tmp_path)
    before = one.network.last.weight.detach().clone()
    loss = (one.network.last.weight * float("inf")).sum()
    with pytest.raises(SightlineError, match="the gradient is not finite at step 0; there is no"):
        one.update(loss)
    assert torch.equal(one.network.last.weight, before)


def test_the_rate_warms_up_holds_and_falls():
    config = TrainConfig(steps=100, warmup=10, decay=0.4)
    rates = [rate_at(step, config) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert set(rates[9:60]) == {1.0}
    assert rates[99] == pytest.approx(1 / 40)
    assert rates[60:] == sorted(rates[60:], reverse=True)
    poly = TrainConfig(steps=100, warmup=1, decay=1.0, power=0.9)
    assert rate_at(50, poly) == pytest.approx(0.5**0.9)


def test_a_log_forgets_what_the_checkpoint_has_not_seen(tmp_path):
    log = Log(tmp_path / "log.jsonl")
    for step in (2, 4, 6):
        log.add({"step": step})
    with log.path.open("a") as file:
        file.write('{"step": 8, "lo')  # a kill in the middle of a write by another program
    log.drop_after(4)
    assert [row["step"] for row in log.rows()] == [2, 4]
    log.path.write_text('nonsense\n{"step": 1}\n')
    with pytest.raises(InputError, match="line 1 is not JSON"):
        log.rows()
