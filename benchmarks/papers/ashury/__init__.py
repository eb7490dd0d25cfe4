"""The tables and figures of Ashury Tahan et al. 2024 (DiffUse)."""
