"""Every path of the service, on photographs that come with the package."""

from __future__ import annotations

import io
import json

import jsonschema
import numpy as np
import pytest
from PIL import Image

from sightline.io.depth_files import read_exr, read_npz, read_png16
from sightline.io.ply import read_ply
from sightline.io.pointclouds import read_glb
from sightline.models import registry
from sightline.models.download import locate
from sightline.types import Kind

READERS = {"npz": read_npz, "exr": read_exr, "png16": read_png16, "glb": read_glb, "ply": read_ply}
MEDIA = {
    "npz": "application/x-npz",
    "exr": "image/x-exr",
    "png16": "image/png",
    "glb": "model/gltf-binary",
    "ply": "model/ply",
    "color": "image/jpeg",
    "f32": "application/octet-stream",
}


def needs_people():
    names = ("pose-detection", "pose-full")
    if any(locate(registry.get(name)) is None for name in names):
        pytest.skip("needs the networks that find people: sightline models get pose-full …")


@pytest.fixture(scope="module")
def maps(server, coffee, tmp_path_factory):
    """Depth of the photograph in every format, by one background job."""
    client = server.client
    job = client.post("/v1/depth?wait=false", files={"image": coffee}, data={"sigma": "true"})
    assert job.status_code == 202
    where = job.headers["location"]
    assert where == f"/v1/jobs/{job.json()['id']}"
    lines = client.get(f"{where}/events").text
    assert '"state":"done"' in lines
    folder = tmp_path_factory.mktemp("maps")
    answers = {name: client.get(f"{where}/result?format={name}") for name in (*MEDIA, "json")}
    for name, answer in answers.items():
        assert answer.status_code == 200, answer.text
        suffix = {"png16": "png", "color": "jpg"}.get(name, name)
        (folder / f"{name}.{suffix}").write_bytes(answer.content)
    return where, answers, folder


def test_depth_of_a_photograph(client, coffee):
    answer = client.post("/v1/depth", files={"image": coffee})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    found = answer.json()
    assert (found["width"], found["height"]) == (600, 400)
    assert found["kind"] == "relative_disparity"
    assert (found["unit"], found["direction"]) == ("", "larger is nearer")
    assert found["model"].startswith("tiny@")
    assert found["minimum"] <= found["low"] < found["high"] <= found["maximum"]
    assert found["camera"]["source"] == "assumed"
    assert not found["sigma"]


def test_the_same_numbers_as_in_python(maps, coffee):
    import sightline

    expected = sightline.load("tiny", threads=1).infer(coffee, sigma=True)
    _, _, folder = maps
    found = read_npz(folder / "npz.npz")
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.sigma, expected.sigma)
    assert found.source == expected.source


def test_every_format_has_its_type_and_can_be_read(maps):
    _, answers, folder = maps
    exact = read_npz(folder / "npz.npz")
    for name, media in MEDIA.items():
        assert answers[name].headers["content-type"] == media
        assert answers[name].headers["content-disposition"].startswith("attachment; filename=")
    assert read_exr(folder / "exr.exr").kind is Kind.RELATIVE_DISPARITY
    step = np.ptp(exact.values) / 65534
    np.testing.assert_allclose(read_png16(folder / "png16.png").values, exact.values, atol=step)
    cloud, mesh = read_ply(folder / "ply.ply"), read_glb(folder / "glb.glb")
    assert len(cloud) > 100_000
    assert cloud.rgb is not None
    assert len(mesh.faces) > 100_000
    with Image.open(folder / "color.jpg") as shown:
        assert shown.size == (600, 400)


def test_raw_numbers_for_a_page(maps):
    _, answers, folder = maps
    exact = read_npz(folder / "npz.npz")
    headers = answers["f32"].headers
    assert [headers[f"x-sightline-{n}"] for n in ("width", "height", "planes")] == [
        "600",
        "400",
        "2",
    ]
    assert headers["x-sightline-kind"] == "relative_disparity"
    planes = np.frombuffer(answers["f32"].content, "<f4").reshape(2, 400, 600)
    np.testing.assert_array_equal(planes[0], exact.values)
    np.testing.assert_array_equal(planes[1], exact.sigma)


