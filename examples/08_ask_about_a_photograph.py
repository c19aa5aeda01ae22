"""Ask which point of a photograph is nearest, and look at the steps that led to the answer."""

import sightline
from sightline.examples import example_photograph
from sightline.perception.showing import lines_of

POINTS = {"A": (60, 40), "B": (330, 330)}

reply = sightline.ask(example_photograph(), "which is nearest?", POINTS)
print("\n".join(lines_of(reply)))

answer = reply.answer
print(f"\nIt saw the points at {dict(answer.own_places)}, in pixels of 336 × 336.")
print(f"The map that it wrote reads { ({k: round(v, 2) for k, v in answer.values.items()}) }.")
print("Words and map agree." if answer.agrees else "The map counts, not the words.")
