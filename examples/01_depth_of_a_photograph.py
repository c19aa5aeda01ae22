"""Estimate the depth of a photograph and save it.

python examples/01_depth_of_a_photograph.py [photo.jpg]
"""

import sys

import sightline as sl
from sightline.examples import example_photograph

photo = sys.argv[1] if len(sys.argv) > 1 else example_photograph()

depth = sl.load("small").infer(photo)
print(f"{depth.width}×{depth.height}, {depth.kind}, {depth.kind.direction}, by {depth.source}")
if depth.camera is not None:
    print(f"camera: {depth.camera.fov:.0f}° wide, {depth.camera.source}")

depth.save("photo.npz")  # all fields, exact
depth.save("photo.png")  # 16 bit, with unit and direction in the file
depth.plot("photo_color.png")  # color image with legend

again = sl.DepthMap.load("photo.png")
step = (depth.values.max() - depth.values.min()) / 65534
error = abs(again.values - depth.values).max() / step
print(f"largest error of the 16-bit file: {error:.2f} steps")
