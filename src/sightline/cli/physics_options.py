"""Which options of `sightline physics make` go with which data set, and the data set they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sightline.errors import InputError

if TYPE_CHECKING:
    from sightline.physics.combinatorial.store import CombinatorialSpec
    from sightline.physics.datasets.spec import DataSpec

#: Options by the scenarios that they are for; all others are for any.
_ONE_LAW = "uniform, parabola and collision"
_PROBES = "probe:NAME"
_SCENES = "combinatorial"
_OPTIONS = {
    _ONE_LAW: ("split", "level", "preset", "mode", "shard_seed"),
    _PROBES: ("part",),
    _SCENES: ("templates", "tasks", "trials"),
}


def check_options(scenario: str, options: dict[str, Any]) -> None:
    """Refuse an unknown scenario, and options that were given and would have no effect.

    Args:
        scenario: as it was given.
        options: values of options by name; None or False if not given.
    """
    from sightline.physics.datasets.spec import COMBINATORIAL, PROBE, check_scenario

    check_scenario(scenario)
    given = [name for name, value in options.items() if value is not None and value is not False]
    own = _PROBES if scenario.startswith(PROBE) else _ONE_LAW
    own = _SCENES if scenario == COMBINATORIAL else own
    for scenarios, names in _OPTIONS.items():
        if scenarios != own:
            _refuse([name for name in given if name in names], f"for {scenarios}")
    if "level" in given and "split" in given:
        raise InputError(
            "--level is a training set in distribution, --split a test set", remedy="leave one out"
        )
    if "address" in given and "cluster" not in given:
        raise InputError("--address is that of a cluster", remedy="add --cluster")


def _refuse(names: list[str], reason: str) -> None:
    if names:
        listed = " and ".join(f"--{name.replace('_', '-')}" for name in names)
        verb, them = ("are", "them") if len(names) > 1 else ("is", "it")
        raise InputError(f"{listed} {verb} {reason}", remedy=f"leave {them} out")


def one_law_spec(
    scenario: str, count: int | None, quality: str | None, settings: dict[str, Any]
) -> DataSpec:
    """Return the data set of one law or probe that is asked for.

    Args:
        scenario: name of a known scenario.
        count: how many videos; None: all of them, or as many as in the paper.
        quality: video codec; None: `rle`.
        settings: other fields of the spec; None where nothing was given.
    """
    from sightline.physics.datasets.spec import DataSpec, full_count

    given = {name: value for name, value in settings.items() if value is not None}
    if count is None:
        named = {name: value for name, value in given.items() if name not in ("size", "mode")}
        count = full_count(scenario, **named)
    return DataSpec(scenario, count, video=quality or "rle", **given)


def scenes_spec(
    templates: str | None,
    tasks: int | None,
    trials: str | None,
    count: int | None,
    settings: dict[str, Any],
) -> CombinatorialSpec:
    """Return the data set of combinatorial worlds that is asked for.

    Args:
        templates: a set by name, or ids.
        tasks: number of tasks per template; None for the paper's.
        trials: trials of each task; None for the paper's.
        count: only the first so many videos of all of these; None: all.
        settings: other fields of the spec; None where nothing was given.
    """
    from sightline.physics.combinatorial.store import CombinatorialSpec, parse_trials
    from sightline.physics.combinatorial.tasks import PAPER_TASKS, SETS, parse_templates

    if templates is None:
        raise InputError(
            "combinatorial worlds are made of templates",
            remedy=f"add --templates {', '.join(SETS)}, or ids such as 10003,10060",
        )
    ids = parse_templates(templates)
    first, number = parse_trials(trials, ids)
    given = {name: value for name, value in settings.items() if value is not None}
    tasks = PAPER_TASKS if tasks is None else tasks
    return CombinatorialSpec(ids, tasks, number, first, limit=count, **given)
