"""Write a photograph as a colored mesh and a point cloud for 3D viewers.

python examples/02_point_cloud.py [photo.jpg]
"""

import sys

import sightline as sl
from sightline.examples import example_photograph
from sightline.io import read_picture

photo = sys.argv[1] if len(sys.argv) > 1 else example_photograph()

picture = read_picture(photo)
depth = sl.load("small").infer(picture)

mesh = depth.to_pointcloud(picture.pixels, mesh=True, max_points=200_000)
mesh.save("photo.glb")
cloud = depth.to_pointcloud(picture.pixels)
cloud.save("photo.ply")

triangles = 0 if mesh.faces is None else len(mesh.faces)
unit = mesh.unit or "no unit (relative depth)"
print(f"{len(mesh)} points, {triangles} triangles, {unit}")
print(f"{1 - len(cloud) / depth.values.size:.1%} of the pixels lie on depth edges and are omitted")
