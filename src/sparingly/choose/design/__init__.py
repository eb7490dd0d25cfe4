"""Designs: how utilities and a budget become a selection."""
