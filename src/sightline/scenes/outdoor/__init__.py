"""Outdoor scenes: terrain, plants, buildings, vehicles and streets."""
