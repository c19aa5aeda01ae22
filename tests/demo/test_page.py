"""The whole page of the demo: complete, offline, and in a real browser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.demo.run import NAMES, run_demo

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
_FLAGS = [
    *("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--disable-quic", "--disable-background-networking", "--disable-component-update"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The page and its parts, with the smallest depth model."""
    return run_demo(tmp_path_factory.mktemp("demo"), "tiny", lambda _: None, live="sightline serve")


@pytest.fixture(scope="module")
def text(made) -> str:
    return made[0].read_text(encoding="utf-8")


def part(made, name):
    """A part that there is something to see of; people's networks may be out of reach."""
    found = next(one for one in made[1] if one.plan.name == name)
    if name == "meters" and found.missing:
        pytest.skip(found.missing)
    assert not found.missing
    return found


def test_every_part_is_there(made, text):
    assert [one.plan.name for one in made[1]] == list(NAMES)
    for name in NAMES:
        assert text.count(f'id="{name}"') == 1
    names = re.findall(r'\bid="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert "sightline serve" in text


def test_it_needs_nothing_from_outside(made, text):
    addresses = re.findall(r'(?:src|srcset|href)="([^"]*)"', text)
    links = {word for word in addresses if not word.startswith(("data:image/", "#"))}
    assert all((made[0].parent / link).is_file() for link in links), links
    assert "http://" not in text
    assert "https://" not in text


def test_meters_name_the_person_and_a_distance(made, text):
    fields = part(made, "meters").fields
    (person,) = fields["people"]
    assert 1.3 < person.height.value < 2.1
    assert person.outline
    assert re.fullmatch(r"0\.\d+ ± 0\.\d+ m", fields["ring"])
    assert fields["ring"] in text


def test_the_answer_comes_with_its_map(made, text):
    fields = part(made, "ask").fields
    assert fields["answer"] in ("A", "B", "C")
    assert fields["decoded"].startswith("data:image/jpeg")
    assert fields["verdict"]
    assert len(fields["steps"]) > 3
    assert fields["said"].count("&lt;DEPTH_") == 0  # it is escaped by the page, once
    assert text.count("&lt;DEPTH_START&gt;") == 1
    assert (made[0].parent / "ask.png").is_file()


def test_films_are_scored_in_range_and_out_of_it(made):
    fields = part(made, "films").fields
    assert [len(world["films"]) for world in fields["worlds"]] == [2, 2, 2]
    velocity = [row for row in fields["rows"] if row[1] == "velocity"]
    assert len(velocity) == 3
    for _, _, inside, outside, _ in velocity:
        assert float(inside) < float(outside)
    for film in (film for world in fields["worlds"] for film in world["films"]):
        assert film["moving"].startswith("data:image/gif")
        assert film["strip"].startswith("<svg")


# ---------------------------------------------------------------- in a browser
sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
browsing = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, made):
    """Open the page with some settings; at the end nothing may have gone wrong in it."""
    contexts, wrong = [], []

    def open_page(width=1200, **settings):
        context = browser.new_context(viewport={"width": width, "height": 844}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.goto(Path(made[0]).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


@browsing
def test_clouds_are_drawn_and_values_read(opened):
    page = opened()
    page.wait_for_selector("#depth canvas.cloud[data-renderer]")
    page.hover("#depth .compare")
    assert "relative" in page.inner_text("#depth .value")
    before = page.eval_on_selector("#depth canvas.cloud", "canvas => canvas.toDataURL()")
    page.focus("#depth canvas.cloud")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "before => document.querySelector('#depth canvas.cloud').toDataURL() != before", arg=before
    )


@browsing
def test_everything_can_be_reached_by_keyboard(opened):
    page = opened()
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "(({ tagName, className }) => `${tagName} ${className}`)(document.activeElement)"
            )
        )
    for wanted in ("INPUT cut", "CANVAS cloud", "BUTTON reset", "BUTTON hold", "SUMMARY "):
        assert wanted in reached, reached


@browsing
@pytest.mark.parametrize("look", ["light", "dark"])
def test_a_phone_in_both_looks(opened, look):
    page = opened(390, color_scheme=look)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for closed in page.locator("details").all():
        closed.evaluate("details => { details.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    table = page.locator(".wide:has(.two-names)")
    assert table.evaluate("box => box.scrollWidth <= box.clientWidth")  # no column is cut
    ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    assert (page.evaluate(ground) < 60) == (look == "dark")


@browsing
def test_films_can_be_held_and_stand_still_where_motion_is_unwelcome(opened):
    shown = "document.querySelector('img.moving').currentSrc.slice(0, 14)"
    page = opened(reduced_motion="reduce")
    page.wait_for_function(f"{shown} === 'data:image/png'")
    page = opened(reduced_motion="no-preference")
    page.wait_for_function(f"{shown} === 'data:image/gif'")
    page.click(".hold")
    page.wait_for_function(f"{shown} === 'data:image/png'")
    page.click(".hold")
    page.wait_for_function(f"{shown} === 'data:image/gif'")
