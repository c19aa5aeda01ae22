"""Score videos against the laws of motion: inputs, scoring, summaries and reports."""
