from dataclasses import fields
from typing import get_args

import numpy as np
import pytest

from sightline.benchmarks import diode
from sightline.benchmarks.protocol import (
    MFH_PROTOCOLS,
    Align,
    Crop,
    Protocol,
    Space,
    counted,
    crop_mask,
    mfh_protocol,
)
from sightline.errors import InputError

CHOICES = {"align": Align, "space": Space, "crop": Crop}


def test_the_eigen_crop_of_nyu():
    rows, columns = np.nonzero(crop_mask("eigen", 480, 640))
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (45, 470, 41, 600)


def test_the_garg_crop_of_kitti():
    rows, columns = np.nonzero(crop_mask("garg", 375, 1242))
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (153, 370, 44, 1196)


def test_the_range_counts_true_distances():
    depth = np.array([[0.5, 1.0, 79.0, 81.0, 20.0]])
    known = np.array([[True, True, True, True, False]])
    assert counted(1 / depth, known, Protocol(far=80, near=0.6)).tolist() == [
        [False, True, True, False, False]
    ]
    assert counted(1 / depth, known, Protocol()).tolist() == [[True, True, True, True, False]]


def test_what_is_not_a_number_never_counts():
    disparity = np.array([[np.nan, np.inf, 0.0, 1.0]])
    assert counted(disparity, np.ones((1, 4), bool), Protocol()).tolist() == [
        [False, False, False, True]
    ]


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        (Protocol(), "affine-aligned in disparity by least squares (scale ≥ 0), errors in depth"),
        (Protocol(align="none", space="disparity"), "not aligned, errors in disparity"),
        (Protocol(cap=10, far=10, crop="eigen"), "cap 10 m, Eigen crop, known pixels to 10 m"),
        (diode.BENCHMARK.protocol, "cap 350 m, no crop, known pixels from 0.6 m to 350 m"),
        (Protocol(align="depth"), "in relative maps, scale and shift of disparity"),
    ],
)
def test_the_line_says_it_all(protocol, words):
    assert words in str(protocol)


def test_protocols_that_differ_have_lines_that_differ():
    changes = [{name: value} for name, kind in CHOICES.items() for value in get_args(kind)]
    changes += [{"cap": 10.0}, {"far": 10.0}, {"far": 80.0}, {"near": 0.6}, {"near": 1e-6}]
    protocols = {Protocol(**change) for change in changes}
    assert len({str(protocol) for protocol in protocols}) == len(protocols)
    assert {field.name for field in fields(Protocol)} == {name for one in changes for name in one}


def test_the_box_of_metric_from_human_on_diode():
    rows, columns = np.nonzero(crop_mask("eigen-box", 768, 1024))
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (45, 470, 41, 600)


def test_garg_within_the_benchmark_crop_of_kitti():
    rows, columns = np.nonzero(crop_mask("kb-garg", 375, 1242))
    assert (rows.min(), rows.max()) == (23 + 143, 23 + 348)
    assert (columns.min(), columns.max()) == (13 + 43, 13 + 1171)


def test_metric_from_human_aligns_nothing():
    assert {protocol.align for protocol in MFH_PROTOCOLS.values()} == {"none"}
    assert mfh_protocol("nyu").cap == 10
    with pytest.raises(InputError, match="says nothing of sintel"):
        mfh_protocol("sintel")
