"""What a table of replays says: means, parity, error ratios, honesty, first places, with intervals."""
