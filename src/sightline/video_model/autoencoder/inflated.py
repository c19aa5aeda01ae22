"""The paper's autoencoder: one of pictures, inflated to (2+1)D, causal in time (PhyWorld, App. B).

* Kernels of the encoder's last and the decoder's first blocks reach over time; all others, the group
  norms and the attention stay within a frame. A norm over time would see later frames.
* Behind each of these blocks stands an extra causal convolution over time alone.
* Untrained, a video is coded as its frames would be one by one.

The paper starts from the autoencoder of Stable Diffusion 1.5; any `AutoencoderKL` of diffusers will do.
Its 2-D and 3-D PatchGAN critics and its pictures and videos from the web are not rebuilt here: training
is that of `training`, on worlds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from sightline.errors import InputError, install
from sightline.video_model.autoencoder.causal import (
    AlsoInTime,
    CausalConvolution,
    DoubleTime,
    HalveTime,
)
from sightline.video_model.autoencoder.codec import COLOURS
from sightline.video_model.autoencoder.normalised import NormalisedCodec
from sightline.video_model.autoencoder.options import InflatedOptions
from sightline.weights.quiet import quiet_libraries

#: What a folder must hold, as the hub lays it out.
CONFIG, WEIGHTS = "config.json", "diffusion_pytorch_model.safetensors"


class InflatedVae(NormalisedCodec):
    """An image autoencoder that codes videos.

    Its latents are the means that the encoder gives, without chance, and are scaled at first as the
    image autoencoder's settings say.

    Args:
        vae: diffusers' `AutoencoderKL`; its parts are taken over and changed.
        options: what is inflated.
    """

    kind: ClassVar[str] = "inflated"

    def __init__(self, vae: Any, options: InflatedOptions | None = None) -> None:
        self.options = options or InflatedOptions()
        # What begins with _ is diffusers' own record.
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
        """Take mean and spread of latents from the settings, as diffusers' pipelines use them."""
        mean, spread = self.config.get("latents_mean"), self.config.get("latents_std")
        scale = float(self.config.get("scaling_factor") or 1.0)
        if mean is None or spread is None:
            mean, spread = self.config.get("shift_factor") or 0.0, 1.0
        with torch.no_grad():
            self.mean.copy_(torch.as_tensor(mean, dtype=torch.float32))
            self.spread.copy_(torch.as_tensor(spread, dtype=torch.float32) / scale)

    def to_raw(self, video: Tensor) -> Tensor:
        """(N, 3, T, H, W) in [−1, 1] → (N, C, t, h, w)."""
        made = [self.quant(self.encoder(one.transpose(0, 1))) for one in video]
        return torch.stack(made)[:, :, : self.channels].transpose(1, 2)

    def from_raw(self, raw: Tensor) -> Tensor:
        """(N, C, t, h, w) → (N, 3, T, H, W)."""
        made = [self.decoder(self.post_quant(one.transpose(0, 1))) for one in raw]
        return torch.stack(made).transpose(1, 2)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that `from_dict` builds the same codec from, but for its weights."""
        return {**self.options.to_dict(), "image": self.config}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> InflatedVae:
        """Build a codec from what `to_dict` gave, its weights random."""
        options = {name: value for name, value in values.items() if name != "image"}
        with quiet_libraries():
            return cls(_autoencoder_class()(**values["image"]), InflatedOptions(**options))


def inflate(folder: str | Path, options: InflatedOptions | None = None) -> InflatedVae:
    """Read an image autoencoder and inflate it.

    Args:
        folder: with `config.json` and `diffusion_pytorch_model.safetensors`, as the hub lays out the
            `vae` folder of a pipeline.
        options: what is inflated.
    """
    return InflatedVae(load_image_vae(folder), options).eval()


def load_image_vae(folder: str | Path) -> Any:
    """Read diffusers' `AutoencoderKL` from a folder; no network is used.

    Raises:
        InputError: something is missing, of another kind, or damaged.
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
    # Else diffusers would fill them with random numbers.
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
        raise InputError("is no description of a diffusers model", path=path) from error


def _check(config: dict[str, Any], options: InflatedOptions) -> None:
    colours = (config["in_channels"], config["out_channels"])
    if colours != (COLOURS, COLOURS):
        raise InputError(
            f"an autoencoder of {colours[0]} to {colours[1]} channels, expected 3 to 3"
        )
    count = len(config["block_out_channels"])
    if options.blocks > count:
        raise InputError(f"{options.blocks} blocks to inflate of {count}")
