"""Google's networks that find people, faces and irises, out of the mediapipe packages.

Only the files are taken, never the package: its runtime wants an old numpy, and OpenVINO reads the
files itself. The attention face mesh and the selfie segmentation of the same wheel are left out:
OpenVINO cannot run them. What they were trained on is Google's own and not published; the numbers of
pictures are those of the papers (BlazePose, arXiv 2006.10204; BlazeFace, 1907.05047; face mesh,
1907.06724) and of Google's announcement of the iris model (August 2020).
"""

from __future__ import annotations

from sightline.weights.entry import Entry, Purpose
from sightline.weights.sources import NpmMember, PypiMember

_BODIES = "85 k photographs of Google's own"
_FACES = "66 k photographs of Google's own"
_MESHES = "30 k photographs of Google's own"
_EYES = "50 k photographs of Google's own"


def _wheel(path: str) -> PypiMember:
    # Version 1 bundles no models, and no wheel of this one fits Python 3.13: ask for a named one.
    return PypiMember(
        "mediapipe",
        "0.10.21",
        f"mediapipe/modules/{path}",
        python="3.11",
        platform="manylinux_2_28_x86_64",
    )


def _tarball(path: str) -> NpmMember:
    return NpmMember("@mediapipe/pose", "0.5.1675469404", f"package/{path}")


def _entry(
    name: str,
    summary: str,
    source: PypiMember | NpmMember,
    size: int,
    sha256: str,
    *,
    purpose: Purpose,
    trained_on: str,
) -> Entry:
    return Entry(
        name=name,
        summary=summary,
        purpose=purpose,
        licence="Apache-2.0",
        commercial=True,
        bytes=size,
        sha256=sha256,
        trained_on=trained_on,
        source=source,
        format="tflite",
    )


MEDIAPIPE: tuple[Entry, ...] = (
    _entry(
        "pose-detection",
        "finds people in a picture",
        _wheel("pose_detection/pose_detection.tflite"),
        2_959_046,
        "9ba9dd3d42efaaba86b4ff0122b06f29c4122e756b329d89dca1e297fd8f866c",
        purpose="people",
        trained_on=_BODIES,
    ),
    _entry(
        "pose-lite",
        "33 body points, in the picture and in metres, with a mask; smallest",
        _tarball("pose_landmark_lite.tflite"),
        2_819_824,
        "f17bfbecadb61c3be1baa8b8d851cc6619c870a87167b32848ad20db306b9d61",
        purpose="people",
        trained_on=_BODIES,
    ),
    _entry(
        "pose-full",
        "33 body points, in the picture and in metres, with a mask",
        _wheel("pose_landmark/pose_landmark_full.tflite"),
        6_440_512,
        "e9a5c5cb17f736fafd4c2ec1da3b3d331d6edbe8a0d32395855aeb2cdfd64b9f",
        purpose="people",
        trained_on=_BODIES,
    ),
    _entry(
        "pose-heavy",
        "33 body points, in the picture and in metres, with a mask; best",
        _tarball("pose_landmark_heavy.tflite"),
        27_709_200,
        "59e42d71bcd44cbdbabc419f0ff76686595fd265419566bd4009ef703ea8e1fe",
        purpose="people",
        trained_on=_BODIES,
    ),
    _entry(
        "face-detection",
        "finds faces up to about 5 m away",
        _wheel("face_detection/face_detection_full_range_sparse.tflite"),
        676_746,
        "2c3728e6da56f21e21a320433396fb06d40d9088f2247c05e5635a688d45dfe1",
        purpose="faces",
        trained_on=_FACES,
    ),
    _entry(
        "face-detection-near",
        "finds faces up to about 2 m away",
        _wheel("face_detection/face_detection_short_range.tflite"),
        229_714,
        "bbff11cebd1eb27a1e004cae0b0e63ec8c551cbf34a4451148b4908b8db3eca8",
        purpose="faces",
        trained_on=_FACES,
    ),
    _entry(
        "face-landmarks",
        "468 points of a face",
        _wheel("face_landmark/face_landmark.tflite"),
        1_242_398,
        "1055cb9d4a9ca8b8c688902a3a5194311138ba256bcc94e336d8373a5f30c814",
        purpose="faces",
        trained_on=_MESHES,
    ),
    _entry(
        "iris-landmarks",
        "outline of an eye and its iris",
        _wheel("iris_landmark/iris_landmark.tflite"),
        2_640_568,
        "d1744d2a09c25f501d39eba4faff47e53ecca8852c5ce19bce8eeac39357521f",
        purpose="faces",
        trained_on=_EYES,
    ),
)
