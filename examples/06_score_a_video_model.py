"""Has a video model learnt the laws? Run one on collisions and read its score.

The model here believes that everything goes on as it moved last. It is right until the balls meet.
"""

import json
from pathlib import Path

import numpy as np

from sightline.cli import main
from sightline.physics.parse import parse
from sightline.physics.render import render
from sightline.physics.types import Motion


class ConstantVelocity:
    """Parses the given frames, and draws what it saw moving on for ever."""

    def predict(self, condition: np.ndarray, mask: np.ndarray, n: int) -> np.ndarray:
        tracks = parse(condition[mask])
        velocity = tracks.velocities[-2]
        steps = np.arange(n)[:, None, None] * tracks.frame_time
        positions = tracks.positions[0] + velocity * steps
        motion = Motion(
            positions,
            np.broadcast_to(velocity, positions.shape).copy(),
            tracks.sizes,
            tracks.body_colours,
            tracks.body_shapes,
        )
        return render(motion, condition.shape[1])


def run() -> None:
    main(["physics", "make", "collision", "--count", "24", "--out", "collisions.slv"])
    model = f"{Path(__file__).stem}:ConstantVelocity"
    main(["physics", "run", "--model", model, "--data", "collisions.slv", "--out", "videos"])
    main(["physics", "score", "videos", "--truth", "collisions.slv", "--out", "score"])
    laws = json.loads(Path("score/scores.json").read_text())["summary"]["model"]["in"]["laws"]
    for name in ("velocity_before", "velocity_paper", "penetration"):
        print(f"{name}: {laws[name]['mean']:.3f} {'units' if name == 'penetration' else 'units/s'}")


if __name__ == "__main__":
    run()
