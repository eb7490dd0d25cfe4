"""The sample table of inspect_ai."""
