"""Depth codebook: VQ-VAE (AURORA, called AiT in its code), its files, and the depth tokenizer.

The input is disparity in [−1, 1], near is 1. Five convolutions of stride 2, two residual blocks and a
projection give one vector per 32 × 32 pixels, which is replaced by the nearest of 128 codes. The
decoder mirrors the encoder. A file is one ONNX graph that OpenVINO runs and torch reads, with two
independent parts: `depth` → `chosen` and `codes` → `decoded`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.depth.export import forget_machine, trace
from sightline.depth.onnx_weights import (
    WEIGHTS_KEY,
    graph_notes,
    load_onnx,
    stored_state,
    weight_map,
)
from sightline.errors import InputError
from sightline.io import png
from sightline.io.atomic import write_bytes
from sightline.io.images import read_picture
from sightline.models.download import resolve
from sightline.perception import tokens as words
from sightline.perception.tokens import CODES, GRID
from sightline.runtime.openvino import compile_network, openvino_core, read_graph
from sightline.runtime.weight_files import Store, write_graph
from sightline.types import BoolArray, DepthMap, FloatArray, Kind

#: Side of the depth map, [px].
SIDE = 320
#: Channels of the encoder's stages, and of a code.
STAGES, WIDTH = (16, 32, 64, 128, 256), 512


class Residual(nn.Module):
    """Residual block: two 3 × 3 convolutions and a 1 × 1 convolution."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, C, H, W) to (B, C, H, W)."""
        return x + self.body(x)


def make_encoder() -> nn.Sequential:
    """Build the encoder: (B, 1, 320, 320) → (B, 512, 10, 10)."""
    layers: list[nn.Module] = []
    for before, after in zip((1, *STAGES[:-1]), STAGES, strict=True):
        layers += [nn.Conv2d(before, after, 4, stride=2, padding=1), nn.ReLU()]
    top = STAGES[-1]
    return nn.Sequential(*layers, Residual(top), Residual(top), nn.Conv2d(top, WIDTH, 1))


