"""Promises about the package as a whole: what it imports, what it ships, what it never touches."""

import ast
import importlib.util
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from sightline.errors import install

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "sightline"


def python(code, *words):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=False
    )


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def test_help_imports_nothing_heavy():
    done = python(
        "import sys\n"
        "from sightline.cli import main\n"
        "main(['--help'])\n"
        "heavy = {'numpy', 'scipy', 'cv2', 'openvino', 'torch', 'PIL', 'av', 'jinja2'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    assert done.returncode == 0, done.stderr


def test_depth_of_a_picture_needs_no_torch(tmp_path):
    done = python(
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in {'torch', 'torchvision', 'transformers', 'numba', 'onnx',"
        " 'nncf', 'safetensors'}:\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "from sightline.cli import main\n"
        "from sightline.examples import example_photograph\n"
        "sys.exit(main(['depth', str(example_photograph()), '--out', sys.argv[1], '--save',"
        " 'npz,png,exr,color,ply,glb']))",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert {path.suffix for path in tmp_path.iterdir() if not path.name.startswith(".")} == {
        ".npz",
        ".png",
        ".exr",
        ".ply",
        ".glb",
    }


@pytest.mark.parametrize("folder", ["src", "tests", "examples", "benchmarks", "recipes"])
def test_nothing_imports_what_drags_in_torchvision(folder):
    barred = {"torchvision", "timm", "lpips", "piq"}
    guilty = [p for p in (ROOT / folder).rglob("*.py") if barred & set(imported_modules(p))]
    assert guilty == []


def test_torchvision_is_not_installed():
    assert importlib.util.find_spec("torchvision") is None


def test_torch_is_a_range_for_users_and_pinned_by_the_constraints():
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text().split()
    asked = re.findall(r'"torch(?!metrics)([^"]*)"', (ROOT / "pyproject.toml").read_text())
    assert asked
    assert set(asked) == {">=2.6"}


def test_every_install_of_the_makefile_is_under_the_constraints():
    text = (ROOT / "Makefile").read_text()
    assert text.count("pip install") == 1
    assert "PIP_CONSTRAINT=$(CURDIR)/constraints.txt" in text


def test_nothing_imports_the_command_line():
    """Layers between packages are checked by import-linter, in `make lint`."""
    for path in SOURCE.rglob("*.py"):
        if "cli" not in path.parts and path.name != "__main__.py":
            assert "sightline.cli" not in path.read_text(), path


def test_sources_name_no_machine_path():
    pattern = re.compile(r"/(home|Users|root|work|tmp)/\w")
    for folder in ("src", "docs", "examples", "benchmarks", "recipes"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".html", ".js", ".css"):
                assert not pattern.search(path.read_text()), path


def test_missing_extras_are_installed_without_a_clone():
    """Messages for a missing extra work for users of the wheel; all of them use `errors.install`."""
    assert install("metric") == "run: pip install 'sightline[metric]'"
    for path in SOURCE.rglob("*.py"):
        assert "constraints.txt" not in path.read_text(), path


def test_class_names_are_unique():
    places = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: some for name, some in places.items() if len(some) > 1} == {}
