"""The whole recipe on two CPU cores: scenes → teacher → pseudo-labels → student, and meters.

    python recipes/cpu --data DIR --work DIR            hours
    python recipes/cpu --work DIR --smoke               minutes: every stage, far too short to be good

DIR of `--data` holds `rgbd_train`, `rgbd_more`, `photos`, `photo_labels/tcmonodepth` and, for
validation only, `rgbd`. Every stage is a command that can be typed by hand; it is printed before it
runs. Stop it at any time: the same command goes on where it stopped. Giving memory back to the system
between steps costs a quarter of the time, so glibc is told to keep it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stages import Stage, make_stage, run_stages, unknown_stages, write_small_data


def recipe_stages(data: Path, work: Path) -> list[Stage]:
    """List the commands of the real run.

    The teacher learns three times: from small pictures, from larger ones, and from scenes with people
    anywhere in them; the mean of the last two is better than either. The student learns from its labels
    at 192 px, where most of what there is to learn can be seen at a third of the price, then from its
    features too, and last at the size at which it will look at pictures. `teacher-grids` trains the
    next teacher: grids of every shape, rolled cameras and scenes without a ground. Meters come from
    measured depth and rendered rooms, then from photographs of rooms as well.
    """
    photos, outside = data / "photos", data / "photo_labels" / "tcmonodepth"
    measured, check = f"pairs:{data / 'rgbd_train'}", ("--validate", str(data / "rgbd"))
    rendered, indoor = f"pairs:{work / 'scenes'}", f"pairs:{work / 'indoor'}"
    teacher = ("train", "teacher", "--threads", "2", *check, "--data", f"{rendered}@4")
    student = (
        *("train", "student", "--threads", "2", *check, "--photos", str(photos), "--share", "5"),
        *("--labels", str(work / "labels"), "--data", f"{measured}@6"),
        *("--data", f"{rendered}@3", "--data", f"{indoor}@2", "--size", "256"),
    )
    return [
        make_stage(
            "scenes", "scenes make --count 8000 --size 320x256 --seed 1 --out", work / "scenes"
        ),
        make_stage(
            "indoor",
            "scenes make --count 3500 --size 320x256 --seed 2 --kinds room,tabletop,objects,people",
            "--out",
            work / "indoor",
        ),
        make_stage(
            "visitors",
            "scenes make --count 3500 --size 320x256 --seed 3 --kinds visitors --out",
            work / "visitors",
        ),
        Stage(
            "teacher",
            (
                *(*teacher, "--data", f"{measured}@2", "--data", f"photos:{photos}:{outside}@2"),
                *("--encoder-rate", "1.5e-5", "--rate", "3e-4", "--warmup", "60", "--decay", "0.5"),
                *("--steps", "1700", "--short-side", "224", "--out", str(work / "teacher")),
            ),
        ),
        Stage(
            "teacher-large",
            (
                *(*teacher, "--data", f"{measured}@3", "--data", f"photos:{photos}:{outside}@1"),
                *("--start", str(work / "teacher" / "model.safetensors"), "--seed", "1"),
                *("--encoder-rate", "1.2e-5", "--rate", "2e-4", "--warmup", "40", "--decay", "0.6"),
                *("--steps", "1200", "--short-side", "252", "--size", "378"),
                *("--out", str(work / "teacher-large")),
            ),
        ),
        Stage(
            "teacher-people",
            (
                *("train", "teacher", "--threads", "2", *check, "--data", f"{rendered}@1"),
                *("--data", f"pairs:{work / 'visitors'}@3", "--data", f"{measured}@3"),
                *("--data", f"photos:{photos}:{outside}@1", "--seed", "2"),
                *("--start", str(work / "teacher-large" / "model.safetensors")),
                *("--encoder-rate", "1.2e-5", "--rate", "2e-4", "--warmup", "40", "--decay", "0.6"),
                *("--steps", "1300", "--short-side", "252", "--size", "378"),
                *("--out", str(work / "teacher-people")),
            ),
        ),
        make_stage(
            "teacher-mean",
            "train mean",
            work / "teacher-large" / "model.safetensors",
            work / "teacher-people" / "model.safetensors",
            "--out",
            work / "teacher.safetensors",
        ),
        make_stage(
            "label",
            "label --model",
            work / "teacher.safetensors",
            photos,
            "--recursive --size 280 --no-mirror --out",
            work / "labels",
        ),
        Stage(
            "student",
            (
                *(*student, "--steps", "4000", "--short-side", "192"),
                *("--encoder-rate", "3e-4", "--rate", "1e-3", "--warmup", "60", "--decay", "0.6"),
                *("--out", str(work / "student")),
            ),
        ),
        Stage(
            "student-guided",
            (
                *(*student, "--start", str(work / "student" / "model.safetensors"), "--seed", "1"),
                *("--guide", str(work / "teacher.safetensors"), "--steps", "1300"),
                *("--short-side", "192", "--encoder-rate", "3e-4", "--rate", "1e-3"),
                *("--warmup", "40", "--decay", "0.6", "--out", str(work / "student-guided")),
            ),
        ),
        Stage(
            "student-large",
            (
                *(*student, "--start", str(work / "student-guided" / "model.safetensors")),
                *("--guide", str(work / "teacher.safetensors"), "--seed", "2", "--steps", "420"),
                *("--short-side", "256", "--encoder-rate", "1.5e-4", "--rate", "5e-4"),
                *("--warmup", "20", "--decay", "0.8", "--average", "0.98"),
                *("--out", str(work / "student-large")),
            ),
        ),
        make_stage(
            "wide", "scenes make --count 2600 --size 378x294 --seed 101 --out", work / "wide"
        ),
        make_stage(
            "groundless",
            "scenes make --count 1200 --size 378x294 --seed 102",
            "--kinds nadir,sky,wall,table,ceiling,tilted,aerial --out",
            work / "groundless",
        ),
        Stage(
            "teacher-grids",
            (
                *("train", "teacher", "--threads", "2", *check, "--seed", "11"),
                *("--data", f"pairs:{work / 'wide'}@2", "--data", f"pairs:{work / 'groundless'}@1"),
                *("--data", f"{measured}@2", "--data", f"pairs:{data / 'rgbd_more'}@2"),
                *("--data", f"photos:{photos}:{outside}@1"),
                *("--start", str(work / "teacher.safetensors"), "--steps", "1500"),
                *("--encoder-rate", "1e-5", "--rate", "1e-4", "--warmup", "60", "--decay", "0.65"),
                *("--average", "0.995", "--random-grids", "--roll", "0.12", "--appearance", "0.06"),
                *("--frozen-blocks", "6", "--bfloat16-head", "--short-side", "252"),
                *("--size", "378", "--out", str(work / "teacher-grids")),
            ),
        ),
        Stage(
            "metric",
            (
                *("train", "metric", "--data", f"{measured}@12", "--threads", "2", *check),
                *("--data", f"{indoor}@4", "--short-side", "192", "--size", "256"),
                *("--start", str(work / "student-large" / "model.safetensors")),
                *("--steps", "2000", "--warmup", "40", "--smallest-crop", "0.6"),
                *("--out", str(work / "metric")),
            ),
        ),
        Stage(
            "rooms",
            (
                *("--photos", str(photos / "rooms-places"), str(photos / "scannet-samples")),
                *("--model", str(work / "teacher.safetensors"), "--out", str(work / "rooms")),
            ),
            program="recipes/cpu/rooms.py",
        ),
        Stage(
            "metric-rooms",
            (
                *("train", "metric", "--data", f"{measured}@7", "--threads", "2", *check),
                *("--data", f"pairs:{work / 'rooms'}@5", "--data", f"{indoor}@4", "--seed", "1"),
                *("--start", str(work / "metric" / "model.safetensors"), "--short-side", "192"),
                *("--size", "256", "--encoder-rate", "7e-5", "--rate", "3.5e-4"),
                *("--steps", "900", "--warmup", "30", "--smallest-crop", "0.6"),
                *("--out", str(work / "metric-rooms")),
            ),
        ),
        Stage(
            "metric-last",
            (
                *("train", "metric", "--data", f"{measured}@10", "--threads", "2", *check),
                *("--data", f"pairs:{work / 'rooms'}@6", "--short-side", "192", "--size", "256"),
                *("--start", str(work / "metric-rooms" / "model.safetensors"), "--seed", "2"),
                *("--encoder-rate", "7e-5", "--rate", "3.5e-4", "--steps", "450"),
                *("--warmup", "20", "--out", str(work / "metric-last")),
            ),
        ),
    ]


def smoke_stages(work: Path) -> list[Stage]:
    """List the commands of the short run: the same stages, each as small as it can be."""
    photos, rendered, check = work / "photos", f"pairs:{work / 'scenes'}", work / "rgbd"
    quick = "--steps 2 --validate-every 2 --warmup 1 --threads 2 --validate"
    return [
        make_stage("scenes", "scenes make --count 16 --size 96x80 --seed 1 --out", work / "scenes"),
        make_stage(
            "teacher",
            f"train teacher --data {rendered}@2 --start nothing --short-side 56 {quick}",
            check,
            "--out",
            work / "teacher",
        ),
        make_stage(
            "label",
            "label --model",
            work / "teacher" / "model.safetensors",
            photos,
            "--recursive --size 56 --out",
            work / "labels",
        ),
        make_stage(
            "student",
            f"train student --data {rendered}@2 --share 2 --start nothing --short-side 64 {quick}",
            check,
            "--photos",
            photos,
            "--labels",
            work / "labels",
            "--guide",
            work / "teacher" / "model.safetensors",
            "--out",
            work / "student",
        ),
        make_stage(
            "metric",
            f"train metric --data {rendered}@4 --short-side 64 {quick}",
            check,
            "--start",
            work / "student" / "model.safetensors",
            "--out",
            work / "metric",
        ),
        make_stage("bench", "bench rgbd", check, "--model", work / "student" / "model.safetensors"),
    ]


def main() -> int:
    """Read the options and run the stages in order."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of pictures to learn from")
    parser.add_argument("--work", type=Path, required=True, help="folder for everything it makes")
    parser.add_argument("--smoke", action="store_true", help="every stage, in minutes")
    parser.add_argument("--only", nargs="+", help="names of stages; the others are left out")
    options = parser.parse_args()
    if not options.smoke and options.data is None:
        parser.error("give --data DIR, or --smoke")
    everything = recipe_stages(Path(), Path()) + smoke_stages(Path())
    if wrong := unknown_stages(options.only, everything):
        parser.error(wrong)
    if options.smoke:
        write_small_data(options.work)
        return run_stages(smoke_stages(options.work), options.only)
    return run_stages(recipe_stages(options.data, options.work), options.only)


if __name__ == "__main__":
    sys.exit(main())
