"""A sample from its address: template, task, trial and seed, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from sightline.errors import InputError
from sightline.physics.combinatorial.action import draw_action, is_valid, red_ball
from sightline.physics.combinatorial.bodies import FEATURES, track
from sightline.physics.combinatorial.layout import Task, make_task
from sightline.physics.combinatorial.simulate import FRAME_TIME, simulate
from sightline.physics.types import FRAMES, Doubles


@dataclass(frozen=True, slots=True, eq=False)
class CombinatorialSample:
    """What happens in one video.

    Attributes:
        key: of the task, such as `10003:007`.
        trial: number of the trial.
        action: (3,) float64 x, y, r of the red ball, from 0 to 1 (`action`).
        objects: (T, N, 14) float64 features of each object in each frame (`bodies`); the last is the
            red ball.
        velocities: (T, N, 3) float64: x, y in scene units/s, y up, and angular in rad/s,
            counter-clockwise.
        frame_time: seconds between frames.
    """

    key: str
    trial: int
    action: Doubles
    objects: Doubles
    velocities: Doubles
    frame_time: float = FRAME_TIME

    def __post_init__(self) -> None:
        frames, count = self.objects.shape[:2]
        wanted = {
            "action": (3,),
            "objects": (frames, count, FEATURES),
            "velocities": (frames, count, 3),
        }
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise InputError(f"{name} of shape {getattr(self, name).shape}, expected {shape}")

    @property
    def template(self) -> int:
        """Id of the template."""
        return int(self.key.partition(":")[0])


def make_sample(
    template: int, task: int = 0, trial: int = 0, *, seed: int = 0, frames: int = FRAMES
) -> CombinatorialSample:
    """Return a sample by its address.

    Args:
        template: id from 10000 to 10069.
        task: number of the task, 0 to 999: which objects are where.
        trial: number of the trial: which red ball.
        seed: of all random choices.
        frames: 1 to 50.
    """
    return run_trial(make_task(template, task, seed), trial, frames=frames)


def run_trial(
    task: Task, trial: int = 0, *, action: Doubles | None = None, frames: int = FRAMES
) -> CombinatorialSample:
    """Let the red ball of a trial go among the objects of a task.

    Args:
        task: from `make_task`.
        trial: its number.
        action: (3,) of one's own instead of the trial's; refused when it is not valid.
        frames: 1 to 50.
    """
    if action is None:
        action = draw_action(task, trial)
    elif action.shape != (3,) or not is_valid(action, task.bodies):
        raise InputError(f"the red ball of {action} is out of the scene or overlaps an object")
    bodies = (*task.bodies, red_ball(action))
    states, velocities = simulate(bodies, frames)
    return CombinatorialSample(task.key, trial, action, track(bodies, states), velocities)
