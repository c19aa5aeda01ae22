"""`sightline train teacher|student|metric|vlm|mean|shards`: each stage is one command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from sightline.cli.config_file import ConfigFile
from sightline.depth.training.config import (
    DepthTrainConfig,
    MetricTrainConfig,
    StudentTrainConfig,
)
from sightline.errors import InputError
from sightline.perception.options import LoraOptions, VLMTraining

if TYPE_CHECKING:
    from sightline.depth.training.task import Score

app = App(
    name="train", help="Train a teacher, a student, a metric model or a vision-language model."
)

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
    config: ConfigFile = None,  # noqa: ARG001 - read before the command runs
    options: Annotated[DepthTrainConfig, Parameter(name="*")] = DepthTrainConfig(),  # noqa: B008
) -> None:
    """Train a teacher on exact and measured depth.

    Stop it at any time; the same command resumes. For several processes:
    `torchrun --nproc-per-node N -m -- sightline train teacher ...`.

    Args:
        data: Training data.
        out: Folder of the run: checkpoint, log and, at the end, model.safetensors.
        validate: Folder in the format of `sightline bench rgbd`, scored during training.
        config: TOML file with options.
        options: Options; one flag per field.
    """
    from sightline.depth.training.task import train_teacher
    from sightline.training.signals import stop_on_signals

    with stop_on_signals() as stop:
        model = train_teacher(data, out, options, score=_score(validate), report=_tell, stop=stop)
    _done(model)


@app.command
def student(
    *,
    out: Path,
    photos: Path | None = None,
    labels: Annotated[list[Path] | None, Parameter(negative=())] = None,
    data: Data | None = None,
    share: int = 16,
    validate: Path | None = None,
    config: ConfigFile = None,  # noqa: ARG001 - read before the command runs
    options: Annotated[StudentTrainConfig, Parameter(name="*")] = StudentTrainConfig(),  # noqa: B008
) -> None:
    """Train a student on photographs with pseudo-labels of one or several teachers.

    Labels of several teachers are aligned and averaged; where they disagree, they weigh less. Held-out
    photographs, one in fifty by file name, are never used.

    Args:
        out: Folder of the run: checkpoint, log and, at the end, model.safetensors.
        photos: Folder of photographs.
        labels: Folder that `sightline label` wrote; several times for an ensemble, the sharpest first.
        data: Exact or measured depth to mix in, or labeled photographs as shards.
        share: Number of samples per batch that come from the photographs.
        validate: Folder in the format of `sightline bench rgbd`, scored during training.
        config: TOML file with options.
        options: Options; one flag per field.
    """
    from sightline.depth.training.task import train_student
    from sightline.training.signals import stop_on_signals

    with stop_on_signals() as stop:
        model = train_student(
            out,
            options,
            photos=photos,
            labels=labels or [],
            data=data or [],
            share=share,
            score=_score(validate),
            report=_tell,
            stop=stop,
        )
    _done(model)


@app.command
def metric(
    *,
    data: Data,
    out: Path,
    validate: Path | None = None,
    config: ConfigFile = None,  # noqa: ARG001 - read before the command runs
    options: Annotated[MetricTrainConfig, Parameter(name="*")] = MetricTrainConfig(),  # noqa: B008
) -> None:
    """Train a metric model on measured depth; pairs without a known unit are left out.

    Args:
        data: Training data.
        out: Folder of the run: checkpoint, log and, at the end, model.safetensors.
        validate: Folder in the format of `sightline bench rgbd`, scored in meters during training.
        config: TOML file with options.
        options: Options; one flag per field.
    """
    from sightline.depth.training.task import train_metric
    from sightline.training.signals import stop_on_signals

    with stop_on_signals() as stop:
        model = train_metric(
            data, out, options, score=_score(validate, metric=True), report=_tell, stop=stop
        )
    _done(model)


@app.command
def vlm(
    *,
    model: str,
    questions: Annotated[list[Path], Parameter(negative=())],
    out: Path,
    codebook: str = "codebook",
    size: int = 20_000,
    epochs: int = 10,
    adapt: Annotated[LoraOptions, Parameter(name="*")] = LoraOptions(),  # noqa: B008 - frozen
    options: Annotated[VLMTraining, Parameter(name="*")] = VLMTraining(),  # noqa: B008
    dtype: Literal["float32", "bfloat16"] = "float32",
    config: ConfigFile = None,  # noqa: ARG001 - read before the command runs
) -> None:
    """Fine-tune a LLaVA-type model on perception tokens with LoRA.

    The share of perception samples falls during training, and that of reasoning samples rises. An
    interrupted run resumes with the same command. For several processes:
    `torchrun --nproc-per-node N -m -- sightline train vlm ...`. Defaults are those of AURORA.

    Args:
        model: folder or hub name of the model to start from.
        questions: folder written by `sightline questions`; may be repeated.
        out: folder of the run: checkpoint, log, and at the end `adapter`, which `sightline ask` takes.
        codebook: codebook of the depth tokens in the questions.
        size: samples per epoch.
        epochs: number of epochs, over which the share of perception samples falls from 1 to 0.1.
        adapt: LoRA options.
        options: training options.
        dtype: data type of the frozen weights.
        config: TOML file with options.
    """
    from sightline.perception.vlm.lora import train_adapter
    from sightline.training.signals import stop_on_signals

    with stop_on_signals() as stop:
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
            report=_tell,
            stop=stop,
        )
    _done(out / "adapter")


@app.command
def mean(models: Annotated[list[Path], Parameter(name="MODEL")], /, *, out: Path) -> None:
    """Write the average of several trained networks, which is often better than each of them.

    Args:
        models: Weight files of runs that started from the same weights.
        out: Safetensors file to write.
    """
    from sightline.depth.training.weights import average_models

    average_models(models, out)
    print(out)


@app.command
def shards(
    *, data: str, out: Path, short_side: int = 518, per_shard: int = 512, workers: int = 2
) -> int:
    """Pack a training set into tar files for sequential reading, for sets larger than memory.

    Train from them with `--data shards:OUT`. Stop it at any time; the same command resumes.

    Args:
        data: SET:FOLDER as for training.
        out: Folder for the shards.
        short_side: Shorter side that images are reduced to, in pixels.
        per_shard: Pairs in each file.
        workers: Reading processes.
    """
    from sightline.training.data.datasets import open_set
    from sightline.training.data.shards import write_shards

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


def _done(model: Path) -> None:
    """Print the path of the result, once for all processes."""
    from sightline.training.distributed import is_main_process

    if is_main_process():
        print(model)


def _score(folder: Path | None, *, metric: bool = False) -> Score | None:
    """Return a scorer on a tenth of a validation folder's large sets, which keeps validation short."""
    if folder is None:
        return None
    from sightline.benchmarks.quick import quick_score

    return quick_score(folder, metric=metric)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
