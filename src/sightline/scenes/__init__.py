"""Procedural scenes: pictures with exact depth, made by `sightline.rasterise`."""
