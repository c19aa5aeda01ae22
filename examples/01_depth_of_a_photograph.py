"""Depth of one photograph: what comes back, and how to save it.

python examples/01_depth_of_a_photograph.py [photo.jpg]
"""

import sys
from pathlib import Path

import sightline
from sightline.examples import example_photograph
from sightline.files.color import write_color
from sightline.files.depth_files import read_depth, write_depth

photo = Path(sys.argv[1]) if len(sys.argv) > 1 else example_photograph()

depth = sightline.load("default").infer(photo)
print(f"{depth.width}×{depth.height}, {depth.kind}, {depth.kind.direction}, by {depth.source}")
print(f"camera: {depth.camera.fov:.0f}° wide, {depth.camera.source}")

write_depth("photo.npz", depth)  # everything, exactly
write_depth("photo.png", depth)  # 16 bit; what the numbers mean is in the file
write_color("photo_color.png", depth)  # to look at

again = read_depth("photo.png")
step = (depth.values.max() - depth.values.min()) / 65534
print(
    f"largest error of the 16-bit file: {abs(again.values - depth.values).max() / step:.2f} steps"
)
