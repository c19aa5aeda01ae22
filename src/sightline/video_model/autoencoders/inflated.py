"""Inflated image autoencoder: the `AutoencoderKL` of diffusers with causal convolutions over time.

As in the paper (App. B), kernels over time are added to the last encoder and first decoder blocks of an
image autoencoder, causally padded: the first frame is repeated before the start, so an image is a still
video. The layers take the frames of one video as the batch, (T, C, H, W), so that they fit between the
image layers, which work frame by frame. At initialization the codec equals the image autoencoder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.errors import InputError, install
from sightline.models.hub import quiet_libraries
from sightline.video_model.autoencoders.codec import COLORS, NormalizedCodec
from sightline.video_model.autoencoders.options import InflatedOptions

#: Length of a temporal kernel: the current frame and those before it.
SPAN = 3


class CausalConvolution(nn.Module):
    """Image convolution inflated to time; initialized to the image convolution.

    Args:
        flat: convolution whose kernel becomes the last temporal slice, that of the current frame.
    """

    def __init__(self, flat: nn.Conv2d) -> None:
        super().__init__()
        assert isinstance(flat.padding, tuple)
        rows, columns = flat.kernel_size
        self.inner = nn.Conv3d(
            flat.in_channels,
            flat.out_channels,
            (SPAN, rows, columns),
            (1, flat.stride[0], flat.stride[1]),
            (0, flat.padding[0], flat.padding[1]),
            (1, flat.dilation[0], flat.dilation[1]),
            flat.groups,
            flat.bias is not None,
            device=flat.weight.device,
            dtype=flat.weight.dtype,
        )
        with torch.no_grad():
            self.inner.weight.zero_()
            self.inner.weight[:, :, -1] = flat.weight
            if self.inner.bias is not None and flat.bias is not None:
                self.inner.bias.copy_(flat.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map (T, C, H, W) to (T, C', H', W')."""
        return _over_time(self.inner, x)


class TemporalResidual(nn.Module):
    """Residual convolution over time, initialized to zero."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.inner = nn.Conv3d(channels, channels, (SPAN, 1, 1))
        nn.init.zeros_(self.inner.weight)
        assert self.inner.bias is not None
        nn.init.zeros_(self.inner.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map (T, C, H, W) to (T, C, H, W)."""
        return x + _over_time(self.inner, F.silu(x))


class HalveTime(nn.Module):
    """Reduce 1 + 2 k frames to 1 + k; initialized to take every second frame, from the first."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.inner = nn.Conv3d(channels, channels, (SPAN, 1, 1), (2, 1, 1))
        assert self.inner.bias is not None
        nn.init.zeros_(self.inner.bias)
        with torch.no_grad():
            self.inner.weight.zero_()
            self.inner.weight[:, :, -1, 0, 0] = torch.eye(channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (1 + 2 k, C, H, W) to (1 + k, C, H, W)."""
        return _over_time(self.inner, x)


class DoubleTime(nn.Module):
    """Expand 1 + k frames to 1 + 2 k: the first once, all others twice."""

    def forward(self, x: Tensor) -> Tensor:
        """Map (1 + k, C, H, W) to (1 + 2 k, C, H, W)."""
        return x.repeat_interleave(2, dim=0)[1:]


class AlsoInTime(nn.Module):
    """Image block with inflated kernels, followed by a temporal residual.

    Args:
        block: image block; its convolutions larger than 1 × 1 are replaced.
        channels: output channels.
    """

    def __init__(self, block: nn.Module, channels: int) -> None:
        super().__init__()
        inflate_convolutions(block)
        self.block = block
        self.after = TemporalResidual(channels)

    def forward(self, x: Tensor, *rest: Tensor | None) -> Tensor:
        """Map (T, C, H, W) to (T, C', H', W')."""
        made: Tensor = self.after(self.block(x, *rest))
        return made


def inflate_convolutions(module: nn.Module) -> None:
    """Replace all convolutions of a module by causal ones, except those of kernel size 1."""
    for name, child in module.named_children():
        if not isinstance(child, nn.Conv2d):
            inflate_convolutions(child)
        elif max(child.kernel_size) > 1:
            setattr(module, name, CausalConvolution(child))


def _over_time(convolution: nn.Conv3d, x: Tensor) -> Tensor:
    before = x[:1].expand(SPAN - 1, -1, -1, -1)
    video = torch.cat([before, x]).transpose(0, 1)
    made: Tensor = convolution(video[None])[0]
    return made.transpose(0, 1)


#: Required files of a folder, as laid out by diffusers.
CONFIG, WEIGHTS = "config.json", "diffusion_pytorch_model.safetensors"


