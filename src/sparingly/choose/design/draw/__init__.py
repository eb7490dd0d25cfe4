"""Draws: units taken with given inclusion probabilities, as many as these add up to."""
