"""Pictures with exact depth, computed rather than photographed: to train on, and to test against.

python examples/05_pictures_with_exact_depth.py
"""

from sightline.files.color import write_color
from sightline.scenes.make import make_scene
from sightline.scenes.read import read_scenes
from sightline.scenes.run import make_scenes
from sightline.scenes.spec import SceneSpec

# One scene, from two numbers: the same ones give the same picture anywhere.
scene = make_scene(seed=0, index=2, width=160, height=128)
depth = scene.frame.depth  # metres, exact at pixel centres; the sky is not valid
print(f"a {scene.kind}, {depth.values[depth.valid].min():.2f} {depth.unit} and farther")
write_color("scene_depth.png", depth)

# A folder of them. Run it again: what is there is kept.
spec = SceneSpec(seed=0, width=160, height=128, kinds=("room", "street"))
made = list(make_scenes(spec, "scenes", range(4), workers=1))
print(f"{len(made)} scenes")

for stored in read_scenes("scenes"):
    things = sorted(stored.instances, key=lambda thing: -thing.pixels)[:2]
    seen = ", ".join(f"{thing.kind} at {thing.median:.1f} m in box {thing.box}" for thing in things)
    print(f"{stored.index} {stored.kind}, {stored.depth.camera.fov:.0f}° wide: {seen}")
