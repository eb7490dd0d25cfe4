"""Reports: what a paper or a colleague needs to know of a selection."""
