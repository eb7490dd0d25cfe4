"""Running evaluations: re-deriving what was chosen."""
