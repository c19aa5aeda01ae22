"""Indoor scenes: rooms, furniture and props."""
