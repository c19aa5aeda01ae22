"""The page in a real browser, against the real server: every tab, by mouse and by keyboard."""

from __future__ import annotations

import base64
import re
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sightline.examples import example_person, example_photograph

from .conftest import Live, running, wait_for

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")

expect = sync_api.expect
PATIENCE = 120_000  # [ms] on a machine that has other things to do
expect.set_options(timeout=PATIENCE)
DESK, PHONE = (1280, 800), (390, 844)

_FLAGS = [
    *("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--disable-quic", "--disable-background-networking", "--disable-component-update"),
]
#: Refusals of the content security policy happen silently; the page is asked for them at the end.
_WATCH = """addEventListener("securitypolicyviolation", (event) => {
  (globalThis.refused ??= []).push(`${event.violatedDirective} ${event.blockedURI}`);
});"""


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(browser, live: Live, at: str = "/", size=DESK, **settings) -> Iterator[sync_api.Page]:
    """Open the page; at the end nothing may have gone wrong in it that was not announced."""
    settings = {"reduced_motion": "reduce", **settings}
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **settings)
    context.add_init_script(_WATCH)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith((live.address, "blob:", "data:"))
            else wrong.append(asked.url)
        ),
    )
    page.expected = wrong.clear  # type: ignore[attr-defined] - what a test brought about itself
    try:
        page.goto(live.address + at)
        page.wait_for_selector("html[data-ready]")
        yield page
        assert wrong == []
        assert page.evaluate("globalThis.refused ?? []") == []
    finally:
        context.close()


@pytest.fixture
def page(browser, server) -> Iterator[sync_api.Page]:
    with opened(browser, server) as page:
        yield page


def choose(page, path: Path) -> None:
    page.set_input_files("#source input[type=file]", path)


def click_at(page, panel: str, x: float, y: float) -> None:
    """Click a picture at shares of its width and height."""
    layers = page.locator(f"#panel-{panel} .layers")
    layers.wait_for()
    box = layers.bounding_box()
    layers.click(position={"x": box["width"] * x, "y": box["height"] * y})


def pixels(page, selector: str) -> np.ndarray:
    """What is on a canvas, (H, W, 4)."""
    address = page.locator(selector).evaluate("canvas => canvas.toDataURL()")
    picture = Image.open(BytesIO(base64.b64decode(address.split(",")[1])))
    return np.asarray(picture.convert("RGBA"))


def redrawn(page, selector: str, before: np.ndarray) -> None:
    """Wait until something else is on a canvas."""
    wait_for(lambda: not np.array_equal(pixels(page, selector), before))


def holding(page, address: str) -> list[sync_api.Route]:
    """Keep requests to an address from now on, until they are released."""
    held: list[sync_api.Route] = []

    def hold(route: sync_api.Route) -> None:
        held.append(route)

    page.route(address, hold)
    return held


def release(page, held: list[sync_api.Route]) -> None:
    """Let the first one through, once it is there."""
    wait_for(lambda: page.wait_for_timeout(20) or held)
    held[0].continue_()


