"""What README and docs tell people to type works as it stands there."""

import re
import shlex
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sightline.cli import main
from sightline.examples import example_photograph
from sightline.models import registry

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ROOMS = sorted(
    p.name for p in (ROOT / "src" / "sightline").iterdir() if (p / "__init__.py").is_file()
)


def commands():
    """Every line that starts with `sightline` in a bash block, as words."""
    for page in PAGES:
        for block in re.findall(r"```bash\n(.*?)```", page.read_text(), re.DOTALL):
            for line in block.splitlines():
                if line.startswith("sightline "):
                    yield shlex.split(line, comments=True)[1:]


ALL = {" ".join(words): words for words in commands()}
#: Those that would need the hub, or are a pattern rather than a command.
TALK = [
    text
    for text in ALL
    if re.search(
        r"\bget\b|\bNAME\b|INPUT|\bDIR\b|\bFILE\b|depth-anything|stable-diffusion|path/to", text
    )
]
#: Those of the pages on physics and on the service, and the whole demo, have tests of their own.
ELSEWHERE = re.compile("physics|serve|demo$")
TYPED = [text for text in ALL if text not in TALK and not ELSEWHERE.match(text)]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with everything the docs speak of."""
    from sightline.io.video_writing import ColorVideoWriter

    monkeypatch.chdir(tmp_path)
    for name in ("photo.jpg", "big.jpg", "holiday/a/b.jpg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(example_photograph(), tmp_path / name)
    (tmp_path / "shots").mkdir()
    pixels = np.asarray(Image.open(example_photograph()).resize((96, 64)))
    Image.fromarray(pixels).save(tmp_path / "shots" / "one.png")
    with ColorVideoWriter(tmp_path / "clip.mp4", 96, 64, Fraction(24)) as writer:
        for shift in range(3):
            writer.write(np.ascontiguousarray(np.roll(pixels, shift, axis=1)))
    return tmp_path


def test_the_docs_have_commands():
    assert len(TYPED) >= 6
    assert TALK


@pytest.mark.parametrize("text", TYPED)
def test_command_of_the_docs_runs(text, desk, capsys):
    if text.startswith("view"):
        assert main(["depth", "photo.jpg", "--out", "results"]) == 0
    assert main(ALL[text]) == 0, capsys.readouterr().err


def test_the_five_minutes_of_the_physics_page_work(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "physics.md").read_text()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (model,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    Path("my_model.py").write_text(model)
    lines = [
        line
        for block in re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(lines) >= 5
    for line in lines:
        words = shlex.split(line, comments=True)
        assert words[0] == "sightline"
        assert main(words[1:]) == 0, (line, capsys.readouterr().err)
    assert Path("score/report.html").stat().st_size > 10_000
    assert Path("floor/scores.json").exists()


def test_models_that_the_docs_name_exist():
    for page in PAGES:
        for name in re.findall(r"depth-anything-v\d-[a-z0-9-]+", page.read_text()):
            assert registry.get(name).name == name, page


def test_snippets_are_spelled_as_the_site_wants_them():
    for page in PAGES:
        for line in page.read_text().splitlines():
            if line.lstrip().startswith("--8"):
                assert re.fullmatch(r'--8<-- "[^"]+"', line), f"{page.name}: {line}"


def test_links_between_files_hold():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_tree_in_readme_names_every_room():
    tree = (ROOT / "README.md").read_text().split("## Where everything is")[1]
    missing = [room for room in ROOMS if f"\n  {room}/" not in tree]
    assert missing == []
    for name in re.findall(r"^  (\w+(?:/|\.py)) ", tree, re.MULTILINE):
        assert (ROOT / "src" / "sightline" / name).exists(), name
