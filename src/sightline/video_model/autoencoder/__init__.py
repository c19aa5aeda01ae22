"""Videos as latents, and back: what the diffusion transformer works on (PhyWorld §2.2, App. B).

* `codec`: what every codec can do; bytes and floats.
* `options`: everything that codecs and their training are made from.
* `frames`: a compact codec of single frames for CPUs.
* `causal`, `inflated`: the paper's way, an image autoencoder that has learnt about time.
* `pixels`: no autoencoder at all.
* `normalised`: what the two that learn share.
* `loss`, `worlds`, `training`: how they learn, from endless videos of our worlds.
* `files`: a codec as one file.
* `floor`: what coding costs in velocity error (Table 3).
"""