def no_sideways_scroll(page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_depth_of_a_photograph(page, client, tmp_path):
    choose(page, example_photograph())
    page.wait_for_selector("#panel-depth canvas.cloud[data-renderer]")
    expect(page.locator("#panel-depth .notes")).to_contain_text("relative disparity")

    page.locator("#panel-depth .layers").hover(position={"x": 60, "y": 300})
    value = page.locator("#panel-depth .value")
    expect(value).to_contain_text("no unit, larger is nearer")
    click_at(page, "depth", 0.25, 0.25)
    expect(page.locator("#panel-depth .pin text")).to_have_count(1)

    # The value is the map's own at that pixel.
    number, place = value.inner_text().split(" (")[0], value.inner_text().split(" at ")[1]
    x, y = map(int, place.split(", "))
    files = {"image": example_photograph().read_bytes()}
    raw = client.post("/v1/depth", files=files, params={"format": "f32"})
    depth = np.frombuffer(raw.content, "<f4").reshape(400, 600)
    assert float(number) == pytest.approx(depth[y, x], rel=5e-3)

    # The line between photograph and depth, dragged.
    grip = page.locator("#panel-depth .grip")
    box = grip.bounding_box()
    page.mouse.move(box["x"] + 22, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] - 100, box["y"] + 50)
    page.mouse.up()
    assert int(grip.get_attribute("aria-valuenow")) < 40

    # The cloud turns under the pointer.
    before = pixels(page, "#panel-depth canvas.cloud")
    assert before[..., 3].any()
    box = page.locator("#panel-depth canvas.cloud").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 120, steps=3)
    page.mouse.up()
    redrawn(page, "#panel-depth canvas.cloud", before)

    # Every form can be saved, and they are what they say.
    formats = page.locator("#panel-depth .files button")
    names = [formats.nth(k).get_attribute("data-format") for k in range(formats.count())]
    assert names == ["npz", "png16", "exr", "color", "ply", "glb"]
    heads = {"npz": b"PK", "png16": b"\x89PNG", "exr": b"v/1\x01", "color": b"\xff\xd8"}
    for name in names:
        with page.expect_download() as saved:
            page.click(f"#panel-depth .files [data-format={name}]")
        path = tmp_path / saved.value.suggested_filename
        saved.value.save_as(path)
        assert path.name.startswith("coffee-depth")
        head = {**heads, "ply": b"ply", "glb": b"glTF"}[name]
        assert path.read_bytes().startswith(head)
    assert "values.npy" in zipfile.ZipFile(tmp_path / "coffee-depth.npz").namelist()


def test_a_button_is_seen_once_it_does_something(page):
    """However late the list of samples comes."""
    held = holding(page, "**/v1/examples")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    expect(page.locator(".sample-first")).to_be_hidden()
    release(page, held)
    page.click(".sample-first")
    expect(page.locator("#source .name")).not_to_be_empty()


def test_the_last_choice_counts(page):
    """A sample that comes later than a file that was chosen after it does not take its place."""
    expect(page.locator(".shelf img")).to_have_count(2)  # nothing else is on its way
    held = holding(page, "**/v1/examples/*")
    page.click(".sample-first")
    choose(page, example_person())
    page.wait_for_selector("#panel-depth .save:not([hidden])")
    with page.expect_response("**/v1/examples/*"):
        release(page, held)
    page.wait_for_timeout(200)
    expect(page.locator("#source .name")).to_have_text(example_person().name)


def test_an_answer_about_other_points_is_not_shown(page):
    page.click("#tab-ask")
    choose(page, example_photograph())
    click_at(page, "ask", 0.1, 0.1)
    click_at(page, "ask", 0.55, 0.82)
    held = holding(page, "**/v1/ask?*")
    page.click("#panel-ask form .primary")
    wait_for(lambda: page.wait_for_timeout(20) or held)
    page.click("#panel-ask .clear")
    with page.expect_request(lambda asked: asked.method == "DELETE"):  # nobody wants it
        release(page, held)
    expect(page.locator("#panel-ask form .primary")).to_be_enabled()
    expect(page.locator("#panel-ask .answer")).to_be_hidden()


def test_a_sample_and_error_bars(page):
    page.click("text=Try a sample photograph")
    page.wait_for_selector("#panel-depth .save:not([hidden])")
    page.check("#panel-depth .sigma")
    page.wait_for_selector("#panel-depth .save:not([hidden])")
    page.wait_for_selector("#panel-depth .stage[aria-busy=false]")
    page.locator("#panel-depth .layers").hover(position={"x": 60, "y": 300})
    expect(page.locator("#panel-depth .value")).to_contain_text("±")


def test_depth_of_a_video(page, short_film, tmp_path):
    film = tmp_path / "pan.mp4"
    film.write_bytes(short_film)
    choose(page, film)
    page.wait_for_selector("#panel-depth .save:not([hidden])")
    expect(page.locator("#panel-depth .notes")).to_contain_text("4 at")
    page.wait_for_function(
        """() => { const film = document.querySelector("#panel-depth video.over");
                   return film.readyState >= 2 && film.videoWidth === 96; }"""
    )


