"""Laws of motion in real and generated clips, in SI units where a scale is known."""
