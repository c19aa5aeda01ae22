"""A task: objects of the four kinds of a template, none in another's way.

The kinds are placed one after the other, each drawn again until it is clear of those before it: no two
objects overlap, and what can move is wholly in the scene. (What is static may reach into a wall, as
half of the reference's static bars do.) When a kind finds no room, all are placed anew. The reference
does not look: there, objects may start in each other and are thrown apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, Philox, SeedSequence

from sightline.errors import InputError, SightlineError
from sightline.physics.combinatorial.bodies import Body
from sightline.physics.combinatorial.clearance import clearance, inside
from sightline.physics.combinatorial.kinds import draw_kind
from sightline.physics.combinatorial.templates import Kind, kinds_of

#: Tasks of a template, trials of a task in the paper's data.
TASKS, TRIALS = 100, 1000
#: Tasks and trials that keys of three and sets of any size can name.
MOST_TASKS, MOST_TRIALS = 1000, 1_000_000

_DRAWS = 100  # of one kind, before all are placed anew
_LAYOUTS = 1000
_STREAM = 0x1A10  # which keeps the numbers of layouts apart from those of actions


@dataclass(frozen=True, slots=True)
class Task:
    """Objects before a trial.

    Attributes:
        template: its id.
        number: of the task, from 0.
        seed: it was drawn with.
        bodies: its objects, as they are drawn one over the other.
        kinds: of each of them.
    """

    template: int
    number: int
    seed: int
    bodies: tuple[Body, ...]
    kinds: tuple[Kind, ...]

    @property
    def key(self) -> str:
        """Name of the task in files, such as `10003:007`."""
        return f"{self.template}:{self.number:03d}"


def make_task(template: int, number: int, seed: int = 0) -> Task:
    """Return a task; it depends on nothing but its address.

    Args:
        template: id from 10000 to 10069.
        number: of the task, 0 to 999.
        seed: of all random choices.
    """
    kinds = kinds_of(template)
    if not 0 <= number < MOST_TASKS:
        raise InputError(f"tasks are numbered 0 to {MOST_TASKS - 1}, got {number}")
    rng = generator(seed, _STREAM, template, number)
    for _ in range(_LAYOUTS):
        placed = _place(kinds, rng)
        if placed is not None:
            bodies = tuple(body for group in placed for body in group)
            of = tuple(k for k, group in zip(kinds, placed, strict=True) for _ in group)
            return Task(template, number, seed, bodies, of)
    raise SightlineError(
        f"task {template}:{number:03d} of seed {seed} finds no room for its objects"
    )


def generator(seed: int, *address: int) -> Generator:
    """Return the random numbers that belong to an address."""
    if not 0 <= seed < 2**63:
        raise InputError(f"seed must be from 0 to 2^63 − 1, got {seed}")
    return np.random.Generator(Philox(SeedSequence((seed, *address))))


def _place(kinds: tuple[Kind, ...], rng: Generator) -> list[tuple[Body, ...]] | None:
    """Return the objects of each kind; None when one of them found no room."""
    groups: list[tuple[Body, ...]] = []
    for kind in kinds:
        for _ in range(_DRAWS):
            group = draw_kind(kind, rng)
            if _fits(group, [body for earlier in groups for body in earlier]):
                groups.append(group)
                break
        else:
            return None
    return groups


def _fits(group: tuple[Body, ...], there: list[Body]) -> bool:
    """Say whether new objects are in the scene, and clear of each other and of those there."""
    if not all(body.static or inside(body) for body in group):
        return False
    return all(
        clearance(body, other) > 0
        for place, body in enumerate(group)
        for other in (*there, *group[:place])
    )
