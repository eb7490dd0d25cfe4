"""Replays of evaluations on fully judged data: grids, measures, the papers' tables, the leaderboard."""
