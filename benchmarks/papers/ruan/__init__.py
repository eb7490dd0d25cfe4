"""The tables of Ruan et al. 2024 (constrained active sampling)."""
