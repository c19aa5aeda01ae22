"""Paint with any inpainting pipeline of diffusers: a hub id, or a local folder laid out as on the hub.

Default is Stable Diffusion 2 inpainting, the paper's, under the name it has had since the original was
taken down in 2025; SDXL inpainting works alike. Nothing is downloaded by itself: `load_painter` says
what to fetch. torch and diffusers come with the extra `paint`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError, install
from sightline.metric.painters.strips import SHORT_SIDE, working_size
from sightline.types import BoolArray
from sightline.weights.quiet import quiet_libraries

#: The paper's painter, and one that its Table 6 compares.
DEFAULT = "sd2-community/stable-diffusion-2-inpainting"
SDXL = "diffusers/stable-diffusion-xl-1.0-inpainting-0.1"

#: Weight of the prompt (classifier-free guidance), as in the authors' code.
GUIDANCE = 20.0

#: Paintings at once: the paper's on a graphics card; to a processor it is no help, and costs memory.
BATCH, BATCH_ON_PROCESSOR = 8, 1

#: What to do where there is no painter.
FOLDER = "give a folder with the model_index.json of an inpainting pipeline, or its name on the hub"
OTHERWISE = (
    "or measure without painting, by people in the picture or by --length, --depth-at, "
    "--camera-height, --box, --iris or --measured"
)

#: What a name on the hub looks like: `owner/model`, or `model` alone.
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")


class DiffusionPainter:
    """An inpainting pipeline.

    Args:
        pipeline: of diffusers, with the call of its inpainting pipelines.
        source: its name, for the record.
        guidance: weight of the prompt.
        steps: of denoising; None for the pipeline's own.
        short_side: of what the painter sees, in [px].
        batch: how many paintings are best asked for at once.
    """

    def __init__(
        self,
        pipeline: Any,
        source: str,
        *,
        guidance: float = GUIDANCE,
        steps: int | None = None,
        short_side: int = SHORT_SIDE,
        batch: int = BATCH,
    ) -> None:
        self.source = source
        self.batch = batch
        self._pipeline = pipeline
        self._guidance = guidance
        self._steps = steps
        self._short_side = short_side

    def paint(
        self,
        pixels: NDArray[np.uint8],
        masks: Sequence[BoolArray],
        prompts: Sequence[str],
        seeds: Sequence[int],
    ) -> list[NDArray[np.uint8]]:
        """Paint all at once; see `Painter`."""
        import torch
        from PIL import Image

        if not len(masks) == len(prompts) == len(seeds):
            raise InputError(f"{len(masks)} masks, {len(prompts)} prompts, {len(seeds)} seeds")
        height, width = pixels.shape[:2]
        tall, wide = working_size(height, width, self._short_side)
        shrinks = cv2.INTER_AREA if tall < height else cv2.INTER_CUBIC
        picture = Image.fromarray(cv2.resize(pixels, (wide, tall), interpolation=shrinks))
        stencils = [
            Image.fromarray(
                cv2.resize(
                    mask.astype(np.uint8) * 255, (wide, tall), interpolation=cv2.INTER_NEAREST
                )
            )
            for mask in masks
        ]
        extra = {} if self._steps is None else {"num_inference_steps": self._steps}
        with quiet_libraries():
            result = self._pipeline(
                prompt=list(prompts),
                image=[picture] * len(masks),
                mask_image=stencils,
                height=tall,
                width=wide,
                guidance_scale=self._guidance,
                generator=[torch.Generator("cpu").manual_seed(int(seed)) for seed in seeds],
                **extra,
            )
        return [_back(np.asarray(image.convert("RGB")), height, width) for image in result.images]


def _back(painted: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    return np.asarray(
        cv2.resize(painted, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8
    )


def load_painter(
    name: str = DEFAULT,
    *,
    device: str | None = None,
    guidance: float = GUIDANCE,
    steps: int | None = None,
    short_side: int = SHORT_SIDE,
) -> DiffusionPainter:
    """Load a painter that is on this machine: a folder, or a hub id in the hub's cache.

    Args:
        name: of the hub, or a folder laid out as there.
        device: cpu, cuda or mps; default: the best one here.
        guidance: weight of the prompt.
        steps: of denoising; None for the pipeline's own.
        short_side: of what the painter sees, in [px].
    """
    if not (Path(name).is_dir() or _HUB_ID.fullmatch(name)):
        raise InputError("is no folder", path=name, remedy=f"{FOLDER}; {OTHERWISE}")
    try:
        import diffusers
        import torch
        import transformers  # noqa: F401 - only what is imported can be quietened
    except ImportError as error:
        raise InputError(
            "painting people needs diffusers and torch", remedy=install("paint")
        ) from error
    from sightline.depth.engines.torch import pick_device

    place = pick_device(device)
    dtype = torch.float16 if place.type == "cuda" else torch.float32
    try:
        with quiet_libraries():
            pipeline = diffusers.AutoPipelineForInpainting.from_pretrained(
                name, torch_dtype=dtype, local_files_only=True, safety_checker=None
            )
    except (OSError, ValueError, KeyError) as error:
        raise _not_loaded(name, error) from error
    pipeline.set_progress_bar_config(disable=True)
    return DiffusionPainter(
        pipeline.to(place),
        name,
        guidance=guidance,
        steps=steps,
        short_side=short_side,
        batch=BATCH_ON_PROCESSOR if place.type == "cpu" else BATCH,
    )


def _not_loaded(name: str, error: Exception) -> InputError:
    """Say why nothing could be loaded by this name, how it can be had, and what works without it."""
    why = f"({_first_line(error)})"
    if Path(name).is_dir():
        return InputError(
            f"no inpainting model can be loaded from this folder {why}",
            path=name,
            remedy=f"{FOLDER}; {OTHERWISE}",
        )
    return InputError(
        f"is no folder, and no inpainting model of that name is in the hub's cache {why}",
        path=name,
        remedy=f"fetch it with: hf download {name if '/' in name else DEFAULT}; {OTHERWISE}",
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
