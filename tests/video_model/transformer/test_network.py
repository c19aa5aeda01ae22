"""The network as a whole: shapes, silence at the start, and all it is told reaches what it says."""

import dataclasses

import pytest
import torch

from sightline.errors import InputError
from sightline.video_model.diffusion import (
    draw_noise,
    draw_steps,
    make_schedule,
    noisy_and_target,
    sample,
    velocity_loss,
)
from sightline.video_model.options import TransformerOptions
from sightline.video_model.transformer import VideoCondition, VideoTransformer, first_frames, waves

PLAIN = TransformerOptions(frames=4, height=4, width=6, channels=2)
TOLD = dataclasses.replace(PLAIN, numbers=3, text=5)
SHAPE = (4, *PLAIN.shape)
T = torch.tensor([0, 10, 500, 999])


@pytest.fixture(autouse=True)
def one_thread():
    """So small a network only waits for a second one, above all where others work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def lively(options=PLAIN):
    """A network that is not silent, as after training."""
    torch.manual_seed(0)
    made = VideoTransformer(options)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    return made


def inputs(options=PLAIN):
    generator = torch.Generator().manual_seed(1)
    noisy, video = torch.randn(2, *SHAPE, generator=generator)
    told = {}
    if options.numbers:
        told["numbers"] = torch.randn(4, options.numbers, generator=generator)
    if options.text:
        told["text"] = torch.randn(4, 7, options.text, generator=generator)
        told["words"] = torch.arange(7) < torch.tensor([[7], [3], [1], [0]])
    return noisy, T, first_frames(video, 2, **told)


def changed(said, before):
    """Which samples changed."""
    return ((said - before).abs().flatten(1).amax(1) > 1e-5).tolist()


def test_gain_makes_given_frames_larger_and_nothing_else():
    noisy, t, known = inputs()
    louder = VideoCondition(3 * known.video, known.given)
    said = lively(dataclasses.replace(PLAIN, gain=3.0))(noisy, t, known)
    assert torch.equal(said, lively()(noisy, t, louder))
    assert all(changed(said, lively()(noisy, t, known)))
    with pytest.raises(InputError, match="gain must be a number above 0"):
        dataclasses.replace(PLAIN, gain=0.0)


@pytest.mark.parametrize("attention", ["full", "factorized"])
@pytest.mark.parametrize("patch", [(1, 2, 2), (2, 4, 3), (4, 1, 6)])
def test_shape_and_silence_at_the_start(attention, patch):
    options = dataclasses.replace(TOLD, attention=attention, patch=patch)
    torch.manual_seed(0)
    said = VideoTransformer(options)(*inputs(TOLD))
    assert said.shape == SHAPE
    assert not bool(said.any())
    assert bool(lively(options)(*inputs(TOLD)).isfinite().all())


def test_blocks_change_nothing_at_the_start():
    """Behind a last layer that speaks, each patch knows only itself, and no word."""
    torch.manual_seed(0)
    network = VideoTransformer(TOLD)
    torch.nn.init.normal_(network.last.weight)
    noisy, t, condition = inputs(TOLD)
    before = network(noisy, t, condition)
    touched = noisy.clone()
    touched[:, :, 1, :2, 2:4] += 3
    difference = network(touched, t, condition) - before
    assert bool(difference[:, :, 1, :2, 2:4].all())
    difference[:, :, 1, :2, 2:4] = 0
    assert not bool(difference.any())
    told = dataclasses.replace(condition, text=condition.text + 1)
    assert torch.equal(network(noisy, t, told), before)


def test_the_kinds_of_attention_differ():
    full = lively()
    taking_turns = lively(dataclasses.replace(PLAIN, attention="factorized"))
    taking_turns.load_state_dict(full.state_dict())
    a, b = full(*inputs()), taking_turns(*inputs())
    assert a.shape == b.shape
    assert changed(a, b) == [True] * 4


@pytest.mark.parametrize("attention", ["full", "factorized"])
def test_every_place_sees_every_place_and_no_other_sample(attention):
    network = lively(dataclasses.replace(PLAIN, attention=attention))
    noisy, t, condition = inputs()
    before = network(noisy, t, condition)
    for frame, row, column in ((0, 0, 0), (3, 3, 5), (1, 2, 3)):
        touched = noisy.clone()
        touched[2, :, frame, row, column] += 3
        difference = (network(touched, t, condition) - before).abs()
        assert not bool(difference[[0, 1, 3]].any())
        assert bool((difference[2].amax(0) > 0).all())


@pytest.mark.parametrize("attention", ["full", "factorized"])
def test_order_in_the_batch_means_nothing(attention):
    network = lively(dataclasses.replace(TOLD, attention=attention))
    noisy, t, condition = inputs(TOLD)
    order = [2, 0, 3, 1]
    parts = {f.name: getattr(condition, f.name)[order] for f in dataclasses.fields(condition)}
    said = network(noisy[order], t[order], VideoCondition(**parts))
    assert torch.allclose(said, network(noisy, t, condition)[order], atol=1e-5)


@pytest.mark.parametrize("name", ["video", "given", "numbers", "text", "words"])
def test_all_that_is_known_reaches_what_is_said(name):
    network, (noisy, t, condition) = lively(TOLD), inputs(TOLD)
    before = network(noisy, t, condition)
    value = getattr(condition, name).clone()
    value[1] = ~value[1] if value.dtype == torch.bool else value[1] + 1
    said = network(noisy, t, dataclasses.replace(condition, **{name: value}))
    assert changed(said, before) == [False, True, False, False]


def test_the_step_reaches_what_is_said():
    network, (noisy, t, condition) = lively(), inputs()
    said = network(noisy, torch.tensor([0, 11, 500, 999]), condition)
    assert changed(said, network(noisy, t, condition)) == [False, True, False, False]


def test_what_fills_up_words_is_not_looked_at():
    network, (noisy, t, condition) = lively(TOLD), inputs(TOLD)
    text = torch.where(condition.words[..., None], condition.text, 100.0)
    said = network(noisy, t, dataclasses.replace(condition, text=text))
    assert torch.equal(said, network(noisy, t, condition))


def test_steps_are_described_by_waves():
    described = waves(torch.tensor([0, 3]))
    assert described.shape == (2, 256)
    assert described[0].tolist() == [1.0] * 128 + [0.0] * 128
    assert described[1, 64] == pytest.approx(torch.cos(torch.tensor(3 / 100)))
    assert described[1, 128] == pytest.approx(torch.sin(torch.tensor(3.0)))


@pytest.mark.parametrize("attention", ["full", "factorized"])
def test_every_parameter_learns_once_silence_is_broken(attention):
    torch.manual_seed(0)
    network = VideoTransformer(dataclasses.replace(TOLD, attention=attention))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    touched = []
    for _ in range(3):
        optimizer.zero_grad()
        (network(*inputs(TOLD)) - 1).square().mean().backward()
        touched.append({n for n, p in network.named_parameters() if bool(p.grad.any())})
        optimizer.step()
    assert touched[0] == {"last.weight", "last.bias"}
    assert touched[2] == {name for name, _ in network.named_parameters()}


def test_bfloat16_says_nearly_the_same():
    network, told = lively(TOLD), inputs(TOLD)
    exact = network(*told).detach()
    with torch.autocast("cpu", torch.bfloat16):
        said = network(*told)
    assert said.dtype == torch.float32
    assert float((said.detach() - exact).norm() / exact.norm()) < 0.03
    assert not torch.equal(said, exact)
    said.square().mean().backward()
    assert all(bool(p.grad.isfinite().all()) for p in network.parameters())


@pytest.mark.parametrize("attention", ["full", "factorized"])
def test_a_saved_network_says_the_same(attention, tmp_path):
    network = lively(dataclasses.replace(TOLD, attention=attention))
    torch.save(
        {"options": network.options.to_dict(), "weights": network.state_dict()}, tmp_path / "a"
    )
    saved = torch.load(tmp_path / "a", weights_only=True)
    again = VideoTransformer(TransformerOptions.from_dict(saved["options"]))
    again.load_state_dict(saved["weights"])
    assert torch.equal(again(*inputs(TOLD)), network(*inputs(TOLD)))


def test_it_learns_a_video_and_samples_it_in_any_batch():
    """One video in noise of all strengths: the network learns to say it, and sampling to paint it."""
    options = TransformerOptions(frames=3, height=4, width=4, channels=1, patch=(1, 4, 4))
    gammas = make_schedule("cosine", 100)
    video = torch.zeros(16, *options.shape)
    for frame in range(3):
        video[:, 0, frame, :, frame] = 1
    condition = first_frames(video, 1)
    torch.manual_seed(0)
    network = VideoTransformer(options)
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    for step in range(120):
        numbers = range(16 * step, 16 * step + 16)
        t, noise = draw_steps(0, numbers, 100), draw_noise(0, numbers, options.shape)
        noisy, target = noisy_and_target(video, noise, t, gammas)
        loss = velocity_loss(network(noisy, t, condition), target, condition.given).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    noise = draw_noise(1, range(16), options.shape)
    painted = sample(network, noise, condition, gammas, steps=10, keep=condition.keep)
    assert torch.equal(painted[:, :, 0], video[:, :, 0])
    # A fifth of what an empty picture is wrong by.
    assert float((painted - video)[:, :, 1:].square().mean()) < 0.05
    one = first_frames(video[:1], 1)
    alone = sample(network, noise[5:6], one, gammas, steps=10, keep=one.keep)
    assert torch.allclose(alone[0], painted[5], atol=1e-4)
    assert not torch.allclose(alone[0], painted[4], atol=1e-4)


def wrong_inputs():
    noisy, t, condition = inputs(TOLD)

    def known(**other):
        return dataclasses.replace(condition, **other)

    return [
        (
            (noisy[:, :, :3], t, condition),
            r"noisy video: expected \(4, 2, 4, 4, 6\), got \(4, 2, 3,",
        ),
        ((noisy[0], t, condition), "noisy video: expected"),
        ((noisy, t[:1], condition), r"steps: expected \(4,\), got \(1,\)"),
        ((noisy, t, known(video=condition.video[..., :4])), "condition video: expected"),
        ((noisy, t, known(given=condition.given[:, :3])), r"given frames: expected \(4, 4\)"),
        ((noisy, t, known(numbers=None)), r"numbers: expected \(4, 3\), got none"),
        ((noisy, t, known(numbers=condition.numbers[:, :2])), r"numbers: .* got \(4, 2\)"),
        ((noisy, t, known(text=None)), "text: expected .* got none"),
        ((noisy, t, known(text=condition.text[..., 1:])), r"text: .*\(4, 7, 5\), got \(4, 7, 4\)"),
        ((noisy, t, known(words=condition.words[:, 1:])), r"words: .*\(4, 7\), got \(4, 6\)"),
    ]


@pytest.mark.parametrize("number", range(10))
def test_what_does_not_fit_is_refused(number):
    wrong, words = wrong_inputs()[number]
    with pytest.raises(InputError, match=words):
        lively(TOLD)(*wrong)


def test_what_was_not_asked_for_is_refused():
    with pytest.raises(InputError, match=r"numbers: expected none, got \(4, 3\)"):
        lively(PLAIN)(*inputs(TOLD))
