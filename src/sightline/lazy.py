"""Lazy package exports, so that `import sightline` and `sightline --help` stay fast."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_exports(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package that imports its public names on first use.

    Args:
        package: `__name__` of the package.
        modules: public name to the module, relative to the package, that defines it.

    Example:
        `__getattr__, __dir__ = lazy_exports(__name__, {"align": "alignment"})`
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)  # the next access does not come here again
        return value

    def names() -> list[str]:
        return sorted(modules)

    return get, names
