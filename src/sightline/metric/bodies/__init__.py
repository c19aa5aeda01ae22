"""Bodies in metres, fitted to the landmarks of people, and their depth in the picture."""

from sightline.metric.bodies.depth import pseudo_depth, silhouette
from sightline.metric.bodies.fit import FittedBody, fit_body
from sightline.metric.bodies.stature import HeightPrior

__all__ = ["FittedBody", "HeightPrior", "fit_body", "pseudo_depth", "silhouette"]
