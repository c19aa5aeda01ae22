"""The public API: `__all__` of every package, its documentation, and the page that lists it."""

import ast
import importlib
import inspect
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import sightline

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "sightline"
#: Packages and modules with a public API in Python; the others are private, or used by commands.
PUBLIC = ["sightline", *(f"sightline.{name}" for name in sightline._PACKAGES)]
#: Used by the command line, not by `import`.
COMMANDS_ONLY = {"cli", "demo", "server"}


@pytest.fixture(scope="module")
def reference():
    pytest.importorskip("griffe")
    return runpy.run_path(str(ROOT / "docs" / "api_reference.py"))


def test_every_package_is_public_or_for_commands_only():
    packages = {p.name for p in SOURCE.iterdir() if (p / "__init__.py").is_file()}
    assert packages - COMMANDS_ONLY <= {name.removeprefix("sightline.") for name in PUBLIC}


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_exists_and_is_documented(package):
    module = importlib.import_module(package)
    assert module.__all__
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{package}.{name}"


def test_packages_are_attributes_of_sightline():
    """`sl.physics.score` works after `import sightline as sl` alone."""
    code = "import sightline as sl; print(sl.physics.score.__name__, callable(sl.metric))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["score", "True"], done.stderr


def test_the_reference_describes_every_public_package(reference):
    assert sorted(reference["packages"](reference["PAGE"].read_text())) == sorted(PUBLIC)


@pytest.mark.parametrize("package", PUBLIC)
def test_the_reference_lists_exactly_the_public_names(package, reference):
    page = reference["expand"](f"<!-- api: {package} -->")
    entries = [line for line in page.splitlines() if line.startswith((":::", "### `", "* "))]
    listed = [line.split("`")[1] if "`" in line else line.split()[1] for line in entries]
    names = importlib.import_module(package).__all__
    assert listed == [f"{package}.{name}" for name in names]
    assert "`\n\n\n" not in page + "\n\n", "a constant has no comment"


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_import_only_the_public_api(script):
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names if a.name.split(".")[0] == "sightline"]
            assert set(names) <= set(PUBLIC)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sightline"):
            assert node.module in PUBLIC
            module = importlib.import_module(node.module)
            public = {*module.__all__, *(sightline._PACKAGES if module is sightline else ())}
            assert {a.name for a in node.names} <= public
