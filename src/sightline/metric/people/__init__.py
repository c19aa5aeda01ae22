"""People in a picture: who finds them, and what is known of each."""
