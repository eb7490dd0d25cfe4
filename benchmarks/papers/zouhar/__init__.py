"""The tables and figures of Zouhar et al. 2025."""