def make_decoder() -> nn.Sequential:
    """Build the decoder: (B, 512, 10, 10) → (B, 1, 320, 320)."""
    top = STAGES[-1]
    layers: list[nn.Module] = [nn.Conv2d(WIDTH, top, 1), Residual(top), Residual(top)]
    for before, after in zip((top, *STAGES[::-1]), STAGES[::-1], strict=False):
        layers += [nn.ConvTranspose2d(before, after, 4, stride=2, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(STAGES[0], 1, 1))


class Quantizer(nn.Module):
    """Vector quantizer with exponential moving average updates (van den Oord et al. 2017, App. A.1).

    Codes are not trained by gradients: each is the moving average of the vectors assigned to it
    (decay 0.99, counts smoothed by 1e-5). Codes are initialized with vectors of the first batch,
    and unused codes are replaced by random vectors of the current batch.

    Attributes:
        codes: (128, 512) code vectors.
        count: (128,) moving average of the number of assigned vectors per batch.
        total: (128, 512) moving average of the sum of assigned vectors.
    """

    codes: Tensor
    count: Tensor
    total: Tensor

    def __init__(self, decay: float = 0.99, smoothing: float = 1e-5, alive: float = 0.05) -> None:
        super().__init__()
        self.decay, self.smoothing, self.alive = decay, smoothing, alive
        start = torch.randn(CODES, WIDTH)
        self.register_buffer("codes", start)
        self.register_buffer("count", torch.zeros(CODES))
        self.register_buffer("total", start.clone())

    def nearest(self, vectors: Tensor) -> Tensor:
        """Return the index of the nearest code: (N, 512) → (N,)."""
        # argmin |v − c|² = argmin (|c|² − 2 v·c): |v|² is the same for all codes.
        squares = self.codes.square().sum(1)
        return (squares - 2 * vectors @ self.codes.T).argmin(1)

    @torch.no_grad()
    def begin(self, vectors: Tensor) -> None:
        """Initialize all codes with vectors of the first batch; does nothing later."""
        if not bool(self.count.any()):
            self._place(vectors, torch.arange(CODES, device=vectors.device))

    @torch.no_grad()
    def learn(self, vectors: Tensor, chosen: Tensor) -> None:
        """Update the codes with a batch.

        Args:
            vectors: (N, 512) encoder outputs.
            chosen: (N,) assigned codes of `nearest`.
        """
        hits = F.one_hot(chosen, CODES).to(vectors.dtype)
        self.count.lerp_(hits.sum(0), 1 - self.decay)
        self.total.lerp_(hits.T @ vectors, 1 - self.decay)
        # Laplace smoothing: a code with few vectors is not divided by almost zero.
        everything = self.count.sum()
        smooth = (self.count + self.smoothing) / (everything + CODES * self.smoothing) * everything
        self.codes.copy_(self.total / smooth[:, None])
        dead = (self.count < self.alive).nonzero()[:, 0]
        if len(dead):
            self._place(vectors, dead)

    def _place(self, vectors: Tensor, which: Tensor) -> None:
        """Replace codes by random vectors of the batch."""
        new = vectors[torch.randint(len(vectors), (len(which),))]
        self.codes[which], self.total[which], self.count[which] = new, new, 1.0


@dataclass(frozen=True, slots=True, eq=False)
class CodebookOutput:
    """Result of a forward pass.

    Attributes:
        decoded: (B, 1, 320, 320) reconstruction.
        chosen: (B, 10, 10) codes.
        commitment: mean squared distance of the encoder's vectors to their codes.
    """

    decoded: Tensor
    chosen: Tensor
    commitment: Tensor


class DepthCodebook(nn.Module):
    """VQ-VAE of encoder, quantizer and decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = make_encoder()
        self.quantizer = Quantizer()
        self.decoder = make_decoder()

    def encode(self, depth: Tensor) -> Tensor:
        """Map (B, 1, 320, 320) in [−1, 1] to codes (B, 10, 10)."""
        vectors = self.encoder(depth).permute(0, 2, 3, 1)
        return self.quantizer.nearest(vectors.flatten(0, 2)).view(vectors.shape[:3])

    def decode(self, chosen: Tensor) -> Tensor:
        """Map codes (B, 10, 10) to (B, 1, 320, 320)."""
        out: Tensor = self.decoder(self.quantizer.codes[chosen].permute(0, 3, 1, 2))
        return out

    def decode_soft(self, shares: Tensor) -> Tensor:
        """Map code probabilities (B, 100, 128) differentiably to (B, 1, 320, 320).

        The expected code vector is decoded: the soft tokens of the paper's optional reconstruction
        loss.
        """
        mean = (shares @ self.quantizer.codes).view(-1, GRID, GRID, WIDTH)
        out: Tensor = self.decoder(mean.permute(0, 3, 1, 2))
        return out

    def forward(self, depth: Tensor) -> CodebookOutput:
        """Encode, quantize and decode with a straight-through gradient; training updates the codes."""
        vectors = self.encoder(depth).permute(0, 2, 3, 1)
        flat = vectors.flatten(0, 2)
        if self.training:
            self.quantizer.begin(flat.detach())
        chosen = self.quantizer.nearest(flat)
        if self.training:
            self.quantizer.learn(flat.detach(), chosen)
        codes = self.quantizer.codes[chosen].view_as(vectors)
        commitment = F.mse_loss(vectors, codes.detach())
        through = vectors + (codes - vectors).detach()
        decoded = self.decoder(through.permute(0, 3, 1, 2))
        return CodebookOutput(decoded, chosen.view(vectors.shape[:3]), commitment)


def to_bytes(disparity: NDArray[Any], known: BoolArray | None = None) -> NDArray[np.uint8]:
    """Convert (H, W) disparity to bytes; 0 is the farthest place or unknown.

    A constant map becomes all 0.
    """
    known = np.ones(disparity.shape, bool) if known is None else known
    known = known & np.isfinite(disparity)
    if not known.any():
        raise InputError("the depth map has no valid pixel")
    values = disparity.astype(np.float64)
    low, high = values[known].min(), values[known].max()
    if not high > low:
        return np.zeros(disparity.shape, np.uint8)
    share = np.where(known, (values - low) / (high - low), 0.0)
    return np.rint(share * 255).astype(np.uint8)


def bytes_of(depth: DepthMap) -> NDArray[np.uint8]:
    """Convert a depth map of any kind to bytes of its own size, near is bright."""
    values = depth.values if depth.kind.larger_is_nearer else 1 / np.maximum(depth.values, 1e-6)
    return to_bytes(values, depth.valid)


def map_of(depth: DepthMap) -> NDArray[np.uint8]:
    """Convert a depth map of any kind to (320, 320) bytes, near is bright."""
    return square(bytes_of(depth))


def square(
    values: NDArray[np.uint8], side: int = SIDE, *, smooth: bool = False
) -> NDArray[np.uint8]:
    """Resize (H, W) or (H, W, 3) bytes to a square, by nearest neighbor or, if `smooth`, by area."""
    how = cv2.INTER_AREA if smooth else cv2.INTER_NEAREST
    return np.asarray(cv2.resize(values, (side, side), interpolation=how), np.uint8)


def to_input(values: NDArray[np.uint8]) -> Tensor:
    """Convert bytes (N, 320, 320) or (320, 320) to network input (N, 1, 320, 320) in [−1, 1]."""
    maps = values if values.ndim == 3 else values[None]
    return torch.from_numpy(maps.astype(np.float32) / 127.5 - 1.0)[:, None]


def from_output(decoded: Tensor) -> NDArray[np.uint8]:
    """Convert network output (N, 1, 320, 320) in about [−1, 1] to bytes (N, 320, 320)."""
    values = (decoded[:, 0].detach().cpu().float().clamp(-1, 1) + 1) * 127.5
    return values.round().to(torch.uint8).numpy()


#: Input and output names of the graph.
_DEPTH, _CHOSEN, _CODES, _DECODED = "depth", "chosen", "codes", "decoded"

#: Metadata key of a codebook; its value is the layout version.
CODEBOOK_KEY = "sightline.codebook"
LAYOUT = "1"

#: Training state that is not stored; it is rebuilt from the codes.
_TRAINING = ("quantizer.count", "quantizer.total")


class _BothWays(nn.Module):
    def __init__(self, codebook: DepthCodebook) -> None:
        super().__init__()
        self.codebook = codebook

    def forward(self, depth: Tensor, codes: Tensor) -> tuple[Tensor, Tensor]:
        return self.codebook.encode(depth), self.codebook.decode(codes)


def write_codebook(codebook: DepthCodebook, path: str | Path, *, store: Store = "half") -> None:
    """Write a codebook atomically; equal codebooks give equal bytes.

    Args:
        codebook: trained codebook.
        path: `.onnx` file.
        store: storage of the kernels: full, half precision, or bytes.
    """
    examples = (torch.zeros(2, 1, SIDE, SIDE), torch.zeros(2, GRID, GRID, dtype=torch.int64))
    batch = {0: "batch"}
    model = trace(
        _BothWays(codebook),
        examples,
        {_DEPTH: batch, _CODES: batch},
        {_CHOSEN: batch, _DECODED: batch},
    )
    forget_machine(model)
    state = {name: v for name, v in codebook.state_dict().items() if name not in _TRAINING}
    notes = {CODEBOOK_KEY: LAYOUT, WEIGHTS_KEY: weight_map(model, state)}
    write_graph(model, path, notes, store)


def read_codebook(path: str | Path) -> DepthCodebook:
    """Read a codebook into torch, in eval mode.

    Raises:
        InputError: the file is of another kind or damaged.
    """
    model = load_onnx(path)
    notes = graph_notes(model)
    if notes.get(CODEBOOK_KEY) != LAYOUT or WEIGHTS_KEY not in notes:
        raise InputError("is not a depth codebook", path=path)
    codebook = DepthCodebook()
    shapes = {name: value.shape for name, value in codebook.state_dict().items()}
    state = stored_state(model, shapes, path, "a depth codebook")
    if "quantizer.codes" in state:
        state["quantizer.total"] = state["quantizer.codes"].clone()
        state["quantizer.count"] = torch.ones(len(state["quantizer.codes"]))
    missing = sorted(shapes.keys() - state.keys())
    if missing:
        raise InputError(f"a damaged codebook ({missing[0]} is missing)", path=path)
    codebook.load_state_dict(state)
    return codebook.eval()


def write_map(path: Path, decoded: FloatArray, size: tuple[int, int] | None = None) -> None:
    """Write disparity in [0, 1] as a gray PNG, resized to (width, height) if given."""
    if size is not None:
        decoded = np.asarray(cv2.resize(decoded, size, interpolation=cv2.INTER_LINEAR), np.float32)
    gray = np.rint(decoded.clip(0, 1) * 255).astype(np.uint8)
    write_bytes(path, png.encode(gray, {"Description": "relative disparity, bright is near"}))


def read_gray(path: Path) -> DepthMap:
    """Read a gray image as relative disparity."""
    pixels = read_picture(path).pixels
    values = pixels.astype(np.float32).mean(axis=2)
    return DepthMap(values, Kind.RELATIVE_DISPARITY, source=str(path))


Codes = NDArray[np.int64]


class DepthTokenizer:
    """Encode depth maps as 100 codes each and decode codes to depth maps.

    Args:
        name: registry name or path of the codebook.
        threads: CPU threads; None for one per core.
    """

    def __init__(self, name: str | Path = "codebook", threads: int | None = None) -> None:
        found = resolve(str(name), purpose="tokens")
        self.path, self.sha256 = found.path, found.sha256
        core = openvino_core()
        network = read_graph(core, found.path)
        if not network.has_rt_info(["framework", CODEBOOK_KEY]):
            raise InputError("is not a depth codebook", path=found.path)
        parts = (_way(network, _DEPTH, _CHOSEN), _way(network, _CODES, _DECODED))
        self._encoder, self._decoder = (
            compile_network(core, part, "CPU", threads, None) for part in parts
        )

    def encode(self, depth: DepthMap | NDArray[np.uint8]) -> Codes:
        """Return the (10, 10) codes of a depth map.

        Args:
            depth: depth map of any kind and size; or (H, W) uint8 from 0 (farthest) to 255 (nearest).
        """
        if isinstance(depth, DepthMap):
            values = map_of(depth)
        elif depth.ndim == 2 and depth.dtype == np.uint8:
            values = depth if depth.shape == (SIDE, SIDE) else square(depth)
        else:
            raise InputError(f"a map of bytes is (H, W) uint8, got {depth.shape} {depth.dtype}")
        shown = (values.astype(np.float32) / 127.5 - 1.0)[None, None]
        return np.asarray(self._encoder(shown)[0], np.int64).reshape(GRID, GRID)

    def decode(self, codes: Codes) -> FloatArray:
        """Return the (320, 320) disparity of (10, 10) codes, from 0 (farthest) to 1 (nearest)."""
        words.check(codes)
        decoded = self._decoder(codes[None])[0][0, 0]
        return np.clip((decoded + 1) / 2, 0, 1).astype(np.float32)

    def to_text(self, depth: DepthMap | NDArray[np.uint8]) -> str:
        """Return the 102 tokens of a depth map as text."""
        return words.to_text(self.encode(depth))

    def from_text(self, text: str) -> FloatArray:
        """Return the (320, 320) disparity of the only map in a text."""
        return self.decode(words.from_text(text))


def _way(network: Any, given: str, wanted: str) -> Any:
    """Return the part of a graph from one input to one output."""
    import openvino

    def called(ports: Any, name: str) -> Any:
        return next(port for port in ports if name in port.get_names())

    result = openvino.opset13.result(called(network.outputs, wanted).get_node().input_value(0))
    return openvino.Model([result], [called(network.inputs, given).get_node()], wanted)


def encode_depth(depth: DepthMap | NDArray[np.uint8], codebook: str | Path = "codebook") -> Codes:
    """Encode a depth map as (10, 10) codes.

    The codebook is loaded for every call; use `DepthTokenizer` to encode many maps.

    Args:
        depth: depth map of any kind and size; or (H, W) uint8 from 0 (farthest) to 255 (nearest).
        codebook: registry name or path of the codebook.

    >>> encode_depth(np.zeros((64, 64), np.uint8)).shape
    (10, 10)
    """
    return DepthTokenizer(codebook).encode(depth)


def decode_tokens(tokens: Codes | str, codebook: str | Path = "codebook") -> FloatArray:
    """Decode depth tokens to (320, 320) disparity, from 0 (farthest) to 1 (nearest).

    Args:
        tokens: (10, 10) codes, or a text that contains one depth map in tokens.
        codebook: registry name or path of the codebook.
    """
    tokenizer = DepthTokenizer(codebook)
    return tokenizer.from_text(tokens) if isinstance(tokens, str) else tokenizer.decode(tokens)


def values_at(
    decoded: FloatArray, places: Mapping[str, tuple[float, float]], side: int = 336
) -> dict[str, float]:
    """Read a square map at points given in pixels of an image resized to `side`."""
    rows, columns = decoded.shape
    return {
        letter: float(decoded[int(y * rows / side), int(x * columns / side)])
        for letter, (x, y) in places.items()
    }
