"""Relative and metric depth from one picture."""
