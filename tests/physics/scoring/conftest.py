"""Results of scoring, made by hand: what reports are tested with."""

import numpy as np
import pytest

from sightline.physics.laws import LAWS, Violation
from sightline.physics.scoring.baselines import BASELINES
from sightline.physics.scoring.run import PhysicsReport
from sightline.physics.scoring.sample import SampleScore
from sightline.physics.worlds.splits import bucket

#: Parameters of two collisions in distribution, and of four out of it in each of the ways.
COLLISIONS = (
    *((1.0, 1.0, 2.0, 2.0), (0.6, 1.4, 3.0, 1.5), (0.3, 1.0, 2.0, 2.0)),
    *((1.0, 1.0, 5.0, 2.0), (0.3, 1.0, 5.0, 2.0), (1.0, 1.0, 0.0, 2.0)),
)
#: Error of each predictor, as a multiple of the number of the sample plus one.
ERRORS = {
    "model": 0.1,
    "truth": 0.001,
    "copy-last": 1.0,
    "constant-velocity": 2.0,
    "nearest-case": 0.3,
}


def one_score(index, init, scenario, error, *, violations=(), **more):
    laws = [law.name for law in LAWS if scenario == "collision" or "pair" not in law.needs]
    values = dict.fromkeys(laws, error * (index + 1))
    values |= {"gravity": -0.00001, "presence": 0.0, "color": 0.0, "shape": 0.0}
    if scenario == "collision":
        values |= {"restitution": 1.0, "velocity_before": error / 10}
    else:
        values |= {"velocity_before": None, "restitution": None, "penetration": None}
    settings = {
        "name": f"{index:05d}",
        "bucket": str(bucket(scenario, np.array([init]))[0]),
        "values": values,
        "intervals": {},
        "violations": violations,
        "abnormal": bool(violations),
        "reasons": (),
        "reference": {"table_error": error + 0.05},
    }
    return SampleScore(index=index, init=init, **(settings | more))


@pytest.fixture
def make_result():
    """Return a function that makes the result of scoring samples of given parameters."""

    def make(inits=COLLISIONS, scenario="collision", *, missing=0, left_out=(), **more):
        penetration = Violation("penetration", 12, 0, 1.5, "units", 0.1)
        scores = {
            who: [
                one_score(
                    *(k, init, scenario, error),
                    violations=(penetration,) if who == "model" and k % 2 else (),
                )
                for k, init in enumerate(inits)
            ]
            for who, error in ((who, ERRORS[who]) for who in ("model", *BASELINES))
        }
        return PhysicsReport(scenario, scores, list(left_out), missing, _provenance(scenario, more))

    return make


def _provenance(scenario, more):
    return {
        "sightline": "0.1.0",
        "data_set": "truth.h5",
        "data_set_sha256": "0123456789abcdef" * 4,
        "scenario": scenario,
        "made_of": scenario,
        "samples": 6,
        "videos": "my-model",
        "matched_by": "name",
        "condition_frames": 3,
        "frames": 32,
        "frame_time": 0.1,
        "video_fps": None,
        "parser": "sightline",
        "definition": "mean |v - v̂|",
        "ranges": "code",
        "nearest_case_from": "3M grid (code)",
        **more,
    }
