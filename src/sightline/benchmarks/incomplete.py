"""What of a set cannot be scored, in words: nothing in silence, and no list that fills the screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sightline.benchmarks.samples import Benchmark, Item
from sightline.errors import InputError

#: So many failures are listed; of the others, only how many.
LISTED = 5


class IncompleteError(InputError):
    """Some pictures of a set cannot be scored.

    Attributes:
        failures: one line for each of the first few, and one that says how many more.
    """

    def __init__(
        self,
        problem: str,
        failures: Sequence[str],
        *,
        path: Path | None = None,
        remedy: str = "mend them, or score the rest with --keep-going",
    ) -> None:
        self.failures = few(failures)
        super().__init__(problem, path=path, remedy=remedy)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as a plain `InputError`."""
        return InputError, ("; ".join((str(self), *self.failures)),)


def few(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the first few lines, and one that says how many more there are."""
    more = len(lines) - LISTED
    return tuple(lines) if more <= 0 else (*lines[:LISTED], f"… and {more:,} more")


def missing(items: Sequence[Item]) -> dict[str, Path]:
    """Return the first file that is not there, by the names of the items that lack one."""
    gone = {item.name: [path for path in item.files if not path.is_file()] for item in items}
    return {name: paths[0] for name, paths in gone.items() if paths}


def check_any(
    benchmark: Benchmark, folder: Path, listed: Sequence[Item], failures: Sequence[str]
) -> None:
    """Complain of a folder without a single picture of the set, and say what it should hold.

    Args:
        benchmark: the set.
        folder: where it should lie.
        listed: the set's samples there.
        failures: one line for each of which something is missing.
    """
    if any(path.is_file() for item in listed for path in item.files):
        return
    layout = "; ".join(" ".join(line.split()) for line in benchmark.layout)
    problem = f"no picture of {benchmark.name} was found there"
    raise IncompleteError(problem, failures, path=folder, remedy=f"it should hold {layout}")


def check_whole(name: str, found: int, expected: int | None, failures: Sequence[str]) -> None:
    """Complain of failures, and of a folder with more or fewer pictures than the set has.

    Args:
        name: of the set.
        found: how many pictures the folder lists.
        expected: how many there should be; None for any number.
        failures: one line for each that cannot be scored.
    """
    if expected is None or found == expected:
        expected, lines = found, list(failures)
    else:
        lines = [f"the folder lists {found:,} pictures, the set has {expected:,}", *failures]
    bad = len(failures) + max(expected - found, 0)
    if bad:
        total = max(found, expected)
        raise IncompleteError(f"{bad} of {total} pictures of {name} cannot be scored", lines)
    if lines:
        remedy = "take the others away, or score them all with --keep-going"
        raise IncompleteError(f"there are more pictures than {name} has", lines, remedy=remedy)