def test_meters_by_a_length(page):
    page.click("#tab-meters")
    choose(page, example_photograph())
    page.wait_for_selector("#panel-meters .work:not([hidden])")
    page.uncheck("#panel-meters .use-people")
    expect(page.locator("#panel-meters .hint")).to_contain_text("Nothing of known size yet")
    expect(page.locator("#panel-meters .stage")).to_have_attribute("aria-busy", "false")
    page.expected()  # nobody is in the picture: the server says so with 422
    click_at(page, "meters", 0.35, 0.2)
    click_at(page, "meters", 0.35, 0.8)
    page.fill("#panel-meters input[name=length]", "eight")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("Write the length with its unit")
    page.fill("#panel-meters input[name=length]", "8 cm")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel-meters .save:not([hidden])")
    expect(page.locator("#panel-meters .lengths")).to_contain_text("8 cm")

    # The length that was given is read again.
    click_at(page, "meters", 0.35, 0.2)
    click_at(page, "meters", 0.35, 0.8)
    found = page.locator("#panel-meters .distances b")
    expect(found).to_contain_text("±")
    value, sigma = (float(word) for word in found.inner_text().removesuffix(" m").split(" ± "))
    assert value == pytest.approx(0.08, abs=max(0.01, 2 * sigma))
    page.locator("#panel-meters .stage").focus()
    page.keyboard.press("Backspace")
    expect(page.locator("#panel-meters .distances li")).to_have_count(0)


def test_nobody_to_measure_by(page):
    page.click("#tab-meters")
    choose(page, example_photograph())
    expect(page.locator(".toast")).to_contain_text("Nothing of known size was found.")
    expect(page.locator("#panel-meters .hint")).to_contain_text("Click both ends of something")


def test_meters_by_a_person(page, client):
    if not client.get("/v1/models").json()["defaults"]["people"]:
        pytest.skip("the networks that find people are not here: sightline models get pose-full …")
    page.click("#tab-meters")
    choose(page, example_person())
    page.wait_for_selector("#panel-meters .save:not([hidden])")
    expect(page.locator("#panel-meters .persons li")).to_contain_text("m tall")
    expect(page.locator("#panel-meters .marks .person")).to_have_count(1)
    page.locator("#panel-meters .layers").hover(position={"x": 200, "y": 200})
    expect(page.locator("#panel-meters .value")).to_contain_text(" m deep")
    click_at(page, "meters", 0.4, 0.2)
    click_at(page, "meters", 0.6, 0.6)
    expect(page.locator("#panel-meters .distances b")).to_contain_text("±")


def test_a_film_runs_by_itself(browser, server):
    """From its first frame on, whenever the browser draws."""
    with opened(browser, server, "/#physics", reduced_motion="no-preference") as page:
        time = page.locator("#panel-physics .time")
        expect(time).to_have_text(re.compile(r"^(0\.[1-9]|[1-3]\.\d) s$"))
        late = "() => { globalThis.requestAnimationFrame = (act) => setTimeout(() => act(0), 20); }"
        page.evaluate(late)  # the clock of the frame that is drawn lies behind ours
        page.click("#panel-physics .play")
        page.click("#panel-physics .play")
        expect(time).to_have_text("0.0 s")


def test_canceled_and_done_again(page, long_film, tmp_path):
    film = tmp_path / "long.mp4"
    film.write_bytes(long_film)
    choose(page, film)
    page.click("#panel-depth .cancel")
    expect(page.locator("#panel-depth .job")).to_contain_text("canceled")
    expect(page.locator("#panel-depth .stage")).to_have_attribute("aria-busy", "false")
    page.click("#panel-depth .again")
    page.wait_for_selector("#panel-depth .cancel")
    page.click("#panel-depth .cancel")
    page.wait_for_selector("#panel-depth .again")


