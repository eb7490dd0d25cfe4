"""Statistics on plain arrays: ranks, correlations, sign-flip tests and signed-rank tests."""
