"""What a budget counts: items judged on all models, or comparisons of two models."""

from __future__ import annotations

from sparingly.choose.design.budget import Budget
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.strategy import Strategy, as_strategy


def compares(strategy: str | Strategy, data: EvalSet, aspect: str) -> bool:
    """Say whether a strategy asks which of two outputs is better; one that reads preferences does."""
    return "preferences" in as_strategy(strategy).label_fields(data, aspect)


def choices(data: EvalSet, *, pairs: bool) -> int:
    """Return out of how many things a budget chooses."""
    models = len(data.models)
    return len(data) * (models * (models - 1) // 2 if pairs else 1)


def limit_of(budget: Budget, data: EvalSet, *, pairs: bool) -> int:
    """Return how many outputs, or comparisons, a budget allows."""
    if pairs:
        return budget.count_of(choices(data, pairs=True), "comparisons")
    return budget.count_of(len(data)) * len(data.models)
