"""The papers' analyses of a set, each with its picture."""
