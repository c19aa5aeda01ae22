"""Compiled loops that put bodies into pictures."""
