"""The page's files: nothing from elsewhere, nothing inline, one look with the reports."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import sightline.reports
from sightline.io.color import table

PAGE = Path(sightline.reports.__file__).parents[1] / "server" / "page"
SHARED = Path(sightline.reports.__file__).parent / "templates"
SCRIPTS = sorted(PAGE.glob("*.js"))


class Seen(HTMLParser):
    """Tags with their attributes, and text inside scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inline: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside in ("script", "style") and data.strip():
            self.inline.append(data)


@pytest.fixture(scope="module")
def seen() -> Seen:
    parser = Seen()
    parser.feed((PAGE / "index.html").read_text())
    return parser


def test_nothing_is_inline(seen):
    assert seen.inline == []
    for tag, attributes in seen.tags:
        assert tag != "style"
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag


def test_every_address_is_a_file_of_ours(seen):
    addresses = [a[key] for _, a in seen.tags for key in ("src", "href") if a.get(key)]
    files = [address for address in addresses if address.startswith("page/")]
    assert {"page/look.css", "page/cloud.js", "page/main.js"} <= set(files)
    for address in files:
        name = address.removeprefix("page/")
        assert (PAGE / name).is_file() or (SHARED / name).is_file(), address
    assert set(addresses) - set(files) <= {"./", "#main"}


def test_addresses_are_relative(seen):
    """So that the page works under a path of a reverse proxy."""
    for path in PAGE.glob("*.js"):
        assert not re.search(r"[`\"']/(v1|page)/", path.read_text()), path.name
    for _, attributes in seen.tags:
        assert not any((attributes.get(key) or "").startswith("/") for key in ("src", "href"))


@pytest.mark.parametrize("name", ["look.css", "cloud.js"])
def test_the_page_has_the_look_of_the_reports(client, name):
    """What the server sends is what reports carry, byte for byte."""
    assert client.get(f"/page/{name}").content == (SHARED / name).read_bytes()


def test_no_file_names_another_site():
    for path in [*PAGE.iterdir(), SHARED / "look.css", SHARED / "cloud.js"]:
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"(https?:)?//[a-z0-9.-]+\.[a-z]{2,}/", text), path.name
        assert "@import" not in text, path.name


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_import_what_is_there_and_make_no_html(path):
    text = path.read_text()
    for name in re.findall(r'from "\./([\w.]+)"', text):
        assert (PAGE / name).is_file(), name
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in text, word


def test_every_control_has_a_name(seen):
    ids = [attributes["id"] for _, attributes in seen.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in seen.tags:
        for key in ("aria-controls", "aria-labelledby", "aria-describedby"):
            if key in attributes:
                assert attributes[key] in ids, attributes
    for tag, attributes in seen.tags:
        if tag == "img":
            assert "alt" in attributes, attributes


def test_the_legend_has_the_colors_of_the_map():
    """Near is left: the palette from its last color to its first."""
    (stops,) = re.findall(r"\.ramp \{[^}]*linear-gradient\(90deg, ([^)]*)\)", style())
    colors = [bytes.fromhex(stop.strip(" #")) for stop in stops.split(",")]
    wanted = table("spectral")[::-1]
    for place, color in enumerate(colors):
        at = round(place * 255 / (len(colors) - 1))
        assert max(abs(a - int(b)) for a, b in zip(color, wanted[at], strict=True)) <= 1


def test_colors_are_named_once():
    """The page takes its colors for ground, ink and accent from the look that reports have."""
    assert not re.findall(r"^\s*--(ground|ink|accent|sheet|line):", style(), re.MULTILINE)
    named = set(re.findall(r"var\(--([a-z0-9-]+)", style()))
    given = set(re.findall(r"--([a-z0-9-]+):", (SHARED / "look.css").read_text()))
    set_by_script = {"cut", "ratio", "from", "to", "share", "ball"}
    assert named <= given | set_by_script


def style() -> str:
    return (PAGE / "style.css").read_text()


@pytest.mark.parametrize("look", [0, 1], ids=["light", "dark"])
def test_words_can_be_read_on_what_they_stand_on(look):
    """Contrast of text is at least 4.5 to 1, as WCAG's level AA asks."""
    text = (SHARED / "look.css").read_text()
    pairs = dict(re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}, #[0-9a-f]{6})\)", text))
    tone = {name: pair.split(", ")[look] for name, pair in pairs.items()}
    for ink in ("ink", "quiet", "accent", "good", "bad"):
        for ground in ("ground", "sheet", "raised"):
            assert contrast(tone[ink], tone[ground]) >= 4.5, (ink, ground)
    assert contrast(tone["on-accent"], tone["accent"]) >= 4.5
    assert contrast(tone["edge"], tone["sheet"]) >= 3  # outlines of fields


def contrast(first: str, second: str) -> float:
    """WCAG 2.2's ratio of relative luminances."""

    def luminance(color: str) -> float:
        parts = [value / 255 for value in bytes.fromhex(color[1:])]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)
