"""What every training run has: a folder that belongs to it, a log, and a polite way to stop.

A run's folder holds `run.json` (what was asked), `checkpoint.pt` (to go on from) and `log.jsonl` (how
it went).
"""
