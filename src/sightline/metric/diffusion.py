"""Inpainting with diffusers pipelines: a name on the Hugging Face hub, or a local folder.

The default is Stable Diffusion 2 inpainting, as in the paper, under its name since the original was
removed in 2025; SDXL inpainting works as well. Nothing is downloaded automatically: the error of
`load_painter` says what to fetch. torch and diffusers come with the extra `paint`.
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
from sightline.metric.inpainting import SHORT_SIDE, working_size
from sightline.models.hub import quiet_libraries
from sightline.types import BoolArray

#: The paper's painter.
DEFAULT = "sd2-community/stable-diffusion-2-inpainting"

#: Weight of the prompt (classifier-free guidance), as in the authors' code.
GUIDANCE = 20.0

#: Paintings per call: the paper's on a GPU; on a CPU, batches do not help and cost memory.
BATCH, BATCH_ON_PROCESSOR = 8, 1

#: Remedies if there is no painter.
FOLDER = "give a folder with the model_index.json of an inpainting pipeline, or its name on the hub"
OTHERWISE = (
    "or measure without painting, by people in the picture or by --length, --depth-at, "
    "--camera-height, --box, --iris or --measured"
)

#: Name on the hub: `owner/model`, or `model` alone.
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")


class DiffusionPainter:
    """Inpainting pipeline of diffusers; a `Painter`.

    Args:
        pipeline: inpainting pipeline of diffusers.
        source: its name, for records.
        guidance: weight of the prompt.
        steps: denoising steps; None for the pipeline's default.
        short_side: shorter side of the pipeline's input in [px].
        batch: recommended number of paintings per call.
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
        """Paint all masks in one call; see `Painter`."""
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
    """Load a painter from a folder, or from the local cache of the Hugging Face hub.

    Args:
        name: on the hub, or a folder with the same layout.
        device: cpu, cuda or mps; None for the best available.
        guidance: weight of the prompt.
        steps: denoising steps; None for the pipeline's default.
        short_side: shorter side of the pipeline's input in [px].
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
    from sightline.runtime.torch_engine import pick_device

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
    """Return the error of a model that could not be loaded, with its remedies."""
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
