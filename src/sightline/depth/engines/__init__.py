"""What runs a depth network: OpenVINO on the CPU, torch on CUDA or Apple's GPU.

* `base`: the one-method protocol every engine meets, and where compiled models are kept.
* `openvino` and `torch`: the two engines; `quiet_openvino` imports the former's library.
* `choose`: which of them runs a given weight file, converting it when that is needed.

Import from the modules: this package itself imports neither OpenVINO nor torch.
"""
