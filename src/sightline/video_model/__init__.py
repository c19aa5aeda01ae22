"""A diffusion transformer that learns to continue videos (PhyWorld, arXiv 2411.02385)."""
