"""Rankings of models: significance groups, agreement with the full set, curves, parity, winners."""
