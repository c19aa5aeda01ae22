"""Metres: relative depth becomes metric by whatever in the picture has a known size.

People above all, painted into the picture or already there (Metric from Human), or one thing that the
user knows: a length, a distance, the height of the camera.
"""
