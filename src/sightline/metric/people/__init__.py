"""Detection of people, their landmarks, masks and irises, and the evidence of scale they give."""