def test_a_value_at_a_pixel(maps, client):
    where, _, folder = maps
    exact = read_npz(folder / "npz.npz")
    found = client.get(f"{where}/at", params={"x": 123, "y": 45}).json()
    assert found["value"] == pytest.approx(float(exact.values[45, 123]))
    assert found["sigma"] == pytest.approx(float(exact.sigma[45, 123]))
    assert found["valid"]
    outside = client.get(f"{where}/at", params={"x": 600, "y": 45})
    assert outside.status_code == 422
    assert "outside" in outside.json()["error"]


def test_a_thinned_cloud(maps, client, tmp_path):
    where, _, _ = maps
    answer = client.get(f"{where}/result", params={"format": "ply", "points": 2000})
    (tmp_path / "few.ply").write_bytes(answer.content)
    assert 500 < len(read_ply(tmp_path / "few.ply")) <= 2000


def test_the_grid_for_the_cloud_on_the_page(maps, client):
    where, _, _ = maps
    grid = client.get(f"{where}/result?format=grid")
    assert grid.headers["content-type"] == "application/vnd.sightline.grid+json"
    assert set(grid.json()) >= {"width", "height", "values", "inverse", "focal", "center"}


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("application/x-npz", "application/x-npz"),
        ("model/gltf-binary, application/json;q=0.5", "model/gltf-binary"),
        ("image/png", "image/png"),
        ("text/html, */*;q=0.1", "application/json"),
        ("image/*", "image/jpeg"),
    ],
)
def test_accept_chooses(client, small_photo, accept, media):
    answer = client.post("/v1/depth", files={"image": small_photo}, headers={"Accept": accept})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == media


@pytest.mark.parametrize("path", ["/v1/depth", "/v1/metric", "/v1/measure", "/v1/physics/score"])
def test_what_is_not_there_is_406(client, small_photo, path):
    answer = client.post(path, files={"image": small_photo}, headers={"Accept": "text/html"})
    assert answer.status_code == 406
    assert "application/json" in answer.json()["error"]
    assert client.post(f"{path}?format=docx", files={"image": small_photo}).status_code == 406


def test_a_picture_is_no_film(client, small_photo):
    answer = client.post("/v1/depth?format=mp4", files={"image": small_photo})
    assert answer.status_code == 406


def test_field_of_view(client, small_photo):
    answer = client.post("/v1/depth", files={"image": small_photo}, data={"fov": "90"})
    assert answer.json()["camera"]["fov"] == pytest.approx(90, abs=0.01)
    assert answer.json()["camera"]["source"] == "given"
    for wrong in ("0", "180", "nan", "inf", "wide"):
        answer = client.post("/v1/depth", files={"image": small_photo}, data={"fov": wrong})
        assert answer.status_code == 422
        assert answer.json()["error"].startswith("Fov:")


def test_depth_of_a_film(client, short_film):
    answer = client.post("/v1/depth", files={"video": short_film})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["frames"], found["width"], found["height"]) == (4, 96, 96)
    colors = client.post("/v1/depth?format=mp4", files={"video": short_film})
    assert colors.headers["content-type"] == "video/mp4"
    from sightline.physics.datasets.mp4 import decode

    assert decode(colors.content).shape == (4, 96, 96, 3)
    assert client.post("/v1/depth?format=npz", files={"video": short_film}).status_code == 406
    barred = client.post("/v1/depth", files={"video": short_film}, data={"sigma": "true"})
    assert barred.status_code == 422


