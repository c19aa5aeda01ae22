"""Noise and back: schedules, what a model learns to say, sampling, and the mean of its weights.

* `schedule`: how much of a video is left at each step.
* `velocity`: what a model says of a noisy video, and what follows from it.
* `draws`: random numbers that belong to a sample, whoever draws them.
* `loss`: what is learnt.
* `sampling`: from noise to a video, without chance (DDIM).
* `ema`: the moving mean of weights, which samples better than the weights themselves.
"""
