"""Perception tokens: depth maps and boxes as tokens of vision-language models.

After AURORA (Bigverdi et al. 2024): a depth map becomes 100 codes between two marks, a box four pixel
tokens. A multimodal model learns to write what it perceives before it answers, and what it wrote can be
decoded and verified.

>>> from sightline.perception import DepthTokenizer, ask, load_vlm
>>> points = {"A": (120, 80), "B": (300, 200)}
>>> reply = ask("photo.jpg", "Which point is nearest?", points)  # doctest: +SKIP
>>> reply.final  # doctest: +SKIP
'B'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "AnnotatedImage",
    "BoxConstraint",
    "CountAnswer",
    "DepthAnswer",
    "DepthImage",
    "DepthMapConstraint",
    "DepthTokenizer",
    "EvaluationResult",
    "PerceptionVLM",
    "Reply",
    "ask",
    "chance_accuracy",
    "decode_tokens",
    "depth_image",
    "draw_reply",
    "encode_depth",
    "evaluate_depth_model",
    "evaluate_vlm",
    "format_reply",
    "generate_answers",
    "load_vlm",
    "read_annotations",
    "read_benchmark",
    "replace_maps",
    "save_vlm",
    "write_count_sets",
    "write_curriculum",
    "write_depth_sets",
    "write_hard_blink",
]

if TYPE_CHECKING:
    from sightline.perception.benchmarks import read_benchmark
    from sightline.perception.codebook import DepthTokenizer, decode_tokens, encode_depth
    from sightline.perception.decoding import BoxConstraint, DepthMapConstraint
    from sightline.perception.evaluation import (
        EvaluationResult,
        chance_accuracy,
        evaluate_depth_model,
        evaluate_vlm,
        replace_maps,
    )
    from sightline.perception.figures import draw_reply, format_reply
    from sightline.perception.question_answering import Reply, ask
    from sightline.perception.questions.count_sets import (
        AnnotatedImage,
        read_annotations,
        write_count_sets,
    )
    from sightline.perception.questions.records import write_curriculum
    from sightline.perception.questions.sets import (
        DepthImage,
        depth_image,
        write_depth_sets,
        write_hard_blink,
    )
    from sightline.perception.vlm.generation import CountAnswer, DepthAnswer, generate_answers
    from sightline.perception.vlm.model import PerceptionVLM, load_vlm, save_vlm

_HOMES = {
    "AnnotatedImage": "questions.count_sets",
    "BoxConstraint": "decoding",
    "CountAnswer": "vlm.generation",
    "DepthAnswer": "vlm.generation",
    "DepthImage": "questions.sets",
    "DepthMapConstraint": "decoding",
    "DepthTokenizer": "codebook",
    "EvaluationResult": "evaluation",
    "PerceptionVLM": "vlm.model",
    "Reply": "question_answering",
    "ask": "question_answering",
    "chance_accuracy": "evaluation",
    "decode_tokens": "codebook",
    "depth_image": "questions.sets",
    "draw_reply": "figures",
    "encode_depth": "codebook",
    "evaluate_depth_model": "evaluation",
    "evaluate_vlm": "evaluation",
    "format_reply": "figures",
    "generate_answers": "vlm.generation",
    "load_vlm": "vlm.model",
    "read_annotations": "questions.count_sets",
    "read_benchmark": "benchmarks",
    "replace_maps": "evaluation",
    "save_vlm": "vlm.model",
    "write_count_sets": "questions.count_sets",
    "write_curriculum": "questions.records",
    "write_depth_sets": "questions.sets",
    "write_hard_blink": "questions.sets",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import on first use: most modules need torch or OpenVINO."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
