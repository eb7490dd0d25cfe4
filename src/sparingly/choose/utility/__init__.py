"""Utilities: a number per item, how much judging it teaches; higher is better."""
