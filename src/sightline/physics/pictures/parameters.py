"""Put arrays of a file into the parameters of a network."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


def fill(parameter: Tensor | nn.Module, values: NDArray[Any]) -> None:
    """Copy `values` as float32; a `ValueError` unless the shapes are the same.

    Args:
        parameter: a parameter; typed as torch types the attributes of a module.
        values: of the parameter's shape.
    """
    if not isinstance(parameter, Tensor) or parameter.shape != values.shape:
        raise ValueError(f"an array of shape {values.shape} does not fit")
    with torch.no_grad():
        parameter.copy_(torch.from_numpy(np.array(values, np.float32)))
