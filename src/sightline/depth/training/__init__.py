"""Training depth networks: data, augmentation, and a loop that stops and resumes exactly."""
