"""Configuration that all trainings share, and configurations as TOML files.

Free of heavy imports, because the command line generates its flags from these classes. Annotations are
evaluated here, not postponed: subclasses in other modules inherit the fields, and the command line
would look for the names in those modules.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sightline.errors import InputError
from sightline.training.checks import at_least_one, seed_and_threads

#: Arithmetic of the forward pass; weights, gradients and optimizer stay in float32.
Precision = Literal["auto", "float32", "bfloat16", "float16"]

#: Fields that may differ when a run is resumed, because they do not change what a step computes.
RESUME_MAY_CHANGE = frozenset(
    {"accumulate", "checkpointing", "device", "save_every", "threads"} | {"validate_every", "wandb"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """Configuration of a training run; each task extends it with its own fields.

    Attributes:
        steps: Number of optimizer steps; each consumes one batch.
        save_every: Steps between checkpoints.
        validate_every: Steps between validations, each of which is a row of the log.
        seed: Random seed of weights, order and augmentation.
        accumulate: Number of parts a batch is processed in (gradient accumulation), to save memory.
        precision: Arithmetic of the forward pass; auto: bfloat16 where the processor supports it.
        checkpointing: Recompute activations in the backward pass (activation checkpointing): less
            memory, about a third more time.
        threads: CPU threads of the network; default: torch's choice.
        device: torch device: cpu, cuda, cuda:1 or mps. Default: the best available.
        wandb: Weights & Biases project to log to; default: none.
    """

    steps: int | None = None
    save_every: int = 100
    validate_every: int = 500
    seed: int = 0
    accumulate: int = 1
    precision: Precision = "float32"
    checkpointing: bool = False
    threads: int | None = None
    device: str | None = None
    wandb: str | None = None

    def __post_init__(self) -> None:
        at_least_one(self, "save_every", "validate_every", "accumulate")
        if self.steps is not None:
            at_least_one(self, "steps")
        seed_and_threads(self)


def plain(value: Any) -> Any:
    """Convert a value to what TOML can hold: no None, tuples as lists, other objects as text."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value if v is not None]
    return value if isinstance(value, str | int | float | bool) else str(value)


def to_toml(values: dict[str, Any]) -> str:
    """Write a dictionary as TOML; entries that are None are left out.

    >>> print(to_toml({"task": "student", "options": {"steps": 5, "size": None}}), end="")
    task = "student"
    <BLANKLINE>
    [options]
    steps = 5
    """
    import tomli_w

    return tomli_w.dumps(plain(values))


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        InputError: The file cannot be read or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"is not a TOML file ({error})", path=path) from error
