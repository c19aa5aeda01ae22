"""The checked-in table of speeds has the labels that its benchmark writes."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = "docs/tables/speed-physics.md"


def test_rows_are_called_what_the_benchmark_calls_them():
    source = (ROOT / "benchmarks/physics.py").read_text()
    rows = re.findall(r"^\| ([^|]+) \|", (ROOT / TABLE).read_text(), re.M)
    assert rows == re.findall(r"row\(\s*\"([^\"]+)\"", source)
    assert sum("reference mp4 in HDF5" in row for row in rows) == 1


def test_the_benchmark_names_the_file_that_the_docs_show():
    first = (ROOT / "benchmarks/physics.py").read_text().split('"""')[1]
    assert f"--write {TABLE}]" in first
    assert TABLE in (ROOT / "docs/physics.md").read_text()
