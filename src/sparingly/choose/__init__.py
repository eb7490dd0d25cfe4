"""Choosing: a utility says how much an item teaches, a design turns utilities and a budget into a selection."""
