"""Question sets about depth and counts, for training and evaluation."""