def test_asking_the_embedded_vlm(page):
    page.click("#tab-ask")
    expect(page.locator("#panel-ask .missing")).to_be_hidden()
    choose(page, example_photograph())
    click_at(page, "ask", 0.1, 0.1)  # the table behind the cup
    click_at(page, "ask", 0.55, 0.82)  # the saucer before it
    expect(page.locator("#panel-ask .letter")).to_have_count(2)
    page.click("#panel-ask form .primary")
    page.wait_for_selector("#panel-ask .answer:not([hidden])")
    expect(page.locator("#panel-ask .answer .big")).to_have_text("B")
    assert page.locator("#panel-ask .verdict").inner_text()
    decoded = page.locator("#panel-ask .decoded img")
    assert decoded.evaluate("image => image.decode().then(() => image.naturalWidth)") == 600
    expect(page.locator("#panel-ask .chain")).to_contain_text("the picture above")


def test_asking(browser, hub_folder, random_codebook, tmp_path):
    """With a tiny model that knows one thing only: to write a depth map when it is asked for one."""
    write_vlm(hub_folder, random_codebook, tmp_path / "adapter")
    words = ("--model", "tiny", "--ask-model", tmp_path / "adapter", "--codebook", random_codebook)
    with running(tmp_path, *words) as live, opened(browser, live, "/#ask") as page:
        expect(page.locator("#panel-ask .missing")).to_be_hidden()
        choose(page, example_photograph())
        click_at(page, "ask", 0.3, 0.3)
        page.click("#panel-ask form .primary")
        expect(page.locator(".toast")).to_contain_text("at least two points")
        page.expected()
        click_at(page, "ask", 0.7, 0.7)
        page.click("#panel-ask form .primary")
        page.wait_for_selector("#panel-ask .answer:not([hidden])")
        assert page.locator("#panel-ask .answer .big").inner_text() in ("A", "B", "No answer")
        assert page.locator("#panel-ask .verdict").inner_text()
        expect(page.locator("#panel-ask .chain li").first).to_contain_text("A at 1")
        assert page.locator("#panel-ask .said").text_content()

        page.click("#panel-ask .clear")
        expect(page.locator("#panel-ask .answer")).to_be_hidden()  # it was about those points
        page.click("#panel-ask .chips >> text=Depth map")
        page.click("#panel-ask form .primary")
        page.wait_for_selector("#panel-ask .decoded:not([hidden])")
        expect(page.locator("#panel-ask .answer .big")).to_have_text("Its depth map")
        decoded = page.locator("#panel-ask .decoded img")
        assert decoded.evaluate("image => image.decode().then(() => image.naturalWidth)") == 600


def write_vlm(hub: Path, codebook: Path, folder: Path) -> None:
    """Save a model of random weights whose first token, asked for a map, is the one that begins it."""
    import torch

    from sightline.perception.codebook import DepthTokenizer
    from sightline.perception.options import LoraOptions
    from sightline.perception.questions.depth import GENERATE
    from sightline.perception.questions.hardblink import squash
    from sightline.perception.vlm.generation import generate_answer
    from sightline.perception.vlm.lora import add_lora
    from sightline.perception.vlm.model import load_vlm, save_vlm

    options = LoraOptions(rank=2, alpha=2, pixels=True)
    vlm = add_lora(load_vlm(hub), options, DepthTokenizer(codebook).sha256)
    thoughts = []
    head = vlm.model.get_base_model().lm_head
    hook = head.register_forward_pre_hook(lambda _, given: thoughts.append(given[0][0, -1]))
    seen = squash(np.asarray(Image.open(example_photograph())))
    generate_answer(vlm, seen, GENERATE, most_tokens=1)
    hook.remove()
    row = list(vlm.vocabulary.all).index(vlm.vocabulary.start)
    for name, weight in vlm.model.named_parameters():
        if "lm_head" in name and "trainable_tokens" in name:
            with torch.no_grad():
                weight[row] = 5 * thoughts[0]
    assert "<DEPTH_START>" in generate_answer(vlm, seen, GENERATE, most_tokens=1)
    save_vlm(vlm, folder)


