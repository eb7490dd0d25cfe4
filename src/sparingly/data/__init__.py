"""Evaluation sets and selections: what they hold, how they are read, written, described and made."""
