"""What is decided when a campaign begins, and never changes afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sqlalchemy import Connection, select

from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.registry import spell_saved
from sparingly.base.syntax import argument
from sparingly.choose.design.budget import Budget
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Ends
from sparingly.run.campaign.soundness import beginning_problems
from sparingly.run.campaign.tables import CAMPAIGNS, DATA_SETS
from sparingly.run.rounds.strategy import Finished, State, Strategy, as_strategy


@dataclass(frozen=True)
class Settings:
    """What is decided when a campaign begins."""

    name: str  # the campaign's name in its database
    # What the strategy learns from and estimates are about: an aspect, or a combination of aspects.
    aspect: str
    # What people are asked for, each with its lowest and highest score (None: any number).
    aspects: Mapping[str, Ends | None]
    strategy: str  # the strategy, with every parameter spelled out
    stops: tuple[str, ...]  # the rules by which to stop before the budget is spent
    budgets: Mapping[str, Budget]  # what each data set may spend; ``budget`` was given for all of them
    budget: str
    size: int | None  # how many items a round asks for; None leaves it to the strategy
    seed: int  # settles ties and draws

    def data_named(self, name: str | None) -> str:
        """Return the name of a data set: the given one, or the only one there is."""
        if name is None and len(self.budgets) == 1:
            return next(iter(self.budgets))
        if name is None:
            raise UsageError(
                f"There are {len(self.budgets)} data sets: {', '.join(self.budgets)}. Name one: "
                f"{argument('data', next(iter(self.budgets)))}"
            )
        if name not in self.budgets:
            raise UnknownNameError("data set", name, self.budgets)
        return name


def read_settings(connection: Connection, name: str | None, database: str) -> Settings:
    """Read the settings of a campaign; of the only one in the database unless named."""
    names = list(connection.execute(select(CAMPAIGNS.c.name).order_by(CAMPAIGNS.c.name)).scalars())
    if not names:
        raise DataError(f"There is no campaign in {database}. Start one with: sparingly campaign new.")
    if name is None and len(names) > 1:
        raise UsageError(
            f"There are {len(names)} campaigns in {database}: {', '.join(names)}. Name one: "
            f"{argument('name', names[0])}"
        )
    if name is not None and name not in names:
        raise UnknownNameError("campaign", name, names)
    row = connection.execute(
        select(CAMPAIGNS).where(CAMPAIGNS.c.name == (names[0] if name is None else name))
    ).one()
    for problem in beginning_problems(connection, dict(row._mapping)):
        raise DataError(f"{database} is damaged. {problem} Take another copy of it.")
    sets = connection.execute(
        select(DATA_SETS).where(DATA_SETS.c.campaign == row.name).order_by(DATA_SETS.c.name)
    )
    scales = {
        aspect: None if ends is None else (ends[0], ends[1]) for aspect, ends in json.loads(row.aspects)
    }
    return Settings(
        name=row.name,
        aspect=row.aspect,
        aspects=scales,
        strategy=spell_saved(row.strategy),
        stops=tuple(json.loads(row.stops)),
        budgets={data_set.name: Budget.parse(data_set.budget) for data_set in sets},
        budget=row.budget,
        size=row.size,
        seed=row.seed,
    )


# --- Strategies that were saved ---


@dataclass(frozen=True, kw_only=True)
class EarlierStrategy(Strategy):
    """A strategy that this version no longer has, or not with these parameters.

    The answers of its campaign are read, exported and estimated as those of the items that it chose; it
    draws no further round.
    """

    name: ClassVar[str] = "earlier"
    text: str

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Return no fields: nothing is chosen any more."""
        return frozenset()

    def next_round(self, state: State) -> Finished:
        """Raise UsageError: the rounds of an earlier version cannot be continued."""
        raise UsageError(
            f"The strategy {self.text} is of an earlier version and draws no further rounds. What was "
            "answered can be estimated, ranked and exported. For more rounds, start a new campaign."
        )


def saved_strategy(text: str) -> Strategy:
    """Return the strategy of a campaign, also where this version cannot continue it."""
    try:
        return as_strategy(text)
    except UsageError:
        return EarlierStrategy(text=text)


# --- What a budget counts: items judged on all models, or comparisons of two models ---


def compares(strategy: str | Strategy, data: EvalSet, aspect: str) -> bool:
    """Say whether a strategy asks which of two outputs is better; one that reads preferences does."""
    known = saved_strategy(strategy) if isinstance(strategy, str) else strategy
    return "preferences" in known.label_fields(data, aspect)


def choices(data: EvalSet, *, pairs: bool) -> int:
    """Return out of how many things a budget chooses."""
    models = len(data.models)
    return len(data) * (models * (models - 1) // 2 if pairs else 1)


def limit_of(budget: Budget, data: EvalSet, *, pairs: bool) -> int:
    """Return how many outputs, or comparisons, a budget allows."""
    if pairs:
        return budget.count_of(choices(data, pairs=True), "comparisons")
    return budget.count_of(len(data)) * len(data.models)
