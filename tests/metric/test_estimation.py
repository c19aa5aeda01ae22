"""Every yardstick alone and all together, on a room whose meters are known."""

from dataclasses import replace

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.estimation import estimate
from sightline.metric.inpainting import PaintConfig
from sightline.metric.known_sizes import CameraHeight, KnownBox, KnownDepth, KnownSizes, Length
from sightline.metric.people.types import BodyMesh, Person
from sightline.types import Camera, CameraSource, DepthMap, Kind

SCALE, SHIFT = 0.4, 0.05
CAMERA = Camera.from_focal(120.0, 160, 120)
HEIGHT, TILT = 1.4, np.radians(15)
PIXELS = np.full((120, 160, 3), 128, np.uint8)


def room():
    """Meters: a floor 1.4 m below a camera that looks down by 15 degrees, and a wall 6 m away."""
    v, u = np.mgrid[:120, :160]
    rays = np.stack([(u - 79.5) / 120, (v - 59.5) / 120, np.ones_like(u, float)], axis=-1)
    return 1 / np.maximum(rays @ np.array([0, np.cos(TILT), np.sin(TILT)]) / HEIGHT, 1 / 6.0)


def board(depth, left, top, right, bottom):
    """A flat person: a rectangle of pixels at one depth, and its mesh in meters."""
    x = (np.array([left, right]) - 79.5) / 120 * depth
    y = (np.array([top, bottom]) - 59.5) / 120 * depth
    corners = np.array([[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]])
    vertices = np.column_stack([corners, np.full(4, depth)])
    mask = np.zeros((120, 160), bool)
    mask[top:bottom, left:right] = True
    nothing = np.full((33, 2), np.nan)
    return Person(
        np.array([left, top, right, bottom], float),
        mask,
        1.0,
        nothing,
        np.zeros(33),
        np.full((33, 3), np.nan),
        BodyMesh(vertices, np.array([[0, 1, 2], [0, 2, 3]], np.int32)),
    )


def standing(left, top, right, bottom):
    """A board that stands on the floor."""
    return board(float(room()[bottom, left]), left, top, right, bottom)


BOARDS = [standing(20, 30, 40, 90), standing(90, 35, 105, 70)]


class Boards:
    """Finds the boards, at their true depth or not."""

    source = "boards"

    def __init__(self, people):
        self.people = people

    def find(self, pixels, camera):
        return self.people


def scene(people=()):
    depth = room()
    for person in people:
        depth[person.mask] = person.mesh.vertices[0, 2]
    values = ((1 / depth - SHIFT) / SCALE).astype(np.float32)
    return DepthMap(values, Kind.RELATIVE_DISPARITY, source="exact"), depth


