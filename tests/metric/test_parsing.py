import pytest

from sightline.errors import InputError
from sightline.metric.known_sizes import KnownDepth, parse_length, parse_pixels


@pytest.mark.parametrize(
    ("text", "meters"),
    [("0.9m", 0.9), ("90 cm", 0.9), ("900mm", 0.9), ("3ft", 0.9144), ("10in", 0.254), ("2", 2.0)],
)
def test_units(text, meters):
    assert parse_length(text).meters == pytest.approx(meters)


def test_what_photographs_may_show_is_a_length():
    assert parse_length("100km").meters == 1e5
    assert parse_length("0.1mm").meters == pytest.approx(1e-4)
    with pytest.raises(InputError, match=r"between 0.1 mm and 100 km, got 1e\+08 m"):
        parse_length("1e8m")


def test_uncertainties():
    assert parse_length("2m±4cm").relative_sigma == pytest.approx(0.02)
    assert parse_length("2m+-5%").relative_sigma == pytest.approx(0.05)
    assert parse_length("2m ± 0.1").relative_sigma == pytest.approx(0.05)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "m",
        "0m",
        "-1m",
        "1 parsec",
        "nan",
        "1m±2m",
        "1m±0%",
        "1e999m",
        "101km",
        "1e8m",
        "0.05mm",
    ],
)
def test_what_is_no_length(text):
    with pytest.raises(InputError):
        parse_length(text)


def test_places():
    assert KnownDepth.parse("320,240=3.2m").point == (320.0, 240.0)
    for text in ("320,240", "320=3m", "a,b=3m", "1,2,3=3m", "nan,1=3m"):
        with pytest.raises(InputError):
            KnownDepth.parse(text)
    with pytest.raises(InputError):
        parse_pixels("1,inf", 2)
