"""`sightline train teacher|student|metric|speaker|mean|shards`: each stage is one command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from sightline.depth.training.options import MetricOptions, StudentOptions, TrainOptions
from sightline.errors import InputError
from sightline.perception.model.options import AdaptOptions, SpeakerOptions

if TYPE_CHECKING:
    from sightline.depth.training.stages import Score
    from sightline.depth.training.stream import Source

app = App(name="train", help="Train a teacher, a student, a metric model or a speaker.")

DATA_HELP = """SET:FOLDER or SET:FOLDER@SHARE, several times. SET: pairs (rgbd_train and scenes),
photos (photos:FOLDER:LABELS), shards, hypersim, vkitti2, tartanair, blendedmvs, irs. SHARE: samples
of every batch, 8 when left out."""

Data = Annotated[list[str], Parameter(help=" ".join(DATA_HELP.split()), negative=())]


@app.command
def teacher(
    *,
    data: Data,
    out: Path,
    validate: Path | None = None,
    options: Annotated[TrainOptions, Parameter(name="*")] = TrainOptions(),  # noqa: B008 - frozen
) -> None:
    """Train a teacher on exact and measured depth.

    Stop it at any time; the same command goes on where it stopped. For several processes:
    `torchrun --nproc-per-node N -m -- sightline train teacher ...`.

    Args:
        data: what to learn from.
        out: folder of the run: checkpoint, log, and at the end model.safetensors.
        validate: folder in the format of `sightline bench rgbd`, scored as training goes.
        options: everything else; one flag per field.
    """
    from sightline.depth.training.data import open_sources

    sources = open_sources(data, options.short_side, notify=_tell)
    _run("teacher", sources, out, options, validate, {"data": data})


@app.command
def student(
    *,
    out: Path,
    photos: Path | None = None,
    labels: Annotated[list[Path] | None, Parameter(negative=())] = None,
    data: Data | None = None,
    share: int = 16,
    validate: Path | None = None,
    options: Annotated[StudentOptions, Parameter(name="*")] = StudentOptions(),  # noqa: B008
) -> None:
    """Train a student on photographs that a teacher, or several, labelled.

    Labels of several teachers are brought to one scale and averaged; where they disagree, they count
    less. Photographs whose name falls into the held-out fiftieth are never used.

    Args:
        out: folder of the run: checkpoint, log, and at the end model.safetensors.
        photos: folder of photographs.
        labels: a folder that `sightline label` wrote, or of another teacher; several times for an
            ensemble, the sharpest first.
        data: exact or measured depth to mix in, or labelled photographs as shards.
        share: samples of every batch that come from the photographs.
        validate: folder in the format of `sightline bench rgbd`, scored as training goes.
        options: everything else; one flag per field.
    """
    from sightline.depth.training.data import open_photos, open_sources

    if (photos is None) != (not labels):
        raise InputError("photographs and labels belong together", remedy="give both or none")
    if photos is None and not data:
        raise InputError("nothing to learn from", remedy="give --photos and --labels, or --data")
    sources: list[Source] = []
    if photos is not None:
        sources.append(open_photos(photos, labels or [], options.short_side, share, notify=_tell))
    sources += open_sources(data or [], options.short_side, notify=_tell)
    where = {"photos": photos, "labels": labels or [], "share": share, "data": data or []}
    _run("student", sources, out, options, validate, where)


@app.command
def metric(
    *,
    data: Data,
    out: Path,
    validate: Path | None = None,
    options: Annotated[MetricOptions, Parameter(name="*")] = MetricOptions(),  # noqa: B008
) -> None:
    """Train a model of metres on measured depth; pairs without a known unit are left out.

    Args:
        data: what to learn from.
        out: folder of the run: checkpoint, log, and at the end model.safetensors.
        validate: folder in the format of `sightline bench rgbd`, scored in metres as training goes.
        options: everything else; one flag per field.
    """
    from sightline.depth.training.data import open_sources

    sources = open_sources(
        data, options.short_side, metric=True, camera=options.focal > 0, notify=_tell
    )
    _run("metric", sources, out, options, validate, {"data": data})


@app.command
def speaker(
    *,
    model: str,
    questions: Annotated[list[Path], Parameter(negative=())],
    out: Path,
    codebook: str = "codebook",
    size: int = 20_000,
    epochs: int = 10,
    adapt: Annotated[AdaptOptions, Parameter(name="*")] = AdaptOptions(),  # noqa: B008 - frozen
    options: Annotated[SpeakerOptions, Parameter(name="*")] = SpeakerOptions(),  # noqa: B008
    dtype: Literal["float32", "bfloat16"] = "float32",
    device: str | None = None,
) -> None:
    """Teach a LLaVA-type model perception tokens by LoRA, perceiving first, then reasoning by it.

    Stop it at any time; the same command goes on where it stopped. For several processes:
    `torchrun --nproc-per-node N -m -- sightline train speaker ...`. Defaults are AURORA's.

    Args:
        model: folder or hub name of the model to start from.
        questions: folder that `sightline questions` wrote; several times for several.
        out: folder of the run: checkpoint, log, and at the end `adapter`, which `sightline ask` takes.
        codebook: that wrote the questions' depth tokens.
        size: samples of an epoch.
        epochs: over which the share of perception alone falls from all to a tenth.
        adapt: what of the model learns.
        options: how it is trained.
        dtype: of the frozen weights.
        device: cpu, cuda, cuda:1 or mps; default: the best here.
    """
    from sightline.depth.training.processes import is_first
    from sightline.perception.model.recipe import train_adapter

    train_adapter(
        model,
        questions,
        out,
        codebook=codebook,
        size=size,
        epochs=epochs,
        adapt_options=adapt,
        options=options,
        dtype=dtype,
        device=device,
        report=_tell,
    )
    if is_first():
        print(out / "adapter")


@app.command
def mean(models: Annotated[list[Path], Parameter(name="MODEL")], /, *, out: Path) -> None:
    """Write the mean of several trainings of one network: often better than each of them.

    Args:
        models: weight files of runs that started from the same weights.
        out: safetensors file to write.
    """
    from sightline.depth.training.mean import write_mean

    write_mean(models, out)
    print(out)


@app.command
def shards(
    *, data: str, out: Path, short_side: int = 518, per_shard: int = 512, workers: int = 2
) -> int:
    """Pack a training set into tar files that are read from end to end, for sets beyond memory.

    Train from them with `--data shards:OUT`. Stop it at any time; the same command goes on.

    Args:
        data: SET:FOLDER as for training.
        out: folder for the shards.
        short_side: pictures are shrunk to this, in pixels.
        per_shard: pairs in each file.
        workers: processes that read.
    """
    from sightline.depth.training.datasets import open_set
    from sightline.depth.training.shards import write_shards

    found, left_out = open_set(data), []
    write_shards(
        found.items,
        out,
        read=found.read,
        per_shard=per_shard,
        short_side=short_side,
        workers=workers,
        skip=lambda _, error: left_out.append(error),
    )
    for error in left_out:
        _tell(f"left out: {error}")
    print(f"{len(found.items) - len(left_out)} pairs in {out}")
    return InputError.exit_code if left_out else 0


def _run(
    stage: str,
    sources: list[Source],
    out: Path,
    options: TrainOptions,
    validate: Path | None,
    data: dict[str, Any],
) -> None:
    from sightline.depth.training.data import describe_sources
    from sightline.depth.training.processes import is_first
    from sightline.depth.training.stages import run_stage

    named = [str(text) for key in ("data", "labels") for text in data.get(key, ())]
    data = {**data, **describe_sources(named, sources)}
    score = _score(validate, metric=isinstance(options, MetricOptions)) if validate else None
    model = run_stage(stage, sources, out, options, score=score, report=_tell, data=data)
    if is_first():
        print(model)


def _score(folder: Path, *, metric: bool) -> Score:
    """Figures on a validation folder, a tenth of its large sets: training is not to wait for it."""
    from sightline.benchmarks.quick import quick_score

    return quick_score(folder, metric=metric)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
