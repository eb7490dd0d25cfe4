"""Beside the package: speed and memory next to the peers, the tables of papers, the leaderboard."""
