"""The three worlds of one law each: uniform motion, head-on elastic collision, parabola."""
