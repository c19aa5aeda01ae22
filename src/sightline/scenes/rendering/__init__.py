"""Rendering: rasterization, shading kernels, textures, shadows, and the camera sensor."""
