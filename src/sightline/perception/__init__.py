"""Perception tokens: depth maps and boxes as words that a language model reads and writes.

After AURORA (Bigverdi et al. 2024). A depth map becomes 100 codes between two marks, a box four pixel
numbers. Both are tokens beside those of language, so any multimodal model can learn to write down what
it perceives before it answers, and what it wrote can be decoded and checked.
"""
