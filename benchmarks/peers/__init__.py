"""Other people's tools: what their environments need, and methods restated for the leaderboard."""
