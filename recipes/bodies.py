"""Bake the library of bodies, `src/sightline/scenes/people/bodies.npz`, with anny.

    pip install -c constraints.txt anny==0.6.2
    python recipes/bodies.py

Takes two or three minutes the first time (anny compiles its kernels and caches its shapes). Ages,
heights and weights follow anny's distributions, which are fitted to the growth charts of the WHO; the
age groups are taken in fixed shares so that children and old people are well represented.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from body_surface import close, hair_depth, landmarks, regions, seen
from decimate import Collapser
from numpy.typing import NDArray

from sightline.io.atomic import atomic_path
from sightline.scenes.people.bodies import JOINTS, LANDMARKS, REGIONS

if TYPE_CHECKING:
    import anny

#: (from, to, how many) of the age in years.
AGES = ((3, 7, 7), (7, 12, 8), (12, 18, 9), (18, 35, 24), (35, 60, 22), (60, 85, 14))

#: Triangles of each level.
LEVELS = {"near": 2600, "far": 850}

#: How much more an error counts than elsewhere, by region: faces are looked at closely.
WORTH = {
    "face": 30.0,
    "lips": 30.0,
    "eye": 30.0,
    "beard": 20.0,
    "scalp": 4.0,
    "neck": 4.0,
    "hand": 4.0,
}

#: anny: x to the left, y backwards, z up. Ours: x to the right, y down, z forward.
FRAME = np.array([[-1.0, 0, 0], [0, 0, -1.0], [0, -1.0, 0]])

#: One step of the stored whole numbers, [m].
STEP = 2.0**-14

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def joint_of(bone: str) -> str:
    """Tell which of our joints takes over a bone of anny."""
    stem, _, side = bone.partition(".")
    for start, joint in (
        ("upperleg", "thigh"), ("lowerleg", "shin"), ("foot", "foot"), ("toe", "foot"),
        ("clavicle", "collar"), ("shoulder", "collar"), ("upperarm", "arm"), ("lowerarm", "forearm"),
        ("wrist", "hand"), ("metacarpal", "hand"), ("finger1", "hand"), ("finger", "fingers"),
    ):  # fmt: skip
        if stem.startswith(start):
            return f"{joint}.{side}"
    names = {"spine05": "spine", "spine04": "spine", "spine03": "chest", "neck02": "neck"}
    names |= {"spine02": "chest", "spine01": "chest", "neck01": "neck", "neck03": "neck"}
    return names.get(stem, "head" if stem in ("head", "eye") else "pelvis")


#: The bone of anny whose head is where each joint lies.
PIVOTS = {
    "pelvis": "root", "spine": "spine05", "chest": "spine03", "neck": "neck01", "head": "head",
    **{f"{ours}.{s}": f"{theirs}.{s}" for s in "LR" for ours, theirs in (
        ("collar", "clavicle"), ("arm", "upperarm01"), ("forearm", "lowerarm01"), ("hand", "wrist"),
        ("fingers", "finger3-1"), ("thigh", "upperleg01"), ("shin", "lowerleg01"), ("foot", "foot"))},
}  # fmt: skip


def sample(model: anny.Anny, seed: int) -> dict[str, Floats]:
    """Draw bodies between 1.0 and 2.0 m: vertices, pivots, eyes, height, mass, age, female."""
    from anny.shape_distribution import SimpleShapeDistribution

    torch.manual_seed(seed)
    rows: list[dict[str, Floats | float]] = []
    for low, high, wanted in AGES:
        law = SimpleShapeDistribution(
            model,
            morphological_age_distribution=torch.distributions.Uniform(float(low), float(high)),
            gender_distribution=torch.distributions.Beta(0.3, 0.3),
        )
        years, traits = law.sample(wanted * 3)
        shape = model(phenotype_kwargs=traits)
        vertices = shape["rest_vertices"].numpy() @ FRAME.T
        heads = shape["rest_bone_heads"].numpy() @ FRAME.T
        bottom = vertices[:, :, 1].max(1)
        height = bottom - vertices[:, :, 1].min(1)
        fits = np.flatnonzero((height > 1.0) & (height < 2.0))[:wanted]
        for k in fits:
            down = np.array([0.0, bottom[k], 0.0])
            place = vertices[k] - down
            a, b, c = (place[model.faces[:, i].numpy()] for i in range(3))
            volume = abs(float((np.cross(a, b) * c).sum())) / 6
            rows.append({
                "vertices": place, "heads": heads[k] - down, "height": height[k],
                "mass": 980 * volume, "age": years[k].numpy(), "female": traits["gender"][k].numpy(),
            })  # fmt: skip
    return {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}


def skinning(model: anny.Anny) -> tuple[Ints, Floats]:
    """(V, 4) joints that move each vertex, and by how much."""
    order = {name: k for k, name in enumerate(JOINTS)}
    ours = np.array([order[joint_of(label)] for label in model.bone_labels])
    weights = model.vertex_bone_weights.numpy()
    full = np.zeros((len(weights), len(order)))
    rows = np.repeat(np.arange(len(weights))[:, None], weights.shape[1], 1)
    np.add.at(full, (rows, ours[model.vertex_bone_indices.numpy()]), weights)
    best = np.argsort(-full, axis=1)[:, :4]
    kept = np.take_along_axis(full, best, 1)
    return best, kept / kept.sum(1, keepdims=True)


def bake(out: Path, seed: int) -> None:
    """Make the library and write it."""
    import anny

    model = anny.Anny(topology="notoes", phenotypes="all")
    drawn = sample(model, seed)
    bones = list(model.bone_labels)
    joints = drawn["heads"][:, [bones.index(PIVOTS[name]) for name in JOINTS]]
    eyes = {s: drawn["heads"][:, bones.index(f"eye.{s}")] for s in "LR"}
    bone, weight = skinning(model)
    adult = int(np.argmin(np.abs(drawn["height"] - 1.75) + np.abs(drawn["age"] - 30) / 100))
    shape, faces = drawn["vertices"][adult], model.faces.numpy().astype(np.int64)
    marks = landmarks(shape, eyes["R"][adult])

    open_faces = faces[seen(shape, faces, eyes["R"][adult])]
    faces = close(open_faces)
    pull = np.zeros((len(shape), len(JOINTS)))
    np.put_along_axis(pull, bone, weight, 1)
    at = dict(zip(JOINTS, joints[adult], strict=True))
    label = regions(shape, at, eyes["R"][adult], faces, pull)
    covers = np.arange(len(faces)) >= len(open_faces)
    high = shape[faces].mean(1)[:, 1] < eyes["R"][adult][1] + 0.03
    label[covers & high], label[covers & ~high] = REGIONS.index("eye"), REGIONS.index("lips")
    judged = [adult, int(np.argmin(drawn["age"])), int(np.argmax(drawn["mass"]))]
    worth = np.array([WORTH.get(name, 1.0) for name in REGIONS])
    scaled = drawn["vertices"][judged] / drawn["height"][judged][:, None, None]
    # Crown and soles of every body stay, so that its height does.
    fixed = np.unique([drawn["vertices"][:, :, 1].argmin(1), drawn["vertices"][:, :, 1].argmax(1)])
    collapser = Collapser(scaled, faces, label, worth[label], fixed)
    levels = {name: collapser.run(target) for name, target in LEVELS.items()}

    kept = np.unique(levels["near"][0])
    rank = np.full(shape.shape[0], -1)
    rank[kept] = np.arange(len(kept))
    rows = np.concatenate([kept, marks])
    vertices = drawn["vertices"][:, rows]
    for s in "LR":
        vertices[:, len(kept) + LANDMARKS.index(f"eye.{s}")] = eyes[s]
    steps = np.rint(vertices / STEP).astype(np.int64)
    middle = np.rint(steps.mean(0)).astype(np.int64)
    arrays: dict[str, Any] = {
        name: drawn[name].astype(np.float32) for name in ("height", "mass", "age", "female")
    }
    for name, (triangles, region) in levels.items():
        arrays[f"faces_{name}"] = rank[triangles].astype(np.uint16)
        arrays[f"region_{name}"] = region.astype(np.uint8)
    with atomic_path(out) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(
            stream,
            vertices=(steps - middle).astype(np.int16),
            middle=middle.astype(np.int32),
            step=np.float64(STEP),
            joints=joints.astype(np.float32),
            bone=bone[rows].astype(np.uint8),
            weight=np.rint(weight[rows] * 255).astype(np.uint8),
            hair_depth=hair_depth(shape, faces, label)[kept],
            **arrays,
        )


if __name__ == "__main__":
    default = Path(__file__).parents[1] / "src/sightline/scenes/people/bodies.npz"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=default)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    bake(arguments.out, arguments.seed)
