"""Data sets of videos: made in parallel, stored in two formats, read by one interface."""
