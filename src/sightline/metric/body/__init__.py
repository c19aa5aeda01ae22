"""Fit of a statistical body model to person landmarks: height, distance and surface in meters."""
