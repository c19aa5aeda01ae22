"""Metres from a few distances you know: fit scale and shift in disparity, then invert.

python examples/03_metres_from_known_distances.py
"""

# --8<-- [start:body]
import numpy as np

import sightline
from sightline import DepthMap, Kind
from sightline.examples import example_photograph
from sightline.geometry import align

relative = sightline.load("default").infer(example_photograph())

# (x, y) in pixels, and metres along the optical axis. These are made up; take a tape measure.
known = {(300, 330): 0.42, (300, 180): 0.55, (60, 40): 0.80}

x, y = np.array(list(known)).T
fit = align(relative.values[y, x], 1 / np.array(list(known.values())), nonnegative=True)
metres = DepthMap(
    fit(relative.values), Kind.METRIC_DISPARITY, relative.valid, relative.camera
).to_metric_depth()
# --8<-- [end:body]

for (column, row), truth in known.items():
    print(f"at ({column}, {row}): {metres.values[row, column]:.2f} {metres.unit}, given {truth}")
print(f"{metres.valid.mean():.0%} of the picture lies in front of infinity by this fit")
