"""Painters: people painted into a picture become its yardsticks (Metric from Human §3.2)."""
