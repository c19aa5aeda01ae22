"""The depth codebook: 320 × 320 depth ↔ 10 × 10 codes out of 128."""
