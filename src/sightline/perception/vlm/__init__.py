"""Vision-language models with perception tokens: loading, generation, and training.

* `model`: `PerceptionVLM`, loading and saving of LLaVA-type models and adapters.
* `compact`: a LLaVA for laptops on top of the embedded depth model; `vision_tower` and `detectors` are
  its image encoder.
* `chat_template`, `image_processor`: text and image preprocessing.
* `generation`: generate answers under constraints and verify them against the model's own perception.
* `lora`, `training`, …: adaptation and training.
"""
