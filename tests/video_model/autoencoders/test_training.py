"""Training of a codec: the loss falls, a broken run ends with the same weights, bad batches stop it."""

import json

import pytest
import torch

from sightline.errors import InputError, SightlineError
from sightline.training.checkpoint import load_checkpoint
from sightline.video_model.autoencoders.codec import to_floats
from sightline.video_model.autoencoders.files import read_codec
from sightline.video_model.autoencoders.frames import FrameCodec
from sightline.video_model.autoencoders.options import CodecTraining, FrameOptions
from sightline.video_model.autoencoders.training import draw_noise, train_new_codec


def small():
    return FrameCodec(FrameOptions(channels=4, widths=(6, 8, 12)))


PACE = {"warm_up": 2, "save_every": 3, "validate_every": 4, "measure": 2}


class Squares:
    """Red squares on white, and what happens when a batch is asked for."""

    def __init__(self, size=16, at=None, does=None):
        self.size, self.at, self.does = size, at, does
        self.asked = []

    def frames(self, step):
        self.asked.append(step)
        generator = torch.Generator().manual_seed(step)
        made = torch.full((6, 3, self.size, self.size), 255, dtype=torch.uint8)
        for frame in made:
            row, column = torch.randint(0, self.size - 6, (2,), generator=generator).tolist()
            frame[1:, row : row + 6, column : column + 6] = 0
        return self.does(made) if step == self.at else made


def train(out, source=None, **options):
    lines = []
    made = train_new_codec(
        source or Squares(), out, CodecTraining(**(PACE | options)), small, report=lines.append
    )
    return made, lines


def pull_the_plug(_):
    raise OSError("the plug was pulled")


def test_a_broken_run_ends_with_the_same_weights(tmp_path):
    whole, _ = train(tmp_path / "a", steps=8)
    with pytest.raises(OSError, match="plug"):
        train(tmp_path / "b", Squares(at=5, does=pull_the_plug), steps=8)
    source = Squares()
    again, lines = train(tmp_path / "b", source, steps=8)
    assert "resuming at step 3 of 8" in lines
    assert source.asked[0] == 3
    for name, value in whole.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name
    assert (tmp_path / "a/log.jsonl").read_text() == (tmp_path / "b/log.jsonl").read_text()
    one, two = (tmp_path / run / "codec.safetensors" for run in "ab")
    assert one.read_bytes() == two.read_bytes()
    other, _ = train(tmp_path / "c", steps=8, seed=1)
    assert not torch.equal(other.encoder[0].weight, whole.encoder[0].weight)


def test_the_loss_falls_and_the_latents_are_measured_on_batches_of_their_own(tmp_path):
    source = Squares()
    codec, _ = train(tmp_path, source, steps=40, rate=1e-2)
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == list(range(4, 41, 4))
    assert rows[-1]["loss"] < 0.5 * rows[0]["loss"]
    assert source.asked == list(range(42))
    latents = codec.encode(torch.cat([to_floats(source.frames(n)) for n in (40, 41)])[:, :, None])
    dims = (0, 2, 3, 4)
    assert latents.mean(dims).abs().max() < 1e-3
    assert (latents.std(dims, correction=0) - 1).abs().max() < 1e-3
    assert not codec.training
    written = read_codec(tmp_path / "codec.safetensors")
    assert torch.equal(written.mean, codec.mean)
    assert codec.mean.abs().max() > 0


def test_a_finished_run_is_finished(tmp_path):
    first, _ = train(tmp_path, steps=4)
    source = Squares()
    again, _ = train(tmp_path, source, steps=4)
    assert source.asked == [4, 5]
    assert torch.equal(first.decoder[0].weight, again.decoder[0].weight)


def test_figures_go_into_the_log(tmp_path):
    asked = []

    def validate(codec):
        asked.append(codec.training)
        return {"figure": 0.25}

    train_new_codec(
        *(Squares(), tmp_path, CodecTraining(**PACE, steps=5), small),
        validate=validate,
        report=lambda _: None,
    )
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [(row["step"], row["figure"]) for row in rows] == [(4, 0.25), (5, 0.25)]
    assert asked == [False, False]


