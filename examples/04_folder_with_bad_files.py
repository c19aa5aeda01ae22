"""Process a folder in which not every file is an image: continue and report.

python examples/04_folder_with_bad_files.py [FOLDER]
"""

import shutil
import sys
from pathlib import Path

import sightline as sl
from sightline.examples import example_photograph

if len(sys.argv) > 1:
    folder = Path(sys.argv[1])
else:
    folder = Path("mixed")
    folder.mkdir(exist_ok=True)
    shutil.copy(example_photograph(), folder / "good.jpg")
    (folder / "broken.jpg").write_bytes(example_photograph().read_bytes()[:5000])

estimator = sl.load("small")
for path in sorted(folder.iterdir()):
    try:
        depth = estimator.infer(path)
    except sl.InputError as error:
        print(f"skipped: {error}")
        continue
    depth.save(Path("results") / f"{path.stem}.npz")
    print(f"done: {path.name}, nearest at {depth.values.argmax() % depth.width} px from the left")
