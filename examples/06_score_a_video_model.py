"""Run a video model on collisions and score how well it obeys the laws of motion.

The model of this example continues every body at its last velocity. It is right until the balls
collide.
"""

import numpy as np

from sightline import physics


class ConstantVelocity:
    """Track the bodies in the given frames and render them at constant velocity."""

    def predict(self, condition: np.ndarray, mask: np.ndarray, n: int) -> np.ndarray:
        tracks = physics.parse(condition[mask])
        velocity = tracks.velocities[-2]
        steps = np.arange(n)[:, None, None] * tracks.frame_time
        positions = tracks.positions[0] + velocity * steps
        motion = physics.Motion(
            positions,
            np.broadcast_to(velocity, positions.shape).copy(),
            tracks.sizes,
            tracks.body_colors,
            tracks.body_shapes,
        )
        return physics.render(motion, condition.shape[1])


def run() -> None:
    physics.make_dataset(physics.DataSpec("collision", 24), "collisions.h5").close()
    physics.run_model(ConstantVelocity(), "collisions.h5", "videos")
    report = physics.score("videos", truth="collisions.h5")
    report.to_html("report.html")
    laws = report.summary["model"]["in"].laws
    for name in ("velocity_before", "velocity_steps", "penetration"):
        print(f"{name}: {laws[name].value:.3f} {'units' if name == 'penetration' else 'units/s'}")


if __name__ == "__main__":
    run()
