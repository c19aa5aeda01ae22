"""Things of known size in a picture, each turned into clues for the metric head."""