def test_a_loss_that_is_not_finite_keeps_the_last_checkpoint(tmp_path, monkeypatch):
    from sightline.video_model.autoencoders import training

    real, count = training.reconstruction_loss, []

    def poisoned(*args):
        count.append(0)
        return real(*args) * (float("nan") if len(count) == 6 else 1)

    monkeypatch.setattr(training, "reconstruction_loss", poisoned)
    with pytest.raises(
        SightlineError, match="not finite at step 5, on batch 5; the checkpoint of step 3 is kept"
    ):
        train(tmp_path, steps=9)
    state = load_checkpoint(tmp_path)
    assert state["step"] == 3
    assert all(torch.isfinite(value).all() for value in state["model"].values())
    assert not (tmp_path / "codec.safetensors").exists()
    monkeypatch.undo()
    assert "resuming at step 3 of 9" in train(tmp_path, steps=9)[1]


def test_a_slope_that_is_not_finite_stops_before_it_does_harm(tmp_path, monkeypatch):
    from sightline.video_model.autoencoders import training

    def steep(decoded, video, ink):  # a root has no slope at 0
        return (decoded - decoded.detach()).abs().sum().sqrt()

    monkeypatch.setattr(training, "reconstruction_loss", steep)
    with pytest.raises(SightlineError, match="at step 0, on batch 0; there is no checkpoint yet"):
        train(tmp_path, steps=2)


def test_a_checkpoint_is_whole_or_not_there(tmp_path, monkeypatch):
    with pytest.raises(OSError, match="plug"):
        train(tmp_path, Squares(at=5, does=pull_the_plug), steps=8)
    kept = (tmp_path / "checkpoint.pt").read_bytes()

    def cut_short(_, path):
        path.write_bytes(b"half of it")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", cut_short)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path, steps=8)
    assert (tmp_path / "checkpoint.pt").read_bytes() == kept
    assert not list(tmp_path.glob(".*part*"))


def test_the_folder_of_another_run(tmp_path):
    train(tmp_path, steps=2)
    for other, words in (({"rate": 1e-4}, "rate"), ({"steps": 9}, "steps")):
        with pytest.raises(InputError, match=f"holds a run with other {words}"):
            train(tmp_path, **({"steps": 2} | other))
    with pytest.raises(InputError, match="other build"):
        train_new_codec(
            Squares(), tmp_path, CodecTraining(**PACE, steps=2), FrameCodec, report=print
        )
    (tmp_path / "checkpoint.pt").write_bytes(b"torn")
    with pytest.raises(InputError, match="is damaged and cannot be read"):
        train(tmp_path, steps=2)


@pytest.mark.parametrize(
    "does", [lambda x: x.float(), lambda x: x[0], lambda x: x[:0]], ids=["floats", "one", "none"]
)
def test_a_batch_that_is_none_is_named(does, tmp_path):
    with pytest.raises(InputError, match=r"batch 1 is .* expected bytes of \(B, 3, S, S\)"):
        train(tmp_path, Squares(at=1, does=does), steps=2)


def test_noise_follows_from_seed_and_step():
    shape = (500, 4)
    one = draw_noise(3, 7, shape)
    assert torch.equal(one, draw_noise(3, 7, shape))
    assert not torch.equal(one, draw_noise(3, 8, shape))
    assert not torch.equal(one, draw_noise(4, 7, shape))
    assert one.mean().abs() < 0.1
    assert abs(one.std() - 1) < 0.1


def test_noise_changes_what_is_learned(tmp_path):
    quiet, _ = train(tmp_path / "a", steps=2, noise=0.0)
    noisy, _ = train(tmp_path / "b", steps=2, noise=1.0)
    assert not torch.equal(quiet.decoder[0].weight, noisy.decoder[0].weight)


def test_frames_are_decoded_to_what_is_wanted(tmp_path):
    class Inverted(Squares):
        def frames(self, step):
            made = super().frames(step)
            return made, 255 - made

    plain, _ = train(tmp_path / "a", steps=30, rate=1e-2)
    turned, _ = train(tmp_path / "b", Inverted(), steps=30, rate=1e-2)
    video = to_floats(Squares().frames(99))[:, :, None]
    assert plain.decode(plain.encode(video)).mean() > 0
    assert turned.decode(turned.encode(video)).mean() < 0

    class Uneven(Squares):
        def frames(self, step):
            made = super().frames(step)
            return made, made[:3]

    with pytest.raises(InputError, match="wanted is"):
        train(tmp_path / "c", Uneven(), steps=2)
