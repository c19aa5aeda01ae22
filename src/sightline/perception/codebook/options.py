"""What can be set when a codebook is trained: one field, one flag of `sightline tokens train`."""

from __future__ import annotations

from dataclasses import dataclass

from sightline.running.checks import at_least_one, not_negative, shares


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
        at_least_one(self, "steps", "every", "save_every", "validate_every")
        shares(self, "fall", "smallest_crop", zero=False)
        not_negative(self, "rate", "commitment", "seed")
