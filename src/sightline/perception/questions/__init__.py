"""Questions about pictures with known depth or boxes, and their answers, as training and test data."""
