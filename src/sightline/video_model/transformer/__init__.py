"""The diffusion transformer over latents or pixels of a video (PhyWorld §2.2).

* `sizes`: the numbers of each size; `options`: everything a network is made from.
* `condition`: what a network is told of a video.
* `rotary`: positions in time, row and column.
* `blocks`: attention and feed-forward part, modulated by the step.
* `network`: all together.
"""