class InflatedVae(NormalizedCodec):
    """Image autoencoder inflated to videos.

    Latents are the means of the encoder's distribution, scaled initially by the settings of the image
    autoencoder.

    Args:
        vae: `AutoencoderKL` of diffusers; its parts are taken over and modified.
        options: inflation options.
    """

    kind: ClassVar[str] = "inflated"

    def __init__(self, vae: Any, options: InflatedOptions | None = None) -> None:
        self.options = options or InflatedOptions()
        # Names that begin with _ are internal to diffusers.
        self.config = {name: v for name, v in vae.config.items() if not name.startswith("_")}
        widths = list(self.config["block_out_channels"])
        _check(self.config, self.options)
        super().__init__(
            int(self.config["latent_channels"]), 2 ** (len(widths) - 1), self.options.frame_stride
        )
        self.encoder, self.quant = vae.encoder, vae.quant_conv or nn.Identity()
        self.decoder, self.post_quant = vae.decoder, vae.post_quant_conv or nn.Identity()
        self._inflate(widths)
        self._take_scale()

    def _inflate(self, widths: list[int]) -> None:
        encoder, decoder, blocks = self.encoder, self.decoder, self.options.blocks
        for place in range(len(widths) - blocks, len(widths)):
            encoder.down_blocks[place] = AlsoInTime(encoder.down_blocks[place], widths[place])
        for place in range(blocks):
            decoder.up_blocks[place] = AlsoInTime(decoder.up_blocks[place], widths[-1 - place])
        encoder.mid_block = AlsoInTime(encoder.mid_block, widths[-1])
        decoder.mid_block = AlsoInTime(decoder.mid_block, widths[-1])
        encoder.conv_out = CausalConvolution(encoder.conv_out)
        decoder.conv_in = CausalConvolution(decoder.conv_in)
        if self.frame_stride == 2:
            encoder.mid_block = nn.Sequential(encoder.mid_block, HalveTime(widths[-1]))
            decoder.conv_in = nn.Sequential(decoder.conv_in, DoubleTime())

    def _take_scale(self) -> None:
        """Take mean and standard deviation of latents from the settings, as diffusers pipelines do."""
        mean, spread = self.config.get("latents_mean"), self.config.get("latents_std")
        scale = float(self.config.get("scaling_factor") or 1.0)
        if mean is None or spread is None:
            mean, spread = self.config.get("shift_factor") or 0.0, 1.0
        with torch.no_grad():
            self.mean.copy_(torch.as_tensor(mean, dtype=torch.float32))
            self.spread.copy_(torch.as_tensor(spread, dtype=torch.float32) / scale)

    def to_raw(self, video: Tensor) -> Tensor:
        """Map (N, 3, T, H, W) in [−1, 1] to (N, C, t, h, w)."""
        made = [self.quant(self.encoder(one.transpose(0, 1))) for one in video]
        return torch.stack(made)[:, :, : self.channels].transpose(1, 2)

    def from_raw(self, raw: Tensor) -> Tensor:
        """Map (N, C, t, h, w) to (N, 3, T, H, W)."""
        made = [self.decoder(self.post_quant(one.transpose(0, 1))) for one in raw]
        return torch.stack(made).transpose(1, 2)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values, without weights; read by `from_dict`."""
        return {**self.options.to_dict(), "image": self.config}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> InflatedVae:
        """Build a codec with random weights from the result of `to_dict`."""
        options = {name: value for name, value in values.items() if name != "image"}
        with quiet_libraries():
            return cls(_autoencoder_class()(**values["image"]), InflatedOptions(**options))


def inflate(folder: str | Path, options: InflatedOptions | None = None) -> InflatedVae:
    """Read an image autoencoder and inflate it.

    Args:
        folder: folder with `config.json` and `diffusion_pytorch_model.safetensors`, such as the `vae`
            folder of a diffusers pipeline.
        options: inflation options.
    """
    return InflatedVae(load_image_vae(folder), options).eval()


def load_image_vae(folder: str | Path) -> Any:
    """Read the `AutoencoderKL` of a local folder.

    Raises:
        InputError: a file is missing, of another kind, or damaged.
    """
    folder = Path(folder)
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            inside = folder / "vae"
            raise InputError(
                f"holds no {name}",
                path=folder,
                remedy=f"give {inside}" if inside.is_dir() else "give the vae folder of a pipeline",
            )
    kind = _class_name(folder / CONFIG)
    if kind != "AutoencoderKL":
        raise InputError(
            f"describes {kind}, not AutoencoderKL",
            path=folder / CONFIG,
            remedy="give the vae folder of a Stable Diffusion pipeline",
        )
    try:
        with quiet_libraries():
            vae, notes = _autoencoder_class().from_pretrained(
                str(folder),
                local_files_only=True,
                use_safetensors=True,
                torch_dtype=torch.float32,
                low_cpu_mem_usage=False,
                output_loading_info=True,
            )
    except (
        Exception
    ) as error:  # settings and weights of others make diffusers stumble over anything
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
        raise InputError(f"cannot be read ({reason})", path=folder) from error
    # diffusers would fill missing weights with random numbers.
    missing = sorted(notes["missing_keys"])
    if missing:
        raise InputError(
            f"lacks {len(missing)} weights, such as {missing[0]}", path=folder / WEIGHTS
        )
    return vae


def _autoencoder_class() -> Any:
    try:
        with quiet_libraries():
            from diffusers import AutoencoderKL
    except ImportError as error:
        raise InputError(
            "inflating an image autoencoder needs diffusers",
            remedy=install("paint"),
        ) from error
    return AutoencoderKL


def _class_name(path: Path) -> str:
    try:
        return str(json.loads(path.read_text())["_class_name"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InputError("is not the configuration of a diffusers model", path=path) from error


def _check(config: dict[str, Any], options: InflatedOptions) -> None:
    colors = (config["in_channels"], config["out_channels"])
    if colors != (COLORS, COLORS):
        raise InputError(f"an autoencoder of {colors[0]} to {colors[1]} channels, expected 3 to 3")
    count = len(config["block_out_channels"])
    if options.blocks > count:
        raise InputError(f"{options.blocks} blocks to inflate of {count}")
