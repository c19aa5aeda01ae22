"""Tables, plots and films of the video model: `python docs/video_pictures.py --studies DIR`.

DIR holds a folder for each study that was run, `DIR/scaling` by `sightline video study scaling --out
DIR/scaling` and so on; what they scored becomes `docs/tables/video-NAME.md` and
`docs/pictures/video-NAME-*.svg`. The films are of the embedded model.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from PIL import Image

from sightline.io.atomic import write_text
from sightline.reports.figures import COLORS, standalone
from sightline.video_model.demo import SEED
from sightline.video_model.page import strips
from sightline.video_model.pipeline import load
from sightline.video_model.scoring import mean_of, score_model, spec_of, values_of
from sightline.video_model.studies.analysis import analyze_study
from sightline.video_model.studies.catalog import STUDIES
from sightline.video_model.studies.run import SCORES

DOCS = Path(__file__).parent
#: Worlds on the sheet of films, two rows each.
FILMS = ("uniform", "uniform:ood", "collision", "collision:ood", "parabola", "parabola:ood")
COUNT = 16


def untheme(svg: str) -> str:
    """Return a plot of a page as a file with the light colors."""
    for name, color in COLORS.items():
        svg = svg.replace(f"var(--{name})", color)
    return standalone(svg)


def write_study(name: str, folder: Path) -> None:
    """Write the tables and plots of a study with the cpu budget."""
    study, cost = STUDIES[name], STUDIES[name].budgets["cpu"]
    scores = {
        trial.name: json.loads((folder / trial.name / SCORES).read_text()) for trial in cost.trials
    }
    outcome = analyze_study(study, cost, scores)
    lines, number = [], 0
    for section in outcome.sections:
        if section.rows:
            ruler = ["---", *["---:"] * (len(section.header) - 1)]
            rows = [section.header, ruler, *section.rows]
            lines += [f"| {' | '.join(row)} |" for row in rows] + [""]
        for _, drawing in section.plots:
            write_text(DOCS / f"pictures/video-{name}-{number}.svg", untheme(str(drawing)))
            number += 1
    if study.reading == "scaling":  # what the table does not say already
        lines += [f"* {line}" for line in outcome.lines[len(cost.trials) :]]
    seconds = sum(score["seconds"] for score in scores.values())
    lines += ["", f"{cost.count} videos of each test; {seconds:,.0f} s of training in all."]
    write_text(DOCS / f"tables/video-{name}.md", "\n".join(lines) + "\n")


def write_films() -> None:
    """Write a sheet: of each world and range the film with the middle error, truth above."""
    model, rows = load(device="cpu"), []
    for word in FILMS:
        takes = score_model(model, spec_of(word, COUNT, model.size, SEED))
        errors = np.nan_to_num(values_of(takes), nan=np.inf)
        take = takes[int(np.argsort(errors)[int(np.isfinite(errors).sum()) // 2])]
        rows += [take.truth, take.made]
        print(f"{word}: {mean_of(takes):.3f}, shown {take.score.init}")
    sheet = Image.fromarray(strips(rows, 11))
    sheet.resize((2 * sheet.width, 2 * sheet.height), Image.Resampling.NEAREST).save(
        DOCS / "pictures/video-films.png", optimize=True
    )


def main() -> None:
    """Write everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=Path, required=True)
    chosen = parser.parse_args()
    for name in STUDIES:
        if (chosen.studies / name / "report.html").is_file():
            write_study(name, chosen.studies / name)
    write_films()


if __name__ == "__main__":
    main()
