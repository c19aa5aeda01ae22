"""Paths of the service, by theme."""
