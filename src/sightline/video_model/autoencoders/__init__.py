"""Video codecs: videos to latents and back (PhyWorld §2.2, App. B).

* `codec`: the protocol, conversions, and the base class of learned codecs.
* `frames`: compact convolutional codec of single frames, for CPUs.
* `moments`: one vector per frame from image moments, for CPUs.
* `inflated`: the paper's way, an image autoencoder inflated to causal convolutions over time.
* `data`, `loss`, `training`: training on endless simulated worlds or dataset files.
* `files`: safetensors files.
* `floor`: velocity error caused by encoding alone (Table 3).
"""
