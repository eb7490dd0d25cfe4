"""What judging everything would say: the expected significance of every pair of models."""
