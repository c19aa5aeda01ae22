"""Track the bodies of a video: sub-pixel positions with their uncertainty, velocities and states."""

from sightline.physics.tracking.parser import parse
from sightline.physics.tracking.tracks import Prior, State, Tracks, prior_of

__all__ = ["Prior", "State", "Tracks", "parse", "prior_of"]