def test_a_world_with_sliders(page):
    page.click("#tab-physics")
    page.wait_for_selector("#panel-physics .law-table tbody tr")
    expect(page.locator("#panel-physics .said-so").first).to_have_text("kept")
    expect(page.locator("#panel-physics .range")).to_contain_text("Inside the training range")
    red = (pixels(page, "canvas.world")[..., :3] == (255, 0, 0)).all(-1).sum()
    page.fill("#panel-physics input.radius", "2")
    expect(page.locator("#panel-physics .range")).to_contain_text("radius is outside")
    assert (pixels(page, "canvas.world")[..., :3] == (255, 0, 0)).all(-1).sum() > 2 * red
    before = pixels(page, "canvas.world")
    page.fill("#panel-physics input.frame", "20")
    expect(page.locator("#panel-physics .time")).to_have_text("2.0 s")
    assert (pixels(page, "canvas.world") != before).any()
    page.check("#panel-physics input[value=collision]")
    expect(page.locator("#panel-physics .ball")).to_have_count(2)
    expect(page.locator("#panel-physics .law-table")).to_contain_text("penetration")


def velocity_error(page) -> float:
    """The first law of the table: how far velocities are from the truth, in units/s."""
    row = page.locator("#panel-physics .law-table tbody tr").first
    expect(row).to_contain_text("velocity")
    return float(row.locator("td").nth(1).inner_text().split()[0])


def test_the_video_model(page):
    """The embedded one goes on with a world in range and far out of it, and is scored."""
    page.click("#tab-physics")
    page.wait_for_selector("#panel-physics .law-table tbody tr")
    expect(page.locator("#panel-physics .about")).to_contain_text("The video model is video")
    page.click("#panel-physics .predict")
    expect(page.locator("#panel-physics .of")).to_have_text("of what the video model predicts")
    expect(page.locator("#panel-physics .range")).to_contain_text("Inside the training range")
    expect(page.locator("#panel-physics .past").first).to_be_attached()
    inside = velocity_error(page)
    page.fill("#panel-physics input.radius", "2.2")
    page.fill("#panel-physics input.speed", "7")
    page.click("#panel-physics .predict")
    expect(page.locator("#panel-physics .range")).to_contain_text("outside")
    assert velocity_error(page) > inside


def test_a_video_is_scored(page, world_film, tmp_path):
    good, bad = tmp_path / "good.mp4", tmp_path / "bad.mp4"
    good.write_bytes(world_film)
    bad.write_bytes(jumping())
    page.click("#tab-physics")
    page.wait_for_selector("#panel-physics .law-table tbody tr")
    page.set_input_files("#panel-physics input[type=file]", good)
    expect(page.locator("#panel-physics .of")).to_have_text("of good.mp4")
    expect(page.locator("#panel-physics tr.broken")).to_have_count(0)
    page.set_input_files("#panel-physics input[type=file]", bad)
    expect(page.locator("#panel-physics .of")).to_have_text("of bad.mp4")
    assert page.locator("#panel-physics tr.broken").count() > 0
    abnormal = page.locator("#panel-physics .abnormal")
    expect(abnormal).to_contain_text("the body jumps: its velocity changes by")
    expect(abnormal).to_contain_text("at 1.")  # seconds, not frames
    expect(page.locator("#panel-physics .flags i:not(.given)").first).to_be_attached()

    # Without a truth, laws that need one say nothing.
    rows = page.locator("#panel-physics .law-table tbody tr")
    before = rows.count()
    page.select_option("#panel-physics .truth", "none")
    expect(rows.filter(has_text="velocity error")).to_have_count(0)
    assert 0 < rows.count() < before
    page.click("text=Back to this world")
    expect(page.locator("#panel-physics .of")).to_contain_text("of this world")


def jumping() -> bytes:
    """A ball in uniform motion that jumps in the middle of its way."""
    from sightline.physics.datasets.mp4 import encode
    from sightline.physics.rendering import render
    from sightline.physics.worlds.simulation import sample

    frames = render(sample("uniform", 1)[0], 128)
    return encode(np.concatenate([frames[:16], np.roll(frames[16:], 25, axis=1)]))


