"""Benchmarks: one file each, one protocol line each."""
