"""A coloured mesh of a photograph, for any 3D viewer, without the points that fly at edges.

python examples/02_point_cloud.py [photo.jpg]
"""

import sys
from pathlib import Path

import sightline
from sightline.examples import example_photograph
from sightline.files.clouds import write_points
from sightline.files.pictures import read_picture
from sightline.geometry import to_points

photo = Path(sys.argv[1]) if len(sys.argv) > 1 else example_photograph()

picture = read_picture(photo)
depth = sightline.load("default").infer(picture)

mesh = to_points(depth, picture.pixels, mesh=True, max_points=200_000)
write_points("photo.glb", mesh)
cloud = to_points(depth, picture.pixels)
write_points("photo.ply", cloud)

unit = mesh.unit or "no unit (relative depth)"
print(f"{len(mesh)} points, {len(mesh.faces)} triangles, {unit}")
print(f"{1 - len(cloud) / depth.values.size:.1%} of the pixels hang at edges and are left out")
