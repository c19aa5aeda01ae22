"""What can be set when a codebook is trained: one field, one flag of `sightline tokens train`."""

from __future__ import annotations

from dataclasses import dataclass

from sightline.errors import InputError


@dataclass(frozen=True, slots=True)
class CodebookOptions:
    """How the codebook is trained.

    Attributes:
        steps: in all; each is one batch.
        rate: of learning, at first.
        fall: what the rate is multiplied by after every `every` steps.
        every: steps.
        commitment: weight of the distance between the encoder's vectors and their codes.
        smallest_crop: share of the picture's sides that a crop has at least.
        seed: of weights, order and crops.
        save_every: steps between checkpoints.
        validate_every: steps between validations.
        threads: of the processor; None for torch's choice.
    """

    steps: int = 4000
    rate: float = 3e-4
    fall: float = 0.98
    every: int = 500
    commitment: float = 0.25
    smallest_crop: float = 0.6
    seed: int = 0
    save_every: int = 100
    validate_every: int = 500
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("steps", "every", "save_every", "validate_every"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("fall", "smallest_crop"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"{name} must be above 0, at most 1, got {getattr(self, name)}")
        for name in ("rate", "commitment"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise InputError(f"{name} must be a number from 0 up, got {getattr(self, name)}")
        if self.seed < 0:
            raise InputError(f"seed must not be negative, got {self.seed}")
