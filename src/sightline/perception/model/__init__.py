"""Multimodal models that write perception tokens: transformers' LLaVA classes, as they are."""
