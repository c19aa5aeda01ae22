"""The moving average against its closed form; restored from a file, it continues exactly."""

import io

import pytest
import torch
from torch import nn

from sightline.errors import InputError
from sightline.training.ema import ExponentialMovingAverage


def network(*values):
    made = nn.Linear(2, 1)
    set_to(made, *values)
    return made


def set_to(made, *values):
    with torch.no_grad():
        made.weight.copy_(torch.tensor([values[:2]]))
        made.bias.fill_(values[2])


def follow(mean, made, numbers):
    for n in numbers:
        set_to(made, n**0.5, -n, 1 / (n + 1))
        mean.update(made)


def test_warming_up_and_warm():
    """The mean is the sum of all values, each weighed by what came into it and what was kept since."""
    made, decay, count = network(9.0, 0.0, 0.0), 0.9, 200
    mean = ExponentialMovingAverage(made, decay)
    follow(mean, made, range(count))
    decays = [min(decay, (1 + n) / (10 + n)) for n in range(1, count + 1)]
    assert decays[78] < decay == decays[79]
    expected, kept = 0.0, 1.0
    for n in reversed(range(count)):
        expected += n**0.5 * (1 - decays[n]) * kept
        kept *= decays[n]
    assert float(mean.weights["weight"][0, 0]) == pytest.approx(expected + 9.0 * kept, rel=1e-5)


def test_the_first_update_forgets_most_of_the_random_beginning():
    made = network(100.0, 0.0, 0.0)
    mean = ExponentialMovingAverage(made, 0.9999)
    set_to(made, 0.0, 0.0, 0.0)
    mean.update(made)
    assert float(mean.weights["weight"][0, 0]) == pytest.approx(100 * 2 / 11)


def test_restored_from_a_file_it_goes_on_exactly():
    made = network(1.0, 2.0, 3.0)
    whole, part = ExponentialMovingAverage(made, 0.97), ExponentialMovingAverage(made, 0.97)
    follow(whole, made, range(60))
    follow(part, made, range(25))
    file = io.BytesIO()
    torch.save(part.state_dict(), file)
    file.seek(0)
    resumed = ExponentialMovingAverage(network(7.0, 7.0, 7.0), 0.97)
    resumed.load_state_dict(torch.load(file, weights_only=True))
    follow(resumed, made, range(25, 60))
    assert resumed.updates == 60
    for name, value in whole.weights.items():
        assert torch.equal(resumed.weights[name], value)


def test_it_is_lent_to_the_network_and_given_back_whatever_happens():
    made = network(1.0, 2.0, 3.0)
    mean = ExponentialMovingAverage(made, 0.5)
    set_to(made, 0.0, 0.0, 1.0)
    mean.update(made)

    def fail():
        with mean.applied(made):
            assert torch.equal(made.weight, mean.weights["weight"])
            assert made.bias.tolist() != [1.0]
            raise RuntimeError("in between")

    with pytest.raises(RuntimeError, match="in between"):
        fail()
    assert made.weight.tolist() == [[0.0, 0.0]]
    assert made.bias.tolist() == [1.0]
    assert float(mean.weights["weight"][0, 0]) > 0


def test_what_does_not_fit_is_refused():
    mean = ExponentialMovingAverage(network(1.0, 2.0, 3.0))
    with pytest.raises(InputError, match="belongs to another network"):
        mean.load_state_dict(ExponentialMovingAverage(nn.Linear(3, 1)).state_dict())
    with pytest.raises(InputError, match="decay must be in 0 to 1, below 1, got 1"):
        ExponentialMovingAverage(nn.Linear(1, 1), 1.0)


def test_the_mean_can_be_given_to_the_network_for_good():
    network = nn.Linear(2, 1)
    mean = ExponentialMovingAverage(network, 0.9)
    with torch.no_grad():
        network.weight += 1
    mean.update(network)
    wanted = mean.weights["weight"].clone()
    assert not torch.equal(network.weight, wanted)
    mean.copy_to(network)
    assert torch.equal(network.weight, wanted)


def test_buffers_are_averaged_and_counters_copied():
    norm = nn.BatchNorm1d(2)
    mean = ExponentialMovingAverage(norm, 0.9)
    norm.running_mean.fill_(11.0)
    norm.num_batches_tracked.fill_(7)
    mean.update(norm)
    assert mean.weights["running_mean"].tolist() == pytest.approx([9.0, 9.0])
    assert int(mean.weights["num_batches_tracked"]) == 7
    with mean.applied(norm):
        assert norm.running_mean.tolist() == pytest.approx([9.0, 9.0])
    assert norm.running_mean.tolist() == [11.0, 11.0]