def test_meters_by_a_person_and_a_measurement_in_them(client, person):
    needs_people()
    job = client.post("/v1/metric?wait=false", files={"image": person}).json()
    where = f"/v1/jobs/{job['id']}"
    client.get(f"{where}/events")
    answer = client.get(f"{where}/result")
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["kind"], found["unit"]) == ("metric_depth", "m")
    assert found["sigma"]
    (somebody,) = found["people"]
    left, top, right, bottom = somebody["box"]
    assert -0.5 <= left < right <= 511.5  # sides of pixels, not their middles
    assert -0.5 <= top < bottom <= 511.5
    assert 1.3 < somebody["height_m"] < 2.1
    assert 0.3 < somebody["distance_m"] < 3
    assert somebody["text"].endswith("away")
    outline = np.array(somebody["outline"][0])
    assert outline.shape[0] > 10
    assert (outline >= 0).all()
    assert (outline < 512).all()
    assert found["evidence"][0]["name"] == "person 1"
    assert not any("--" in line for line in found["warnings"])

    fields = {"job": job["id"], "from": "150,150", "to": "300,150"}
    measured = client.post("/v1/measure", files={"nothing": ""}, data=fields)
    assert measured.status_code == 422
    measured = client.post("/v1/measure", files=form(fields)).json()
    assert measured["distance"]["value"] > 0
    assert measured["distance"]["sigma"] > 0
    assert measured["distance"]["text"].endswith(" m")
    value = client.get(f"{where}/at", params={"x": 150, "y": 150}).json()
    assert value["unit"] == "m"
    assert value["text"].endswith(" m")
    assert measured["depths"][0]["value"] == pytest.approx(value["value"], rel=0.05)
    outside = client.post("/v1/measure", files=form({**fields, "to": "512,1"}))
    assert outside.status_code == 422
    assert "outside" in outside.json()["error"]


def form(fields):
    """Fields as a multipart form without any file."""
    return [(name, (None, value)) for name, value in fields.items()]


def test_meters_by_a_known_length_as_in_python(client, coffee, tmp_path):
    import sightline

    (tmp_path / "coffee.jpg").write_bytes(coffee)
    length = "200,200,330,200=8cm"
    result = sightline.metric(tmp_path / "coffee.jpg", length=length, people=False, model="tiny")
    expected = sightline.measure(result, (200, 200), (420, 300))
    fields = {"length": length, "people": "false", "from": "200,200", "to": "420,300"}
    found = client.post("/v1/measure", files={"image": coffee}, data=fields).json()
    assert found["distance"]["value"] == pytest.approx(expected.distance.value, rel=1e-4)
    assert found["distance"]["sigma"] == pytest.approx(expected.distance.sigma, rel=1e-3)
    assert len(found["evidence"]) == 1
    assert found["from"] == [200, 200]


def test_a_later_measurement_knows_the_errors_of_the_fit(client, coffee):
    fields = {"length": "200,200,330,200=8cm", "people": "false"}
    ends = {"from": "200,200", "to": "420,300"}
    at_once = client.post("/v1/measure", files={"image": coffee}, data={**fields, **ends}).json()
    job = client.post("/v1/metric?wait=false", files={"image": coffee}, data=fields).json()["id"]
    client.get(f"/v1/jobs/{job}/events")
    later = client.post("/v1/measure", files=form({"job": job, **ends})).json()
    assert later["distance"]["value"] == pytest.approx(at_once["distance"]["value"], rel=1e-5)
    assert later["distance"]["sigma"] == pytest.approx(at_once["distance"]["sigma"], rel=1e-5)


def test_nothing_of_known_size(client, small_photo):
    answer = client.post("/v1/metric", files={"image": small_photo}, data={"people": "false"})
    assert answer.status_code == 422
    assert "nothing of known size" in answer.json()["error"].lower()
    assert "--" not in answer.json()["error"]


@pytest.mark.parametrize(
    ("world", "bucket"),
    [
        ({"scenario": "uniform", "speeds": [2.5], "radii": [1.0]}, "in"),
        ({"scenario": "parabola", "speeds": [5.5], "radii": [1.0]}, "v_out"),
        ({"scenario": "collision", "speeds": [2, 1], "radii": [1, 0.7]}, "in"),
        ({"scenario": "uniform", "speeds": [0.5], "radii": [1.8], "direction": "up"}, "rv_out"),
    ],
)
def test_a_world_obeys_its_laws(client, world, bucket):
    found = client.post("/v1/physics/world", json=world).json()
    assert found["range"]["bucket"] == bucket
    assert found["range"]["in_training_range"] == (bucket == "in")
    assert found["frames"] == 32
    balls = len(world["radii"])
    assert len(found["bodies"]) == len(found["tracks"]) == balls
    for body, track in zip(found["bodies"], found["tracks"], strict=True):
        assert body["color"].startswith("#")
        seen = np.array([state == "seen" for state in track["states"]])
        true, measured = np.array(body["positions"]), np.array(track["positions"])
        assert np.abs(true - measured)[seen].max() < 0.05
    laws = {law["name"]: law for law in found["laws"]}
    assert laws["velocity_steps"]["value"] < 0.05
    assert not laws["momentum"]["violated"] or world["scenario"] == "parabola"
    assert not found["abnormal"]["abnormal"]