KNOWN = {
    "length": KnownSizes(lengths=(Length((50, 10), (110, 10), 3.0),)),
    "depths": KnownSizes(
        depths=(KnownDepth((80, 10), 6.0), KnownDepth((80, 110), float(room()[110, 80])))
    ),
    "box": KnownSizes(boxes=(KnownBox((60, 2, 80, 42), 2.0),)),
    "camera height": KnownSizes(camera_height=CameraHeight(HEIGHT)),
    "measured": KnownSizes(
        measured=DepthMap(
            room().astype(np.float32), Kind.METRIC_DEPTH, np.arange(160) % 7 == np.zeros((120, 1))
        )
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_each_alone_holds_the_truth_in_its_error_bars(name):
    relative, depth = scene()
    found = estimate(PIXELS, CAMERA, relative, KNOWN[name])
    off = np.abs(found.depth.values - depth) / found.depth.sigma
    assert (off < 3).mean() > 0.9
    assert all(not item.contradicts for item in found.fit.evidence)
    assert found.depth.kind is Kind.METRIC_DEPTH


def test_people_alone():
    relative, depth = scene(BOARDS)
    found = estimate(PIXELS, CAMERA, relative, KnownSizes(), finder=Boards(BOARDS))
    assert [item.name for item in found.fit.evidence] == [
        "feet of person 1",
        "feet of person 2",
    ]
    assert np.median(np.abs(found.depth.values / depth - 1)) < 0.05
    assert found.sources == {"people_found_by": "boards"}


def test_people_whose_feet_are_not_seen_count_by_their_surface():
    relative, depth = scene(BOARDS)
    cut = np.arange(120)[:, None] < 60
    hidden = [replace(person, mask=person.mask & cut) for person in BOARDS]
    found = estimate(PIXELS, CAMERA, relative, KnownSizes(), finder=Boards(hidden))
    assert [item.name for item in found.fit.evidence] == ["person 1", "person 2"]
    assert np.median(np.abs(found.depth.values / depth - 1)) < 0.05


def test_feet_are_believed_before_a_network_that_sets_people_off():
    relative, depth = scene(BOARDS)
    people = np.any([person.mask for person in BOARDS], axis=0)
    off = replace(relative, values=np.where(people, 0.9 * relative.values, relative.values))
    found = estimate(PIXELS, CAMERA, off, KnownSizes(), finder=Boards(BOARDS))
    assert np.median(np.abs(found.depth.values / depth - 1)[~people]) < 0.05


def test_all_together_are_surer_than_each_and_say_how_far_they_agree():
    relative, depth = scene(BOARDS)
    known = KnownSizes(
        KNOWN["length"].lengths, KNOWN["depths"].depths, KNOWN["box"].boxes, CameraHeight(HEIGHT)
    )
    found = estimate(PIXELS, CAMERA, relative, known, finder=Boards(BOARDS))
    alone = estimate(PIXELS, CAMERA, relative, KNOWN["length"])
    assert found.usual_sigma < alone.usual_sigma
    assert np.median(np.abs(found.depth.values / depth - 1)) < 0.02
    said = found.to_dict()
    assert len(said["evidence"]) == 7
    assert max(abs(row["residual"]) for row in said["evidence"]) < 0.05
    assert said["unit"] == "m"


def test_contradiction_is_reported():
    relative, _ = scene()
    depths = (KnownDepth((80, 10), 6.0), KnownDepth((90, 10), 12.0), KnownDepth((70, 10), 6.0))
    found = estimate(PIXELS, CAMERA, relative, KnownSizes(depths=depths))
    assert any("90,10 = 12 m contradicts the others" in line for line in found.warnings)
    with pytest.raises(InputError, match="contradict each other: their distances"):
        estimate(PIXELS, CAMERA, relative, KnownSizes(depths=depths[:2]))


def test_a_guessed_lens_is_said():
    relative, _ = scene(BOARDS)
    lens = Camera.from_focal(120.0, 160, 120, CameraSource.ASSUMED)
    found = estimate(PIXELS, lens, relative, KnownSizes(), finder=Boards(BOARDS))
    assert any("lens is a guess" in line for line in found.warnings)
    assert found.usual_sigma > 0.2


def test_a_person_on_a_poster_counts_less_and_is_said():
    relative, _ = scene()  # boards that stand nowhere: the wall goes on through them
    found = estimate(PIXELS, CAMERA, relative, KnownSizes(), finder=Boards(BOARDS[1:]))
    assert any("on a poster, or in a mirror?" in line for line in found.warnings)
    standing, _ = scene(BOARDS)
    real = estimate(PIXELS, CAMERA, standing, KnownSizes(), finder=Boards(BOARDS[1:]))
    assert not any("poster" in line for line in real.warnings)
    assert found.usual_sigma > real.usual_sigma + 0.1


def test_somebody_who_may_be_a_thing_counts_less_and_is_said():
    relative, _ = scene(BOARDS)
    sure = estimate(PIXELS, CAMERA, relative, KnownSizes(), finder=Boards(BOARDS[:1]))
    perhaps = [replace(BOARDS[0], confidence=0.6)]
    unsure = estimate(PIXELS, CAMERA, relative, KnownSizes(), finder=Boards(perhaps))
    assert any("may not be a person (40%)" in line for line in unsure.warnings)
    assert unsure.usual_sigma > sure.usual_sigma


def test_nothing_of_known_size():
    relative, _ = scene()
    with pytest.raises(InputError, match="no meters"):
        estimate(PIXELS, CAMERA, relative, KnownSizes())
    with pytest.raises(InputError, match="no meters"):
        estimate(PIXELS, CAMERA, relative, KnownSizes(), finder=Boards([]))


class Painter:
    """Stands boards of true size where the strip is."""

    source = "carpenter"

    def paint(self, pixels, masks, prompts, seeds):
        painted = []
        for mask, seed in zip(masks, seeds, strict=True):
            columns = np.flatnonzero(mask[0])
            image = pixels.copy()
            image[0, 0] = columns[0], columns[-1], 65 + seed % 50  # a note to those who look at it
            painted.append(image)
        return painted


class PaintedBoards:
    """Finds what `Painter` painted."""

    source = "carpenter's friend"

    @staticmethod
    def of(pixels):
        left, right, bottom = (int(v) for v in pixels[0, 0])
        if bottom == 128:
            return []
        middle = (left + right) // 2
        half = max(2, min((right - left) // 2, 8))
        return [standing(middle - half, max(2, bottom - 50), middle + half, bottom)]

    def find(self, pixels, camera):
        return self.of(pixels)


def test_painted_people():
    relative, depth = scene()

    def infer(pixels):
        return scene(PaintedBoards.of(pixels))[0]

    found = estimate(
        PIXELS,
        CAMERA,
        relative,
        KnownSizes(),
        finder=PaintedBoards(),
        painter=Painter(),
        infer=infer,
        paint=PaintConfig(wanted=8, batch=4),
    )
    assert len(found.fit.evidence) == 8
    assert found.sources["people_painted_by"] == "carpenter"
    assert np.median(np.abs(found.depth.values / depth - 1)) < 0.02
    with pytest.raises(InputError, match="have to be found"):
        estimate(PIXELS, CAMERA, relative, KnownSizes(), painter=Painter())


@pytest.mark.parametrize(
    ("known", "says"),
    [
        (
            KnownSizes(lengths=(Length((1.0, 1.0), (999.0, 1.0), 1.0),)),
            "999,1 is outside the picture",
        ),
        (KnownSizes(lengths=(Length((1.0, 1.0), (2.0, 1.0), 1.0),)), "1.0 pixels apart"),
        (KnownSizes(depths=(KnownDepth((1.0, -7.0), 1.0),)), "1,-7 is outside the picture"),
        (KnownSizes(boxes=(KnownBox((50.0, 10.0, 20.0, 60.0), 1.0),)), "a box needs left < right"),
        (KnownSizes(boxes=(KnownBox((5.0, 10.0, 20.0, 600.0), 1.0),)), "20,600 is outside"),
    ],
)
def test_mistakes_are_told_before_depth_is_estimated(known, says):
    from sightline.io.images import Picture
    from sightline.metric.options import MetricConfig
    from sightline.metric.work import Tools, meters_of

    class Idle:
        """A depth model that must not be asked."""

        def infer(self, *_args, **_settings):
            pytest.fail("the mistake should have been told first")

    noise = np.random.default_rng(0).integers(0, 255, (120, 160, 3)).astype(np.uint8)
    picture = Picture(noise, CAMERA)
    with pytest.raises(InputError, match=says):
        meters_of(picture, known, Tools(Idle()), MetricConfig(people=False))
