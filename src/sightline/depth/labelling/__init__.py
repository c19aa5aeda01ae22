"""Pseudo-labels: what a teacher network says of pictures, kept as files for a student (DAv2 §5)."""
