"""Ask which point of a photo is nearest, and print the steps of the answer."""

import sightline as sl
from sightline.examples import example_photograph
from sightline.perception import DepthAnswer, format_reply

POINTS = {"A": (60, 40), "B": (330, 330)}

reply = sl.ask(example_photograph(), "which is nearest?", POINTS)
print("\n".join(format_reply(reply)))

answer = reply.answer
assert isinstance(answer, DepthAnswer)  # a question about points is answered by a depth map
print(f"\nIt located the points at {dict(answer.own_places)}, in pixels of 336 × 336.")
print(f"The values of its depth map are { ({k: round(v, 2) for k, v in answer.values.items()}) }.")
print("Words and map agree." if answer.agrees else "The answer follows the map, not the words.")
