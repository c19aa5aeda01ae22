"""Detect people with BlazePose, offline: boxes, landmarks, masks.

1. The detector is run on the whole image and on overlapping squares (`crops.squares`), with a low
   threshold, because it often misses people who are small or turned away.
2. A fast landmark network is run twice on each candidate, the second time on the crop that the first
   result suggests. Candidates without a person are dropped, duplicates are merged.
3. The accurate landmark network is run on the rest and gives landmarks, mask and 3D. The confidence
   follows from the scores and from the agreement of the two networks; people below `min_confidence` are
   dropped.
4. Detected people are masked out and their squares are searched again: the detector sees one person at
   a time, and of a group only the foremost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.people.crops import Crop, Pyramid, squares
from sightline.metric.people.masks import box_of, free_share, painted_over, share_out
from sightline.metric.people.pose_landmarks import (
    Pose,
    PoseDetector,
    PoseNetwork,
    crop_of,
    diameter,
    disagreement,
    distance,
    distinct,
    into_camera,
)
from sightline.metric.people.ssd import Array, Detections, joined, weighted_suppression
from sightline.metric.people.tflite import TfliteNetwork
from sightline.metric.people.types import Person, check_camera
from sightline.models.download import Notify, ResolvedWeights, resolve
from sightline.types import BoolArray, Camera

#: Logistic regression for the confidence, fitted on 545 candidates in 26 photographs with people
#: and 390 with hardly any (`docs/lab-log.md`). The scores of the networks are no probabilities: a
#: chandelier may get 0.98. But the networks rarely agree on its landmarks. At 0.5 there is a false
#: person in one photograph of twenty; with detection and presence alone, in one of seven at the
#: same recall.
BIAS, DETECTION, PRESENCE, APART = -6.17, 0.91, 0.31, -1.6


@dataclass(frozen=True, slots=True)
class DetectionScores:
    """Scores of a candidate.

    Attributes:
        detection: best score of the detector, 0 to 1.
        presence: score of the landmark network, 0 to 1.
        apart: median distance of the landmarks of two networks, divided by the diameter of the circle
            around the body.
    """

    detection: float
    presence: float
    apart: float


def confidence(scores: DetectionScores) -> float:
    """Return the probability that a candidate is a person, 0 to 1."""
    logit = (
        BIAS
        + DETECTION * _logit(scores.detection)
        + PRESENCE * _logit(scores.presence)
        + APART * math.log(scores.apart + 0.01)
    )
    return 1 / (1 + math.exp(-logit))


def _logit(score: float) -> float:
    kept = min(max(score, 0.001), 0.999)
    return math.log(kept / (1 - kept))


#: Lowest detector score of a candidate.
CANDIDATE = 0.2
#: Diameter of a person's circle divided by the side of the square: outside, another size fits better.
FIT = (0.2, 1.1)
#: Boxes from several squares that overlap more than this show the same head.
SAME_HEAD = 0.5
#: Largest number of candidates, the best first, to bound the run time.
MOST_CANDIDATES = 48
#: Lowest presence after the first and the second run of the fast network.
GLANCE, QUICK = 0.01, 0.2
#: Largest disagreement of image landmarks and metric body.
DISAGREEMENT = 0.3
#: Number of searches; before each but the first, the people found so far are masked out.
ROUNDS = 3
#: Smallest share of a body's landmarks outside of people found before.
FREE = 0.5
#: Smallest mask: in [px], and as a share of the square around the circle.
FEWEST_PIXELS, FILLED = 50, 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """Pose of a candidate and its scores."""

    pose: Pose
    scores: DetectionScores


class BlazePoseFinder:
    """Detector of all people taller than `smallest` pixels; a `PeopleFinder`.

    Args:
        network: landmark network: `"pose-heavy"` has tighter masks and is downloaded through npm,
            `"pose-full"` through pip. None for the first that is available.
        smallest: height of the smallest person in [px].
        min_confidence: minimum confidence of a person, 0 to 1.
        most_squares: largest number of detector runs, about 10 ms each on one core; enough for people
            of 80 px in 1 megapixel. In larger images the smallest person is larger in proportion.
        threads: maximum number of CPU threads; None for one per core.
        notify: called with one line of text before a download.
    """

    def __init__(
        self,
        network: Literal["pose-heavy", "pose-full"] | None = None,
        *,
        smallest: float = 80.0,
        min_confidence: float = 0.5,
        most_squares: int = 130,
        threads: int | None = None,
        notify: Notify | None = None,
    ) -> None:
        if not smallest > 0:
            raise InputError(f"smallest must be positive, got {smallest:g}")
        good = _landmark_weights(network, notify)
        quick = resolve("pose-full", notify=notify, purpose="people")
        found = resolve("pose-detection", notify=notify, purpose="people")
        self.source = f"BlazePose ({good.name} {good.sha256[:12]})"
        self.smallest, self.most_squares = smallest, most_squares
        self.min_confidence = min_confidence
        self._detector = PoseDetector(TfliteNetwork(found.path, threads))
        self._quick = PoseNetwork(TfliteNetwork(quick.path, threads))
        same = good.path == quick.path
        self._good = self._quick if same else PoseNetwork(TfliteNetwork(good.path, threads))

    def find(self, pixels: NDArray[np.uint8], camera: Camera) -> list[Person]:
        """Return the people of an (H, W, 3) uint8 sRGB image, the most confident first."""
        check_camera(pixels, camera)
        people = [
            Person(
                box=box_of(mask),
                mask=mask,
                confidence=confidence(finding.scores),
                landmarks=finding.pose.landmarks,
                visibility=finding.pose.visibility,
                world=into_camera(finding.pose.world, finding.pose.circle[0], camera),
            )
            for finding, mask in self.findings(pixels)
        ]
        return sorted(people, key=lambda person: -person.confidence)

    def findings(self, pixels: NDArray[np.uint8]) -> list[tuple[Finding, BoolArray]]:
        """Return the candidates accepted in an (H, W, 3) uint8 sRGB image, with their (H, W) masks."""
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
        """Keep confident people who were not found before."""
        sure = [finding for finding in found if confidence(finding.scores) >= self.min_confidence]
        free = [finding for finding in sure if free_share(finding.pose, taken) >= FREE]
        poses = [finding.pose for finding, _ in known] + [finding.pose for finding in free]
        return [free[index - len(known)] for index in distinct(poses) if index >= len(known)]

    def _round(self, pyramid: Pyramid, places: list[Crop], taken: BoolArray) -> list[Finding]:
        """Return all candidates of these squares, the most confident first."""
        found = []
        candidates = self._candidates(pyramid, places, float(max(taken.shape)))
        for score, pose in self._sieved(pyramid, candidates, taken):
            crop = crop_of(pose.circle)
            final = self._good.look(pyramid, crop)
            if disagreement(final.landmarks, final.world, final.visibility) > DISAGREEMENT:
                continue
            apart = distance(final, self._other_opinion(pyramid, pose, crop))
            found.append(Finding(final, DetectionScores(score, final.presence, apart)))
        return sorted(found, key=lambda finding: -confidence(finding.scores))

    def _other_opinion(self, pyramid: Pyramid, quick: Pose, crop: Crop) -> Pose:
        """Return a second pose: of the other network, or of the same one on the mirrored image."""
        if self._good is not self._quick:
            return quick
        return self._quick.look(pyramid, replace(crop, flipped=True))

    def _candidates(self, pyramid: Pyramid, places: list[Crop], whole: float) -> Detections:
        """Run the detector on all squares and merge its boxes, the best first."""
        parts = [
            _fitting(self._detector.look(pyramid, place, CANDIDATE), place, whole)
            for place in places
        ]
        merged = weighted_suppression(joined(parts, 4), SAME_HEAD)
        return merged[np.arange(min(len(merged), MOST_CANDIDATES))]

    def _sieved(
        self, pyramid: Pyramid, found: Detections, taken: BoolArray
    ) -> list[tuple[float, Pose]]:
        """Return detector score and pose of candidates that pass the fast network, once each."""
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
    """Drop duplicates, keeping the best score of each person."""
    order = sorted(pairs, key=lambda pair: -pair[0] * pair[1].presence)
    return [order[index] for index in distinct([pose for _, pose in order])]


def _fitting(found: Detections, place: Crop, whole: float) -> Detections:
    """Drop people whose size fits another size of squares; none is too large for the whole image."""
    ratio = 2 * np.linalg.norm(found.points[:, 1] - found.points[:, 0], axis=1) / place.side
    return found[(ratio > FIT[0]) & ((ratio < FIT[1]) | (place.side >= whole))]


def _suits(place: Crop, circle: Array) -> bool:
    """Whether a square contains the center of a person and its size fits."""
    off = np.abs(circle[0] - (place.x, place.y)).max()
    return bool(off < place.side / 2 and FIT[0] < diameter(circle) / place.side < FIT[1])


def _large_enough(mask: BoolArray, pose: Pose) -> bool:
    return int(mask.sum()) >= max(FEWEST_PIXELS, FILLED * diameter(pose.circle) ** 2)


def _sane(pose: Pose) -> bool:
    """Whether the next crop would have a plausible size."""
    return 0.3 < diameter(pose.circle) / pose.crop.side < 2.0


def _landmark_weights(
    network: Literal["pose-heavy", "pose-full"] | None, notify: Notify | None
) -> ResolvedWeights:
    """Resolve the requested network, or the best available one."""
    if network is not None:
        return resolve(network, notify=notify, purpose="people")
    try:
        return resolve("pose-heavy", notify=notify, purpose="people")
    except InputError:  # npm or the network is missing
        return resolve("pose-full", notify=notify, purpose="people")
