"""Photograph the page of `sightline serve`, every tab, and the demo, in two sizes and looks.

`make screenshots` starts a server of its own, drives Chromium, and writes
build/screenshots/page-TAB-SIZE-LOOK.png and demo-SIZE-LOOK.png; those that the docs show go to
pictures/ beside this file too.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

PICTURES = Path(__file__).parent / "pictures"
FOLDER = Path(__file__).parents[1] / "build" / "screenshots"
SHOWN = (
    *("depth-desktop-light", "meters-desktop-light", "ask-desktop-dark", "physics-desktop-dark"),
    *("depth-phone-light", "meters-phone-dark", "physics-phone-light"),
)
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
LOOKS = ("light", "dark")
PATIENCE = 180_000  # [ms]
_FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]


def main() -> None:
    """Write the pictures."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("there is no Chromium: make browser")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with serving() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        for size, (width, height) in SIZES.items():
            for look in LOOKS:
                photograph(browser, address, size, (width, height), look)
        photograph_demo(browser)
        browser.close()


def photograph_demo(browser: Browser) -> None:
    """Make the demo and photograph it whole; the docs show its part on meters."""
    words = [sys.executable, "-m", "sightline", "demo", "--out", str(FOLDER / "demo")]
    subprocess.run(words, check=True)
    for size, (width, height) in SIZES.items():
        for look in LOOKS:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if look == "dark" else "light",
                reduced_motion="reduce",
            )
            page = context.new_page()
            page.goto((FOLDER / "demo" / "index.html").as_uri())
            for cloud in page.locator("canvas.cloud").all():
                cloud.scroll_into_view_if_needed()
            page.wait_for_timeout(1500)
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=FOLDER / f"demo-{size}-{look}.png", full_page=True)
            if (size, look) == ("desktop", "dark"):
                part = page.locator("#meters")
                part.screenshot(path=PICTURES / "demo-meters.jpg", type="jpeg", quality=88)
            context.close()


@contextmanager
def serving() -> Iterator[str]:
    """Start a server with the default models, and end it."""
    words = [sys.executable, "-m", "sightline", "serve", "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if "listens on" not in line:
            sys.exit("the server did not start")
        yield line.split()[3]
    finally:
        process.terminate()
        process.wait(30)


def photograph(
    browser: Browser, address: str, size: str, viewport: tuple[int, int], look: str
) -> None:
    """Go through the tabs once."""
    context = browser.new_context(
        viewport={"width": viewport[0], "height": viewport[1]},
        color_scheme="dark" if look == "dark" else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    page.wait_for_selector(".shelf img")
    page.wait_for_timeout(300)
    keep(page, f"start-{size}-{look}")
    for tab, act in (("depth", depth), ("meters", meters), ("ask", ask), ("physics", physics)):
        page.click(f"#tab-{tab}")
        act(page)
        page.mouse.move(0, 0)
        page.wait_for_timeout(200)
        page.evaluate("scrollTo(0, 0)")
        keep(page, f"{tab}-{size}-{look}")
    page.evaluate("document.querySelector('#panel-physics .laws-here').scrollIntoView()")
    page.evaluate("scrollBy(0, -110)")  # from below the bar at the top
    keep(page, f"laws-{size}-{look}")
    context.close()


def depth(page: Page) -> None:
    """Depth of the coffee, with two values."""
    page.click(".sample-first")
    page.wait_for_selector("#panel-depth .save:not([hidden])")
    page.locator("#panel-depth canvas.cloud").scroll_into_view_if_needed()
    page.wait_for_selector("#panel-depth canvas.cloud[data-renderer]")
    click(page, "depth", 0.2, 0.25)
    click(page, "depth", 0.3, 0.72)


def meters(page: Page) -> None:
    """Meters by the person in the portrait, with a distance."""
    page.click(".samples button:nth-child(2)")
    page.wait_for_selector("#panel-meters .save:not([hidden])")
    click(page, "meters", 0.44, 0.25)
    click(page, "meters", 0.62, 0.7)
    page.wait_for_selector("#panel-meters .distances small:not(:empty)")


def ask(page: Page) -> None:
    """Which of three points is nearest, if there is a model to ask."""
    page.click(".samples button:nth-child(1)")
    page.wait_for_selector(".source .name:text-is('coffee.jpg')")
    page.wait_for_timeout(300)
    for x, y in ((0.45, 0.3), (0.85, 0.2), (0.3, 0.85)):
        click(page, "ask", x, y)
    if page.locator("#panel-ask .missing").is_hidden():
        page.click("#panel-ask form .primary")
        page.wait_for_selector("#panel-ask .answer:not([hidden])")


def physics(page: Page) -> None:
    """Play a collision out of the training range; let the video model go on, if there is one."""
    page.wait_for_selector("#panel-physics .law-table tbody tr")
    page.check("#panel-physics input[value=collision]")
    page.wait_for_selector("#panel-physics .ball:nth-child(2)")
    page.fill("#panel-physics .ball:nth-child(2) .radius", "1.8")
    page.wait_for_selector("#panel-physics .range.out")
    if page.locator("#panel-physics .predict").is_enabled():
        page.click("#panel-physics .predict")
        page.wait_for_selector("#panel-physics .self:not([hidden])")
    page.fill("#panel-physics input.frame", "11")


def click(page: Page, panel: str, x: float, y: float) -> None:
    """Click the picture of a tab at shares of its width and height."""
    layers = page.locator(f"#panel-{panel} .layers")
    box = layers.bounding_box()
    assert box is not None
    layers.click(position={"x": box["width"] * x, "y": box["height"] * y})


def keep(page: Page, name: str) -> None:
    """Write what the window shows."""
    file = f"page-{name}.png"
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(FOLDER / file, optimize=True)
    if name in SHOWN:
        shutil.copyfile(FOLDER / file, PICTURES / file)


if __name__ == "__main__":
    main()