def test_a_world_as_a_film(client):
    from sightline.physics.datasets.mp4 import decode

    mp4 = client.post("/v1/physics/world?format=mp4", json={"size": 64})
    assert mp4.headers["content-type"] == "video/mp4"
    assert decode(mp4.content).shape == (32, 64, 64, 3)
    with Image.open(
        io.BytesIO(client.post("/v1/physics/world?format=png", json={}).content)
    ) as one:
        assert one.size == (8 * 129 - 1, 4 * 129 - 1)
    npz = client.post("/v1/physics/world?format=npz", json={"size": 64}).content
    with np.load(io.BytesIO(npz), allow_pickle=False) as file:
        assert file["frames"].shape == (32, 64, 64, 3)


def test_worlds_that_cannot_be(client):
    for body, status in (
        ({"scenario": "collision", "speeds": [0, 0], "radii": [1, 1]}, 422),
        ({"scenario": "collision", "speeds": [1], "radii": [1]}, 422),
        ({"scenario": "parabola", "direction": "up"}, 422),
        ({"speeds": [9]}, 422),
        ({"radii": [0.01]}, 422),
        ({"size": 4000}, 422),
        ({"color": "green"}, 422),
        ([1, 2], 422),
    ):
        answer = client.post("/v1/physics/world", json=body)
        assert answer.status_code == status, body
        assert answer.json()["error"].endswith((".", "?"))
    headers = {"Content-Type": "application/json"}
    broken = client.post("/v1/physics/world", content=b'{"speeds": [1', headers=headers)
    assert broken.status_code == 400
    assert client.post("/v1/physics/world", content=b"{}").status_code == 415


def test_a_lawful_film_is_scored(client, world_film):
    found = client.post("/v1/physics/score", files={"video": world_film}).json()
    assert found["truth"] == "law"
    laws = {law["name"]: law["value"] for law in found["laws"]}
    assert laws["velocity_steps"] < 0.2
    assert not found["abnormal"]["abnormal"]
    assert len(found["bodies"]) == 1
    assert found["note"] == ""


def test_an_unlawful_film_is_scored(client):
    from sightline.physics.datasets.mp4 import encode
    from sightline.physics.rendering import render
    from sightline.physics.worlds.simulation import sample

    frames = render(sample("uniform", 1)[0], 128)
    halting = np.concatenate([frames[:10], np.repeat(frames[10:11], 22, axis=0)])
    found = client.post("/v1/physics/score", files={"video": encode(halting)}).json()
    assert found["abnormal"]["abnormal"]
    laws = {law["name"]: law for law in found["laws"]}
    assert laws["velocity_steps"]["violated"]
    blank = np.full_like(frames, 255)
    found = client.post("/v1/physics/score", files={"video": encode(blank)}).json()
    assert found["truth"] == "none"
    assert "0 bodies" in found["note"]


def test_a_film_is_held_against_the_world_it_was_made_of(client):
    world = {"scenario": "collision", "speeds": [2, 1], "radii": [1, 0.7], "seed": 5}
    mp4 = client.post("/v1/physics/world?format=mp4", json=world).content
    fields = {"scenario": "collision", "truth": "world", "seed": "5"}
    pairs = {"speeds": ["2", "1"], "radii": ["1", "0.7"]}
    found = client.post("/v1/physics/score", files={"video": mp4}, data={**fields, **pairs}).json()
    laws = {law["name"]: law["value"] for law in found["laws"]}
    assert laws["position"] < 0.1
    assert laws["velocity_before"] < 0.1
    other = {**fields, "seed": "6", **pairs}
    found = client.post("/v1/physics/score", files={"video": mp4}, data=other).json()
    assert {law["name"]: law["value"] for law in found["laws"]}["position"] > 0.2


