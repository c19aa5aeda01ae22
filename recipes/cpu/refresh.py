"""Make again everything that depends on `small`, after `publish.py` has entered a new version of it.

    python recipes/cpu/refresh.py --data DIR --work DIR            hours; or make models-refresh
    python recipes/cpu/refresh.py --data DIR --work DIR --plan     print the commands, run none
    python recipes/cpu/refresh.py --work DIR --smoke               minutes: some stages, on little data

DIR of `--data` holds `rgbd`, `rgbd_train` and `photos`. Take a new folder as `--work` for every version
of `small`: labels and features in it belong to the version that made them. The same command resumes.
`metric-prior` prints two figures that are entered by hand as `CONTRAST` and `READING` of
`sightline.metric.evidence`; docs/models.md holds the card and the history.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stages import ROOT, Stage, make_stage, run_stages, unknown_stages, write_small_data

CALIBRATE, PERCEPTION = "recipes/cpu/calibrate.py", "recipes/cpu/perception.py"
TABLES, PICTURES = ROOT / "docs" / "tables", ROOT / "docs" / "pictures"


def refresh_stages(data: Path, work: Path) -> list[Stage]:
    """List the commands in the order of their dependencies.

    Error bars come first, because every later figure with a ± uses them. Labels teach the codebook,
    codebook and `small` are what the VLM sees with, and tables and pictures show all of them.
    """
    photos, rgbd = data / "photos", data / "rgbd"
    perception = ("--data", data, "--work", work)
    chain = work / "last_chain" / "perception-vlm.safetensors"
    direct = work / "more_direct" / "perception-vlm.safetensors"
    return [
        make_stage("calibration", "--model small --data", rgbd, program=CALIBRATE),
        make_stage(
            "metric-prior",
            "--model small --data",
            data / "rgbd_train",
            program="benchmarks/metric_prior.py",
        ),
        make_stage(
            "labels",
            "label --model small --recursive --size 280 --no-mirror",
            photos,
            "--out",
            work / "labels",
        ),
        make_stage(
            "scenes", "scenes make --count 8000 --size 320x256 --seed 1 --out", work / "scenes"
        ),
        make_stage(
            "indoor",
            "scenes make --count 3500 --size 320x256 --seed 2 --kinds room,tabletop,objects,people",
            "--out",
            work / "indoor",
        ),
        make_stage("codebook", *perception, "--only codebook", program=PERCEPTION),
        make_stage("publish-codebook", *perception, "--publish codebook", program=PERCEPTION),
        make_stage(
            "vlm",
            *perception,
            "--only collections pictures network glass finder looks points counts align chain",
            "direct more_chain more_direct last_chain",
            program=PERCEPTION,
        ),
        make_stage("publish-vlm", *perception, "--publish vlm", program=PERCEPTION),
        make_stage(
            "table-quality",
            "--data",
            data,
            "--write",
            TABLES / "quality.md",
            program="benchmarks/quality.py",
        ),
        make_stage(
            "table-codebook",
            "codebook --data",
            data,
            "--write",
            TABLES / "codebook.md",
            program="benchmarks/perception.py",
        ),
        make_stage(
            "table-vlm",
            *("vlms --data", data, "--chain", chain, "--direct", direct),
            *("--write", TABLES / "perception.md"),
            program="benchmarks/perception.py",
        ),
        make_stage(
            "table-video", "--write", TABLES / "flicker.md", program="benchmarks/flicker.py"
        ),
        make_stage(
            "table-meters",
            *("--work", work / "meters", "--write", TABLES / "meters.md"),
            program="benchmarks/meters.py",
        ),
        make_stage("pictures", program="docs/figures.py"),
        make_stage("picture-tokens", program="docs/tokens_picture.py"),
        make_stage(
            "picture-sheet",
            *("--photos", photos, "--write", PICTURES / "sheet.jpg"),
            program="docs/contact_sheet.py",
        ),
        make_stage("curves", program="docs/curves.py"),
        make_stage("pictures-page", program="docs/page_pictures.py"),
    ]


def smoke_stages(work: Path) -> list[Stage]:
    """List the first commands on little data and with `tiny`; nothing outside `work` is written."""
    return [
        make_stage(
            "calibration",
            "--model tiny --threads 1 --data",
            *(work / "rgbd", "--out", work),
            program=CALIBRATE,
        ),
        make_stage("scenes", "scenes make --count 8 --size 96x80 --out", work / "scenes"),
        make_stage(
            "metric-prior",
            "--model tiny --every 1 --data",
            work / "scenes",
            program="benchmarks/metric_prior.py",
        ),
        make_stage(
            "labels",
            "label --model tiny --recursive --no-mirror",
            *(work / "photos", "--out", work / "labels"),
        ),
        make_stage(
            "table-quality",
            *("--models tiny --data", work, "--write", work / "quality.md"),
            program="benchmarks/quality.py",
        ),
    ]


def main() -> int:
    """Read the options; print or run the commands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with rgbd, rgbd_train and photos")
    parser.add_argument("--work", type=Path, required=True, help="folder for everything it makes")
    parser.add_argument("--plan", action="store_true", help="print the commands, run none")
    parser.add_argument("--smoke", action="store_true", help="the first stages, on little data")
    parser.add_argument("--only", nargs="+", help="names of stages; the others are left out")
    options = parser.parse_args()
    if not options.smoke and options.data is None:
        parser.error("give --data DIR, or --smoke")
    if options.smoke:
        todo = smoke_stages(options.work)
    else:
        todo = refresh_stages(options.data, options.work)
    if wrong := unknown_stages(options.only, todo):
        parser.error(wrong)
    if options.plan:
        for stage in todo:
            if not options.only or stage.name in options.only:
                print(f"{stage.name:<18}{stage}")
        return 0
    if options.smoke:
        write_small_data(options.work, scenes=8)
    return run_stages(todo, options.only)


if __name__ == "__main__":
    sys.exit(main())
