"""Measure a table in meters, given that the cup on it is eight centimeters wide."""

import sightline as sl
from sightline.examples import example_photograph

# Pixels (x, y) of both ends, the length in meters, and its relative standard deviation.
cup = sl.Length((200, 200), (330, 200), 0.08, relative_sigma=0.06)
result = sl.metric(example_photograph(), known=[cup], people=False)
table = sl.measure(result, (30, 330), (560, 330))
print(f"across the table: {table}")
print(f"camera to the left end: {table.ranges[0]}")
for evidence in result.evidence:
    print(f"by {evidence.name}, ± {evidence.sigma:.0%}")
for warning in result.warnings:
    print(f"warning: {warning}")
