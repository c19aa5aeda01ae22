"""Every script of `benchmarks/` and `recipes/` imports its modules and prints its help."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("recipes/**/*.py")])
SCRIPTS = [path for path in FILES if 'if __name__ == "__main__":' in path.read_text()]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_script_prints_its_help(script, monkeypatch, capsys):
    # In this process, so that torch and transformers are imported once for all scripts.
    monkeypatch.setattr(sys, "argv", [str(script), "--help"])
    monkeypatch.syspath_prepend(script.parent)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: ")
