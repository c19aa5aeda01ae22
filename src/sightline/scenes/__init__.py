"""Procedural RGB-D scenes: rendered pictures with exact depth, cameras and instance masks.

>>> from sightline import scenes
>>> scene = scenes.make_scene(seed=0, index=2, width=160, height=128)  # doctest: +SKIP
>>> scene.image.shape, scene.depth.unit  # doctest: +SKIP
((128, 160, 3), 'm')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "KINDS",
    "CameraView",
    "Light",
    "Material",
    "PhotoTextures",
    "RenderedFrame",
    "Scene",
    "SceneInstance",
    "SceneKind",
    "SceneOutcome",
    "SceneSpec",
    "SceneWorld",
    "SensorConfig",
    "Sky",
    "StoredScene",
    "WorldBuilder",
    "find_instances",
    "look_at",
    "make_scene",
    "meshes",
    "place_camera",
    "read_scene",
    "read_scenes",
    "render",
    "room_clip",
    "scene_kind",
    "write_contact_sheet",
    "write_scenes",
]

if TYPE_CHECKING:
    from sightline.scenes import meshes
    from sightline.scenes.camera import look_at, place_camera
    from sightline.scenes.clips import room_clip
    from sightline.scenes.config import SceneSpec
    from sightline.scenes.contact_sheet import write_contact_sheet
    from sightline.scenes.dataset import SceneOutcome, write_scenes
    from sightline.scenes.generate import (
        Scene,
        SceneInstance,
        find_instances,
        make_scene,
        scene_kind,
    )
    from sightline.scenes.kinds import KINDS
    from sightline.scenes.rendering.photo_textures import PhotoTextures
    from sightline.scenes.rendering.renderer import RenderedFrame, render
    from sightline.scenes.rendering.sensor import SensorConfig
    from sightline.scenes.storage import StoredScene, read_scene, read_scenes
    from sightline.scenes.world import (
        CameraView,
        Light,
        Material,
        SceneKind,
        SceneWorld,
        Sky,
        WorldBuilder,
    )

_MODULES = {
    "camera": ("look_at", "place_camera"),
    "clips": ("room_clip",),
    "config": ("SceneSpec",),
    "contact_sheet": ("write_contact_sheet",),
    "dataset": ("SceneOutcome", "write_scenes"),
    "generate": ("Scene", "SceneInstance", "find_instances", "make_scene", "scene_kind"),
    "kinds": ("KINDS",),
    "rendering.photo_textures": ("PhotoTextures",),
    "rendering.renderer": ("RenderedFrame", "render"),
    "rendering.sensor": ("SensorConfig",),
    "storage": ("StoredScene", "read_scene", "read_scenes"),
    "world": ("CameraView", "Light", "Material", "SceneKind", "SceneWorld", "Sky", "WorldBuilder"),
}
_HOMES = {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import on first use: the renderer needs numba, which takes a second to import."""
    import importlib

    if name == "meshes":
        return importlib.import_module(f"{__name__}.meshes")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
