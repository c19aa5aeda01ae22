"""`--config FILE.toml`: options from a file; flags on the command line take precedence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import ArgumentCollection

_HELP = """TOML file with options, such as config.toml of an earlier run; flags on the command line take
precedence."""

ConfigFile = Annotated[Path | None, Parameter(name="--config", help=" ".join(_HELP.split()))]


def apply_config_file(app: App, command: tuple[str, ...], given: ArgumentCollection) -> None:
    """Fill arguments that were not given from the file that `--config` names.

    The file has option names as keys. `config.toml` of a training run is accepted as well: its options
    are taken, and the data it was trained on.
    """
    for argument in given:
        if argument.names == ("--config",) and argument.tokens:
            path = Path(argument.tokens[0].value)
            break
    else:
        return
    from cyclopts.config import Dict

    from sightline.training.config import read_toml

    found = read_toml(path)
    options: dict[str, Any] = found.get("options", found)
    known = {name for argument in given for name in argument.names}
    data = {k: v for k, v in found.get("data", {}).items() if _flag(k) in known}
    values = {_flag(k).removeprefix("--"): v for k, v in {**data, **options}.items()}
    Dict(values, source=str(path), use_commands_as_keys=False)(app, command, given)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
