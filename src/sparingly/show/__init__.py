"""Showing results to people: in the terminal, and as text for a paper."""
