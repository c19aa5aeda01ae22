"""Registry of scene kinds: every module of this package defines one as `KIND`.

To add a kind, add a module with a function `build(rng) -> (world, view)` and
`KIND = SceneKind("name", build, weight)`. Nothing else needs to change.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from sightline.scenes.world import SceneKind


def _find_kinds() -> dict[str, SceneKind]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    kinds: list[SceneKind] = [module.KIND for module in modules]
    return {kind.name: kind for kind in sorted(kinds, key=lambda kind: (kind.rank, kind.name))}


#: All kinds of scenes by name.
KINDS: dict[str, SceneKind] = _find_kinds()

#: Names of the kinds in the default mix; their weights add up to one.
DEFAULT_KINDS = tuple(name for name, kind in KINDS.items() if kind.default)
