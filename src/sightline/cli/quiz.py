"""`sightline quiz NAME DIR --model MODEL`: score a model that answers questions about pictures."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sightline.errors import InputError

if TYPE_CHECKING:
    from sightline.perception.quiz.items import QuizItem
    from sightline.perception.quiz.scoring import QuizScore

Flag = Annotated[bool, Parameter(negative="")]

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
    keep_order: Flag = False,
    every: int = 1,
    json: Path | None = None,
) -> int:
    """Score a model on hardblink, blink-depth, blink-count, cvbench-depth, cvbench-count or seed-count.

    Words are what the model concludes, perception is what its own map or boxes say, verified is the
    answer that `sightline ask` gives. Shares come with intervals of 95 %. Questions of how many are
    asked without choices, and the number is compared.

    Args:
        name: of the set.
        folder: where it lies, as it was released; or a set of our own in HardBLINK's layout.
        model: folder, file or hub name of a LLaVA-type model.
        depth: score this depth model instead, read at the points that the set gives.
        codebook: that the model's depth tokens are of.
        direct: ask for the answer alone, without steps.
        keep_order: leave the choices in the set's order; where they are asked with, they are shuffled
            otherwise.
        every: take every n-th question, for a quick look.
        json: write every question's result to this file.
    """
    from sightline.cli.progress import progress
    from sightline.cli.targets import check_target
    from sightline.perception.quiz.layouts import read_quiz
    from sightline.perception.quiz.scoring import (
        judge_at_random,
        judge_depth_model,
        judge_speaker,
    )

    if (model is None) == (depth is None):
        raise InputError("give either --model, which answers, or --depth, a depth model")
    if every < 1:
        raise InputError(f"every must be at least 1, got {every}")
    check_target(json, "--json")
    items = read_quiz(name, folder)[::every]
    left_out: dict[str, str] = {}

    def skip(item: QuizItem, error: InputError) -> None:
        left_out[item.name] = str(error)

    with progress(len(items), "quiz") as display:
        shown = 0

        def tick(done: int) -> None:
            nonlocal shown
            for _ in range(done - shown):
                display.advance()
            shown = done

        if depth is not None:
            from sightline.depth.estimator import load

            score = judge_depth_model(items, load(depth).infer, tick, skip)
            asked = f"depth model {depth} read at the points"
        else:
            from sightline.perception.codebook.tokenizer import DepthTokenizer
            from sightline.perception.model.loading import load_speaker

            speaker = load_speaker(str(model))
            tokenizer = None
            if speaker.vocabulary.codes and not direct:
                tokenizer = DepthTokenizer(codebook)
                if caution := speaker.check_codebook(tokenizer.sha256):
                    print(f"caution: {caution}", file=sys.stderr)
            seed = None if keep_order else 0
            score = judge_speaker(
                items, speaker, tokenizer, steps=not direct, seed=seed, on_done=tick, skip=skip
            )
            asked = f"{model}, {'answers alone' if direct else 'steps asked for'}, greedy"
    for question, line in left_out.items():
        print(f"left out: question {question}: {line}", file=sys.stderr)
    if not score.judged:
        raise InputError("no picture of these questions can be used", path=folder)
    columns = _COLUMNS if depth is None else {"right": "depth model"}
    _show(score, judge_at_random([item for item in items if item.name not in left_out]), columns)
    print(f"{name}, {len(score.judged)} questions; {asked}; 95 % intervals after Wilson")
    if score.silent:
        print(f"{score.silent} answers named no choice and count as wrong", file=sys.stderr)
    if json is not None:
        from dataclasses import asdict

        from sightline.files.atomic import write_text

        write_text(json, json_format.dumps([asdict(one) for one in score.judged], indent=1) + "\n")
    return InputError.exit_code if left_out else 0


def _show(score: QuizScore, chance: dict[str, float], columns: dict[str, str]) -> None:
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