def test_by_keyboard_alone(page):
    page.locator("#tab-depth").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-meters")).to_be_focused()
    expect(page.locator("#panel-meters")).to_be_visible()
    page.keyboard.press("End")
    expect(page.locator("#tab-physics")).to_be_focused()
    page.keyboard.press("Home")
    expect(page.locator("#panel-depth")).to_be_visible()
    page.wait_for_selector(".sample-first")
    for _ in range(4):  # look, choose, sample
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "sample-first":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel-depth canvas.cloud[data-renderer]")

    page.locator("#panel-depth .stage").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowUp")
    expect(page.locator("#panel-depth .value")).to_contain_text("at 297, 170")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-depth .pin")).to_have_count(1)
    page.keyboard.press("Backspace")
    expect(page.locator("#panel-depth .pin")).to_have_count(0)
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    expect(page.locator("#panel-depth .grip")).to_have_attribute("aria-valuenow", "100")
    page.keyboard.press("Tab")
    before = pixels(page, "#panel-depth canvas.cloud")
    page.keyboard.press("ArrowLeft")
    redrawn(page, "#panel-depth canvas.cloud", before)
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"  # where the focus is can be seen


def test_a_phone(browser, server):
    with opened(browser, server, size=PHONE, has_touch=True, is_mobile=True) as page:
        assert no_sideways_scroll(page)
        page.click("text=Try a sample photograph")
        page.wait_for_selector("#panel-depth .save:not([hidden])")
        assert no_sideways_scroll(page)
        for tab in ("ask", "physics"):
            page.click(f"#tab-{tab}")
            page.wait_for_timeout(200)
            assert no_sideways_scroll(page), tab
        page.check("#panel-physics input[value=collision]")
        page.wait_for_selector("#panel-physics .law-table tbody tr:has-text('penetration')")
        assert no_sideways_scroll(page)
        wide = page.locator("#panel-physics .laws-here .wide")
        assert wide.evaluate("box => box.scrollWidth <= box.clientWidth")  # no column is cut
        small = page.eval_on_selector_all(
            "[role=tab], #panel-physics button:not([hidden])",
            "all => all.filter(one => one.getBoundingClientRect().height < 34).length",
        )
        assert small == 0  # large enough for a finger


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_looks(browser, server, scheme):
    ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    with opened(browser, server, color_scheme=scheme) as page:
        assert (page.evaluate(ground) < 60) == (scheme == "dark")
        button = page.locator("button.look")
        expect(button).to_have_attribute("aria-label", "Look: as the system")
        button.click()
        assert page.evaluate(ground) > 200
        button.click()
        assert page.evaluate(ground) < 60
        page.reload()
        page.wait_for_selector("html[data-ready]")
        assert page.evaluate(ground) < 60  # it is remembered
        expect(button).to_have_attribute("aria-label", "Look: dark")


def test_mistakes_in_words(page, tmp_path):
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(example_photograph().read_bytes()[:5000])
    choose(page, broken)
    expect(page.locator(".toast")).to_be_visible()
    assert "Error" not in page.locator(".toast").inner_text()
    page.expected()
    expect(page.locator("#panel-depth .space")).to_be_hidden()  # no gray pane beside half a picture
    broken.write_bytes(b"no picture at all")
    choose(page, broken)
    expect(
        page.locator("#panel-depth .work")
    ).to_be_hidden()  # and none where there is not even that
    page.expected()
    large = tmp_path / "large.jpg"
    large.write_bytes(bytes(5_000_000))
    choose(page, large)
    expect(page.locator(".toast")).to_contain_text("takes 4 MB at most")
    page.click("[aria-label='Close the message']")
    expect(page.locator(".toast")).to_have_count(0)


def test_a_token(browser, tmp_path):
    secret = "0123456789abcdef"
    with running(tmp_path, "--model", "tiny", "--token", secret) as live:
        with opened(browser, live, f"/#token={secret}") as page:
            assert secret not in page.url
            expect(page.locator(".shelf img")).to_have_count(2)
        context = browser.new_context()
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(live.address)
        page.fill("dialog.token input", secret)
        page.keyboard.press("Enter")
        page.wait_for_selector("html[data-ready]")
        context.close()
