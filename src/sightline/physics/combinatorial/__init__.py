"""Combinatorial worlds: objects that fall, roll and tip when a red ball is released (PHYRE).

objects      outlines, poses and feature rows of the objects
tasks        templates, random layouts (tasks) and red balls (trials)
simulation   rigid-body simulation with pymunk, and a sample by its address
rendering    the video of a sample
store        data sets in HDF5
"""
