"""The ground floor: errors, randomness, statistics on arrays, and the registry of methods."""
