"""What a budget counts: items judged on all models, or comparisons of two models."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from sparingly.choose.design.budget import Budget
from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.tables import ASKED
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


def spent_at(connection: Connection, campaign: str, data: str, began: EvalSet, seq: int) -> int:
    """Return how many outputs, or comparisons, were asked for up to a number of the journal.

    Models that came late are free, and what was asked about one that was withdrawn stays spent.
    """
    table = ASKED.c
    query = select(func.count()).where(
        table.campaign == campaign,
        table.data == data,
        table.model.in_(began.models),
        table.seq <= seq,
    )
    return int(connection.execute(query).scalar_one())
