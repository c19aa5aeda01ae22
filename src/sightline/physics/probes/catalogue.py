"""The probes by name: PhyWorld, section 5, with the bands and splits of the released scripts."""

from __future__ import annotations

from difflib import get_close_matches

from sightline.errors import InputError
from sightline.physics.probes.conflicts import CONFLICTS
from sightline.physics.probes.parts import (
    PIXEL,
    SPEEDS,
    Cell,
    Cells,
    Gates,
    Plane,
    Probe,
    Reading,
    Rectangle,
    Scenes,
)
from sightline.physics.worlds.ranges import Interval

_LOW, _HIGH = SPEEDS[0]

_SPEED_CURVE = Reading(
    "generated speed against true speed, with the trained bands shaded",
    ("velocity_paper", "signed_speed", "slope"),
    "across a wide gap the speed snaps to the nearest trained band; across a narrow one, or with "
    "islands in it, it is interpolated",
)
_SPEED_PLANE = Reading(
    "velocity error after the collision over the plane of both speeds, with the trained set shaded",
    ("velocity_paper",),
    "small inside the convex hull of what was trained, large outside",
)
_SIGNED_SPEED = Reading(
    "signed generated speed against true speed",
    ("signed_speed", "turned_round"),
    "slow balls are sped up into the trained range; trained with flips, some turn round",
)


def _bands(bands: tuple[Interval, ...]) -> Cells:
    """Cells of speed bands, each with its width as its share, so that the density is even."""
    return Cells(tuple(Cell(speed=band, share=band[1] - band[0]) for band in bands))


def _between(bands: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """Return what lies between bands, from the least speed to the greatest."""
    edges = [_LOW, *(edge for band in bands for edge in band), _HIGH]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return tuple((low, high) for low, high in pairs if high > low)


def _velocity_gap(low: float, high: float) -> Probe:
    return Probe(
        f"velocity-gap-{low:g}-{high:g}",
        "velocity-gap",
        f"Does a model that never saw speeds from {low:g} to {high:g} interpolate between the others?",
        train=_bands(_between(((low, high),))),
        test=_bands(((low, high),)),
        reading=_SPEED_CURVE,
        train_count=200_000,
        test_count=121 * 36,
    )


def _velocity_islands(bands: tuple[Interval, ...]) -> Probe:
    return Probe(
        f"velocity-islands-{len(bands)}",
        "velocity-gap",
        f"Are {len(bands)} narrow bands of speed enough to fill in all the speeds between them?",
        train=_bands(bands),
        test=_bands(_between(bands)),
        reading=_SPEED_CURVE,
        train_count=200_000,
        test_count=121 * 36,
    )


def _collision_gap(name: str, holes: tuple[Rectangle, ...]) -> Probe:
    return Probe(
        f"collision-gap-{name}",
        "collision-gap",
        "Does a model predict collisions at pairs of speeds that were cut out of its training set?",
        train=Plane(outside=holes),
        test=Plane(inside=holes),
        reading=_SPEED_PLANE,
        train_count=1_400_000,
        test_count=6_800,
    )


def _memorisation(flip: bool) -> Probe:
    return Probe(
        "memorisation-flip" if flip else "memorisation",
        "memorisation",
        "Trained on fast balls only"
        + (", mirror images included" if flip else "")
        + ", does a model continue a slow ball, or recall the nearest case it has seen?",
        train=Cells((Cell(speed=(2.5, 4.0)),), flip=flip),
        test=Cells((Cell(speed=(1.0, 2.5)),)),
        reading=_SIGNED_SPEED,
        train_count=300_000,
        test_count=1_400,
    )


def _temporal(name: str, question: str, bounce: str, test: str) -> Probe:
    return Probe(
        name,
        "composition",
        question,
        train=Scenes("temporal", ("collide", bounce)),
        test=Scenes("temporal", (test,)),
        reading=Reading(
            "share of videos in which the collision and then the bounce come out right",
            ("collision_right", "bounce_right", "all_right"),
            "works, unless the ball that has to bounce never bounced in training",
        ),
        train_count=237_300,
        test_count=54,
    )


_L_SHAPE: tuple[Rectangle, ...] = (((1.0, 1.25), (1.0, 4.0)), ((1.0, 4.0), (1.0, 1.25)))

_PROBES: tuple[Probe, ...] = (
    *(_velocity_gap(*band) for band in ((1.25, 3.75), (1.5, 3.5), (1.75, 3.25), (2.0, 3.0))),
    _velocity_islands(((1.0, 1.25), (2.375, 2.625), (3.75, 4.0))),
    _velocity_islands(((1.0, 1.25), (1.875, 2.125), (2.875, 3.125), (3.75, 4.0))),
    _collision_gap("square", (((2.0, 3.0), (2.0, 3.0)),)),
    _collision_gap(
        "rectangles",
        (
            ((1.2, 2.2), (2.7, 3.7)),
            ((2.7, 3.7), (1.2, 2.2)),
            ((2.9, 3.5), (3.3, 3.9)),
        ),
    ),
    Probe(
        "collision-hull",
        "collision-gap",
        "Trained where at least one ball is slow, is a model right only in the convex hull of that?",
        train=Plane(inside=_L_SHAPE),
        test=Plane(inside=(((1.25, 4.0), (1.25, 4.0)),)),
        reading=_SPEED_PLANE,
        train_count=306_900,
        test_count=6_800,
    ),
    _memorisation(flip=False),
    _memorisation(flip=True),
    *CONFLICTS,
    Probe(
        "spatial-composition",
        "composition",
        "Having seen a square move beside a still ball and a ball bounce beside a still square, does a "
        "model move both?",
        train=Scenes("spatial", ("square-moves", "ball-bounces")),
        test=Scenes("spatial", ("both",)),
        reading=Reading(
            "velocity error of each body, moving together against moving alone (score the training "
            "part for that)",
            ("ball_error_together", "square_error_together"),
            "works: what happens in two places at once is put together from its pieces",
        ),
        train_count=200_000,
        test_count=1_000,
    ),
    _temporal(
        "temporal-composition",
        "Having seen balls collide and balls bounce off a wall, does a model do one after the other?",
        "bounce",
        "collide-bounce",
    ),
    _temporal(
        "temporal-composition-unbounced",
        "The same when only the blue ball ever bounced in training: does the red one bounce?",
        "bounce-blue",
        "collide-bounce-red",
    ),
    Probe(
        "visual-ambiguity",
        "ambiguity",
        "When less than half a pixel decides whether a ball passes a gate, can the outcome be told?",
        train=Gates((1.0 * PIXEL, 4.0 * PIXEL)),
        test=Gates((0.05 * PIXEL, 0.45 * PIXEL)),
        reading=Reading(
            "share of right outcomes (passes, turns back) against the margin in pixels; twins apart",
            ("right_outcome", "twins_apart"),
            "what pixels cannot resolve, a model cannot decide",
        ),
        train_count=200_000,
        test_count=1_000,
    ),
)

#: All probes by name.
PROBES: dict[str, Probe] = {probe.name: probe for probe in _PROBES}


def probe_of(name: str) -> Probe:
    """Return a probe by its name."""
    if name not in PROBES:
        near = get_close_matches(name, PROBES)
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        raise InputError(
            f"no probe is called {name!r}", remedy=f"{meant}sightline physics probes lists them all"
        )
    return PROBES[name]
