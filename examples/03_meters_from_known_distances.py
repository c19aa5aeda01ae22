"""Convert relative depth to meters with a few measured distances.

Fit scale and shift in disparity, then invert. `sightline.metric` does the same with error bars.

python examples/03_meters_from_known_distances.py
"""

# --8<-- [start:body]
import numpy as np

import sightline as sl
from sightline.examples import example_photograph
from sightline.geometry import align

relative = sl.load("small").infer(example_photograph())

# (x, y) in pixels, and meters along the optical axis. These are invented; use a tape measure.
known = {(300, 330): 0.42, (300, 180): 0.55, (60, 40): 0.80}

x, y = np.array(list(known)).T
fit = align(relative.values[y, x], 1 / np.array(list(known.values())), nonnegative=True)
meters = sl.DepthMap(
    fit(relative.values), sl.Kind.METRIC_DISPARITY, relative.valid, relative.camera
).to_metric_depth()
# --8<-- [end:body]

for (column, row), truth in known.items():
    print(f"at ({column}, {row}): {meters.values[row, column]:.2f} {meters.unit}, given {truth}")
print(f"{meters.valid.mean():.0%} of the pixels have a finite depth after this fit")