def test_models_and_limits(client):
    found = client.get("/v1/models").json()
    assert found["defaults"]["depth"] == "tiny"
    usable = {one["name"] for one in found["models"] if one["usable"]}
    assert "tiny" in usable
    assert "small" not in usable
    assert client.get("/v1/limits").json()["max_pixels"] == 1_000_000
    assert client.get("/healthz").json()["status"] == "ok"


def test_a_model_that_this_server_does_not_run(client, small_photo):
    for name in ("small", "../../etc/passwd", "/etc/passwd", "nothing"):
        answer = client.post("/v1/depth", files={"image": small_photo}, data={"model": name})
        assert answer.status_code == 422
        assert "tiny" in answer.json()["error"]


def test_photographs_that_come_with_it(client, coffee):
    names = [one["name"] for one in client.get("/v1/examples").json()["examples"]]
    assert names == ["coffee.jpg", "astronaut.jpg"]
    assert client.get("/v1/examples/coffee.jpg").content == coffee
    assert client.get("/v1/examples/..%2F__init__.py").status_code == 404
    assert client.get("/v1/examples/LICENSE.md").status_code == 404


def test_the_page_and_nothing_beside_it(client):
    from sightline.server.routes import PAGE_FOLDER

    if (PAGE_FOLDER / "index.html").is_file():
        page = client.get("/")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "script-src 'self'" in page.headers["content-security-policy"]
    for name in (
        "../app.py",
        "..%2fapp.py",
        "%2e%2e/app.py",
        "/etc/passwd",
        "a%00b.js",
    ):
        assert client.get(f"/page/{name}").status_code in (404, 400)


def test_errors_are_sentences(client, small_photo):
    cases = [
        client.get("/nothing"),
        client.put("/v1/depth"),
        client.post("/v1/depth"),
        client.post("/v1/depth", files={"image": b""}),
        client.post("/v1/depth", files={"image": b"no picture"}),
        client.post("/v1/depth", files={"picture": small_photo}),
        client.post("/v1/depth", files={"image": small_photo, "video": small_photo}),
        client.post("/v1/depth", files={"image": small_photo}, data={"sigma": "perhaps"}),
        client.post("/v1/depth", files={"image": small_photo}, data={"color": "red"}),
        client.post("/v1/metric", files={"image": small_photo}, data={"length": "1,2,3=4m"}),
        client.post("/v1/depth?wait=soon", files={"image": small_photo}),
        client.get("/v1/jobs/nothing"),
    ]
    statuses = [404, 405, 415, 422, 422, 422, 422, 422, 422, 422, 422, 404]
    assert [case.status_code for case in cases] == statuses
    for case in cases:
        assert list(case.json()) == ["error"]
        assert not case.json()["error"][0].islower()
        assert case.json()["error"].endswith(".")
        assert "Traceback" not in case.text
        assert "/tmp" not in case.text
        assert case.headers["content-type"] == "application/json"


def test_metrics_for_prometheus(client, server, small_photo):
    assert client.post("/v1/depth", files={"image": small_photo}).status_code == 200
    text = client.get("/metrics").text
    assert 'sightline_jobs_total{end="done",kind="depth"}' in text
    assert "sightline_request_seconds_bucket" in text
    assert server.metric("worker_memory_bytes") > 50e6
    for line in text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ", "sightline_"))


def check_example(described, content):
    """Whatever is no file has an example, and that is what its schema says."""
    for media, one in content.items():
        if one.get("schema", {}).get("format") == "binary" or media == "text/html":
            continue
        shown = [case["value"] for case in one.get("examples", {}).values()] or [one["example"]]
        for example in shown:
            schema = {**one["schema"], "components": described["components"]}
            jsonschema.validate(example, schema)


def test_the_description_is_complete(client):
    described = client.get("/openapi.json").json()
    for path, methods in described["paths"].items():
        for method, one in methods.items():
            assert one["summary"], path
            assert one["responses"]["200"]["description"]
            assert "503" in one["responses"]
            for status in {"200", "202"} & set(one["responses"]):
                check_example(described, one["responses"][status]["content"])
            if method == "post":
                assert one["requestBody"]["required"]
                check_example(described, one["requestBody"]["content"])
    text = json.dumps(described)
    assert "HTTPValidationError" not in text
