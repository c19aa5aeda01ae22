"""Render synthetic images with exact depth, and write a data set of them.

python examples/05_pictures_with_exact_depth.py
"""

from sightline.scenes import SceneSpec, make_scene, read_scenes, write_scenes

# One scene from two numbers: the same numbers give the same image on every machine.
scene = make_scene(seed=0, index=2, width=160, height=128)
depth = scene.depth  # meters, exact at pixel centers; invalid in the sky
print(f"a {scene.kind}, {depth.values[depth.valid].min():.2f} {depth.unit} and farther")
depth.plot("scene_depth.png")

# A folder of scenes. Running it again generates only missing scenes.
spec = SceneSpec(seed=0, width=160, height=128, kinds=("room", "street"))
made = list(write_scenes(spec, "scenes", range(4), workers=1))
print(f"{len(made)} scenes")

for stored in read_scenes("scenes"):
    objects = sorted(stored.instances, key=lambda thing: -thing.pixels)[:2]
    seen = ", ".join(
        f"{thing.kind} at {thing.median:.1f} m in box {thing.box}" for thing in objects
    )
    camera = stored.depth.camera
    assert camera is not None  # every stored scene has one
    print(f"{stored.index} {stored.kind}, {camera.fov:.0f}° wide: {seen}")
