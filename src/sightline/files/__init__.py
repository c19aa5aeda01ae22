"""Pictures, depth files, point clouds and video: one reader and one writer each.

* `pictures`: any common picture to upright 8-bit RGB, with the camera its EXIF tells of.
* `depth_files`: `.npz`, 16-bit `.png` and `.exr`, each with unit, direction and camera inside.
* `color`: depth in colours with a legend; `clouds`: `.ply` and `.glb`; `video`: in and out.
* `atomic`: every file is written whole or not at all. `reading`: every file is read within bounds.

Nothing here knows a model. Import from the modules; this package itself imports nothing heavy.
"""
