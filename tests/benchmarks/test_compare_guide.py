"""The figures of the comparison guide are those of the table that `sightline duel` wrote."""

from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_every_row_of_the_example_is_in_the_table():
    example = (DOCS / "compare.md").read_text().partition("## An example")[2].splitlines()
    written = set((DOCS / "tables/duel.md").read_text().splitlines())
    rows = [line for line in example if line.startswith("| ")]
    assert len(rows) > 20
    assert [row for row in rows if row not in written] == []
