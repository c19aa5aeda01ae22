"""`sightline quiz NAME DIR --model MODEL`: evaluate a model on questions about images."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sightline.config import Flag, ParallelConfig
from sightline.errors import InputError

if TYPE_CHECKING:
    from sightline.perception.evaluation import BenchmarkQuestion, EvaluationResult, Judge

_COLUMNS = {"right": "words", "perceived": "perception", "verified": "verified"}


def quiz(
    name: Annotated[str, Parameter(name="NAME")],
    folder: Annotated[Path, Parameter(name="DIR")],
    /,
    *,
    model: str | None = None,
    depth: str | None = None,
    codebook: str = "codebook",
    direct: Flag = False,
    replace: str | None = None,
    keep_order: Flag = False,
    every: int = 1,
    json: Path | None = None,
    parallel: Annotated[ParallelConfig, Parameter(name="*")] = ParallelConfig(),  # noqa: B008
) -> int:
    """Evaluate on hardblink, blink-depth, blink-count, cvbench-depth, cvbench-count or seed-count.

    Columns: words is the model's conclusion, perception what its own map or boxes imply, verified
        the answer
    of `sightline ask`. Accuracies have 95 % confidence intervals. Counting questions are asked without
    choices, and the numbers are compared.

    Args:
        name: name of the benchmark.
        folder: folder in the released layout, or a set of `sightline questions hardblink`.
        model: folder, file or hub name of a LLaVA-type model.
        depth: evaluate this depth model instead, at the points of the set.
        codebook: codebook of the model's depth tokens.
        direct: ask for the answer alone, without intermediate steps.
        replace: run the token-replacement test instead: comma-separated sources of the codes that
            replace the model's map before it concludes, out of own, random, other, inverted and truth
            (depth of `small`, or of the model given by --depth).
        keep_order: keep the order of the choices instead of shuffling them.
        every: use every n-th question.
        json: write the result of every question to this file.
        parallel: where to run.
    """
    from sightline.cli.progress import progress
    from sightline.cli.targets import check_target
    from sightline.perception.benchmarks import read_benchmark
    from sightline.perception.evaluation import (
        chance_accuracy,
        evaluate_questions,
        load_depth_judge,
        load_vlm_judge,
    )

    if replace is not None:
        return _replace(name, folder, model, replace, depth or "small", codebook, every, json)
    if (model is None) == (depth is None):
        raise InputError("give either --model, which answers, or --depth, a depth model")
    if every < 1:
        raise InputError(f"every must be at least 1, got {every}")
    check_target(json, "--json")
    items = read_benchmark(name, folder)[::every]
    left_out: dict[str, str] = {}

    def skip(item: BenchmarkQuestion, error: InputError) -> None:
        left_out[item.name] = str(error)

    load_judge: Callable[..., Judge]
    if depth is not None:
        load_judge = partial(load_depth_judge, depth)
        asked = f"depth model {depth} read at the points"
    else:
        load_judge = partial(
            load_vlm_judge,
            str(model),
            codebook,
            direct=direct,
            seed=None if keep_order else 0,
            notify=_caution,
        )
        asked = f"{model}, {'answers alone' if direct else 'steps asked for'}, greedy"
    with redirect_stdout(sys.stderr), progress(len(items), "quiz") as display:  # for Ray
        shown = 0

        def tick(done: int) -> None:
            nonlocal shown
            for _ in range(done - shown):
                display.advance()
            shown = done

        score = evaluate_questions(items, load_judge, parallel=parallel, on_done=tick, skip=skip)
    for question, line in left_out.items():
        print(f"left out: question {question}: {line}", file=sys.stderr)
    if not score.judged:
        raise InputError("no picture of these questions can be used", path=folder)
    columns = _COLUMNS if depth is None else {"right": "depth model"}
    _show(score, chance_accuracy([item for item in items if item.name not in left_out]), columns)
    print(f"{name}, {len(score.judged)} questions; {asked}; 95 % intervals after Wilson")
    if score.silent:
        print(f"{score.silent} answers named no choice and count as wrong", file=sys.stderr)
    if json is not None:
        from dataclasses import asdict

        from sightline.io.atomic import write_text

        write_text(json, json_format.dumps([asdict(one) for one in score.judged], indent=1) + "\n")
    return InputError.exit_code if left_out else 0


def _caution(line: str) -> None:
    print(f"caution: {line}", file=sys.stderr)


def _replace(
    name: str,
    folder: Path,
    model: str | None,
    replace: str,
    depth: str,
    codebook: str,
    every: int,
    json: Path | None,
) -> int:
    """Run the token-replacement test and print its table."""
    from dataclasses import asdict

    from sightline.cli.progress import progress
    from sightline.cli.targets import check_target
    from sightline.depth.estimator import load
    from sightline.io.atomic import write_text
    from sightline.perception.benchmarks import read_benchmark
    from sightline.perception.codebook import DepthTokenizer, bytes_of
    from sightline.perception.evaluation import REPLACEMENTS, format_replacements, replace_maps
    from sightline.perception.vlm.model import load_vlm

    if model is None:
        raise InputError("--replace needs --model")
    chosen = [one for one in REPLACEMENTS if one in replace.split(",")]
    if len(chosen) != len(replace.split(",")):
        raise InputError(f"--replace takes {', '.join(REPLACEMENTS)}, got {replace}")
    check_target(json, "--json")
    items = read_benchmark(name, folder)[::every]
    vlm, tokenizer = load_vlm(model), DepthTokenizer(codebook)
    if caution := vlm.check_codebook(tokenizer.sha256):
        print(f"caution: {caution}", file=sys.stderr)
    estimator = load(depth) if "truth" in chosen else None
    left_out: dict[str, str] = {}
    with progress(len(items), "quiz") as display:
        shown = 0

        def tick(done: int) -> None:
            nonlocal shown
            for _ in range(done - shown):
                display.advance()
            shown = done

        result = replace_maps(
            items,
            vlm,
            tokenizer,
            chosen,
            truth=(lambda pixels: bytes_of(estimator.infer(pixels))) if estimator else None,
            on_done=tick,
            skip=lambda item, error: left_out.update({item.name: str(error)}),
        )
    for question, line in left_out.items():
        print(f"left out: question {question}: {line}", file=sys.stderr)
    if not result.answers:
        raise InputError("no answer of the model has a depth map", path=folder)
    print("\n".join(format_replacements(result, chosen)))
    if json is not None:
        rows = [asdict(one) for one in result.answers]
        write_text(json, json_format.dumps(rows, indent=1) + "\n")
    return InputError.exit_code if left_out else 0


def _show(score: EvaluationResult, chance: dict[str, float], columns: dict[str, str]) -> None:
    """Print a line for every group, and one for all."""
    there = [column for column in columns if score.share(column) is not None]
    print(f"{'':<14}{'n':>6}{'chance':>9}" + "".join(f"{columns[c]:>22}" for c in there))
    groups: list[str | None] = [*score.groups, None] if len(score.groups) > 1 else [None]
    for group in groups:
        count = sum(group is None or one.group == group for one in score.judged)
        guess = (
            chance[group]
            if group is not None
            else sum(chance[one.group] for one in score.judged) / count
        )
        cells = []
        for column in there:
            share = score.share(column, group)
            if share is None:
                cells.append(f"{'–':>22}")
                continue
            low, high = share.interval
            cells.append(f"{share.value:>8.1%} ({low:.1%}–{high:.1%})".rjust(22))
        label = "all" if group is None else group
        print(f"{label[:13]:<14}{count:>6}{guess:>9.1%}" + "".join(cells))
