"""How wide is the table, if the cup is eight centimetres wide? Metres from one known length."""

import sightline
from sightline.examples import example_photograph

# x, y of both ends in the picture, and how far apart they are.
cup = "200,200,330,200=8cm±5mm"
found, metres = sightline.measure(
    example_photograph(), (30, 330), (560, 330), length=(cup,), people=False
)
print(f"across the table: {found.distance} m")
print(f"camera to the left end: {found.ranges[0]} m")
for yardstick in metres.fit.clues:
    print(f"by {yardstick.name}, ± {yardstick.sigma:.0%}")
for warning in metres.warnings:
    print("note:", warning)
