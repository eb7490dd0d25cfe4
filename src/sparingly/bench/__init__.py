"""Replays of evaluations on fully judged data: methods × sets × budgets × runs."""
