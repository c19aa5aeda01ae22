"""Benchmarks that ask: HardBLINK, BLINK, CV-Bench, SEED-Bench, and sets of our own."""
