"""Worlds of many things: what falls, stands, rolls and tips when a red ball comes in (PHYRE).

templates   which four of the eight kinds of objects meet
kinds       how an object of each kind is drawn at random
layout      objects that do not overlap: a task
action      the red ball: a trial
simulate    what happens, by pymunk
make        a sample from its address: (template, task, trial, seed)
render      the video of a sample
"""
