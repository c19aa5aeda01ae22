"""People: a library of body shapes, poses, clothes, hair, and groups."""
