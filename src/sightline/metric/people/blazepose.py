"""Find everybody in a picture with BlazePose, offline: detection, landmarks, masks.

1. The detector looks at the whole picture and at overlapping squares (`tiles`), at a low threshold:
   it is shy with people who are small or turned away.
2. A quick landmark network looks at each candidate twice, the second time where the first look puts
   the body. What it takes for no person is dropped, what is the same person is merged.
3. The good landmark network looks at those that are left; landmarks, mask and 3D are its own. From the
   scores, and from how well the two networks agree, comes the confidence; what is below `least` is
   dropped.
4. Those found are painted over, and the squares that held them are searched again: the detector sees
   one person at a time, and of a couple or a group only the foremost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.people.confidence import Evidence, confidence
from sightline.metric.people.consistency import disagreement
from sightline.metric.people.crops import Crop, Pyramid
from sightline.metric.people.detections import Array, Detections, joined, weighted_suppression
from sightline.metric.people.masks import box_of, free_share, painted_over, share_out
from sightline.metric.people.merge import distance, distinct
from sightline.metric.people.poses import (
    Pose,
    PoseDetector,
    PoseNetwork,
    crop_of,
    diameter,
    into_camera,
)
from sightline.metric.people.tflite import TfliteNetwork
from sightline.metric.people.tiles import squares
from sightline.metric.people.types import Person, check_camera
from sightline.types import BoolArray, Camera
from sightline.weights.store import Notify, ResolvedWeights, resolve

#: The detector's lowest score for a candidate.
CANDIDATE = 0.2
#: A person's circle over the side of the square it is found in: outside, another size suits better.
FIT = (0.2, 1.1)
#: Boxes of candidates from several squares that overlap more than this are one head.
SAME_HEAD = 0.5
#: At most so many candidates are looked at, the best first: a limit on time, not on people.
MOST_CANDIDATES = 48
#: Lowest presence after the first and the second quick look.
GLANCE, QUICK = 0.01, 0.2
#: Most that landmarks and metric body may disagree.
DISAGREEMENT = 0.3
#: How often those found are painted over to see who stands beside and behind them, plus one.
ROUNDS = 3
#: Least share of a body's landmarks that lie outside of people painted over.
FREE = 0.5
#: Fewest pixels of a mask worth reading depth under, and least share of the square around the circle.
FEWEST_PIXELS, FILLED = 50, 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """A pose with what speaks for it."""

    pose: Pose
    evidence: Evidence


class BlazePoseFinder:
    """A `PeopleFinder`: everybody down to `smallest` pixels, with masks.

    Args:
        network: the landmark network: `"pose-heavy"` has the tighter masks and comes through npm,
            `"pose-full"` comes through pip. None takes the first that can be had.
        smallest: height of the smallest person looked for, in [px].
        least: lowest confidence of a person, 0 to 1.
        most_squares: at most about so many views of the detector, 10 ms each on one core; enough for
            people of 80 px in 1 megapixel. Larger pictures are searched for people that are larger
            in proportion.
        threads: at most so many; None for one per core.
        notify: told in one line before something is downloaded.
    """

    def __init__(
        self,
        network: Literal["pose-heavy", "pose-full"] | None = None,
        *,
        smallest: float = 80.0,
        least: float = 0.5,
        most_squares: int = 130,
        threads: int | None = None,
        notify: Notify | None = None,
    ) -> None:
        if not smallest > 0:
            raise InputError(f"the smallest person must be taller than 0 px, got {smallest:g}")
        good = _landmark_weights(network, notify)
        quick = resolve("pose-full", notify=notify, purpose="people")
        found = resolve("pose-detection", notify=notify, purpose="people")
        self.source = f"BlazePose ({good.name} {good.sha256[:12]})"
        self.smallest, self.least, self.most_squares = smallest, least, most_squares
        self._detector = PoseDetector(TfliteNetwork(found.path, threads))
        self._quick = PoseNetwork(TfliteNetwork(quick.path, threads))
        same = good.path == quick.path
        self._good = self._quick if same else PoseNetwork(TfliteNetwork(good.path, threads))

    def find(self, pixels: NDArray[np.uint8], camera: Camera) -> list[Person]:
        """Return the people of an (H, W, 3) sRGB picture, the surest first."""
        check_camera(pixels, camera)
        people = [
            Person(
                box=box_of(mask),
                mask=mask,
                confidence=confidence(finding.evidence),
                landmarks=finding.pose.landmarks,
                visibility=finding.pose.visibility,
                world=into_camera(finding.pose.world, finding.pose.circle[0], camera),
            )
            for finding, mask in self.findings(pixels)
        ]
        return sorted(people, key=lambda person: -person.confidence)

    def findings(self, pixels: NDArray[np.uint8]) -> list[tuple[Finding, BoolArray]]:
        """Return who is found in an (H, W, 3) sRGB picture, and their (H, W) masks."""
        height, width = pixels.shape[:2]
        places = squares(height, width, self.smallest, self.most_squares)
        taken = np.zeros((height, width), bool)
        everybody: list[tuple[Finding, BoolArray]] = []
        for _ in range(ROUNDS):
            view = painted_over(pixels, taken)
            found = self._round(Pyramid(view), places, taken)
            found = self._new(found, taken, everybody)
            masks = share_out([finding.pose for finding in found], taken)
            new = [
                (finding, mask)
                for finding, mask in zip(found, masks, strict=True)
                if _large_enough(mask, finding.pose)
            ]
            if not new:
                break
            everybody += new
            taken |= np.any([mask for _, mask in new], axis=0)
            circles = [finding.pose.circle for finding, _ in new]
            places = [place for place in places if any(_suits(place, one) for one in circles)]
        return everybody

    def _new(
        self, found: list[Finding], taken: BoolArray, known: list[tuple[Finding, BoolArray]]
    ) -> list[Finding]:
        """Those who are sure, nobody known before, and no silhouette of somebody painted over."""
        sure = [finding for finding in found if confidence(finding.evidence) >= self.least]
        free = [finding for finding in sure if free_share(finding.pose, taken) >= FREE]
        poses = [finding.pose for finding, _ in known] + [finding.pose for finding in free]
        return [free[index - len(known)] for index in distinct(poses) if index >= len(known)]

    def _round(self, pyramid: Pyramid, places: list[Crop], taken: BoolArray) -> list[Finding]:
        """Everything in these squares that might be a person, the surest first."""
        found = []
        candidates = self._candidates(pyramid, places, float(max(taken.shape)))
        for score, pose in self._sieved(pyramid, candidates, taken):
            crop = crop_of(pose.circle)
            final = self._good.look(pyramid, crop)
            if disagreement(final.landmarks, final.world, final.visibility) > DISAGREEMENT:
                continue
            apart = distance(final, self._other_opinion(pyramid, pose, crop))
            found.append(Finding(final, Evidence(score, final.presence, apart)))
        return sorted(found, key=lambda finding: -confidence(finding.evidence))

    def _other_opinion(self, pyramid: Pyramid, quick: Pose, crop: Crop) -> Pose:
        """Ask another network; if there is none, ask this one about a mirror image."""
        if self._good is not self._quick:
            return quick
        return self._quick.look(pyramid, replace(crop, flipped=True))

    def _candidates(self, pyramid: Pyramid, places: list[Crop], whole: float) -> Detections:
        """Whatever the detector sees in any square, one per head, the best first."""
        parts = [
            _fitting(self._detector.look(pyramid, place, CANDIDATE), place, whole)
            for place in places
        ]
        merged = weighted_suppression(joined(parts, 4), SAME_HEAD)
        return merged[np.arange(min(len(merged), MOST_CANDIDATES))]

    def _sieved(
        self, pyramid: Pyramid, found: Detections, taken: BoolArray
    ) -> list[tuple[float, Pose]]:
        """Candidates that the quick network takes for people, once each, with their scores."""
        first = [
            (float(score), self._quick.look(pyramid, crop_of(points)))
            for score, points in zip(found.scores, found.points, strict=True)
        ]
        first = [pair for pair in first if pair[1].presence >= GLANCE and _sane(pair[1])]
        first = [pair for pair in first if free_share(pair[1], taken) >= FREE]
        second = [
            (score, self._quick.look(pyramid, crop_of(pose.circle)))
            for score, pose in _each_once(first)
        ]
        kept = [pair for pair in second if pair[1].presence >= QUICK and _sane(pair[1])]
        return _each_once(kept)


def _each_once(pairs: list[tuple[float, Pose]]) -> list[tuple[float, Pose]]:
    """Drop what is the same person as another one whose scores are better."""
    order = sorted(pairs, key=lambda pair: -pair[0] * pair[1].presence)
    return [order[index] for index in distinct([pose for _, pose in order])]


def _fitting(found: Detections, place: Crop, whole: float) -> Detections:
    """Drop what suits another size of squares; nothing is too large for the whole picture."""
    ratio = 2 * np.linalg.norm(found.points[:, 1] - found.points[:, 0], axis=1) / place.side
    return found[(ratio > FIT[0]) & ((ratio < FIT[1]) | (place.side >= whole))]


def _suits(place: Crop, circle: Array) -> bool:
    """Whether a square holds a person's middle, and people of that size are looked for in it."""
    off = np.abs(circle[0] - (place.x, place.y)).max()
    return bool(off < place.side / 2 and FIT[0] < diameter(circle) / place.side < FIT[1])


def _large_enough(mask: BoolArray, pose: Pose) -> bool:
    return int(mask.sum()) >= max(FEWEST_PIXELS, FILLED * diameter(pose.circle) ** 2)


def _sane(pose: Pose) -> bool:
    """Whether the next crop would be of a size that makes sense."""
    return 0.3 < diameter(pose.circle) / pose.crop.side < 2.0


def _landmark_weights(
    network: Literal["pose-heavy", "pose-full"] | None, notify: Notify | None
) -> ResolvedWeights:
    """Resolve the network asked for, or the best that can be had."""
    if network is not None:
        return resolve(network, notify=notify, purpose="people")
    try:
        return resolve("pose-heavy", notify=notify, purpose="people")
    except InputError:  # no npm here, or no way out
        return resolve("pose-full", notify=notify, purpose="people")
