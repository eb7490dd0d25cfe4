"""What is decided when a campaign begins, and never changes afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sqlalchemy import Connection, insert, select

from sparingly.base.errors import DataError, UnknownNameError, UsageError, listing
from sparingly.base.registry import Method, spell_saved
from sparingly.base.syntax import argument, either
from sparingly.choose.auto import AUTO
from sparingly.choose.design.budget import Budget
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Ends
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.datasets import check_lengths, check_letters, to_bytes, unjudged
from sparingly.run.campaign.journal import Clock, Journal, as_json
from sparingly.run.campaign.soundness import beginning_problems
from sparingly.run.campaign.tables import CAMPAIGNS, DATA_SETS, DATA_VERSIONS, MODELS
from sparingly.run.rounds.stop.base import as_stop
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


# --- Begin a campaign: check what is asked for, then write all of it at once ---


Aspects = str | Sequence[str] | Mapping[str, Ends | None]
BudgetLike = int | float | str | Budget
StopRules = str | Method | Sequence[str | Method] | None


def prepare(
    name: str,
    data: Mapping[str, EvalSet],
    strategy: str | Method | None,
    budget: BudgetLike | Mapping[str, BudgetLike] | None,
    *,
    aspects: Aspects | None,
    aspect: str | None,
    scale: Ends | None,
    stop: StopRules,
    size: int | None,
    seed: int,
) -> tuple[Settings, dict[str, EvalSet]]:
    """Check everything that a campaign is to begin with; return the settings, and the data without labels."""
    if not data or not name:
        raise UsageError("A campaign needs a name and at least one data set.")
    if budget is None:
        more = f"{argument('budget', '100')}, or a share such as 10%."
        raise UsageError(f"Say how much may be judged over all rounds: {more}")
    scales = _scales(aspects, data, scale)
    if aspect is None and len(scales) > 1:
        raise UsageError(
            f"There are {len(scales)} aspects: {', '.join(scales)}. Combine them: "
            + either(f"--combine mean:of=[{','.join(scales)}]", 'aspect="mean:of=[…]", or one of them')
        )
    target = next(iter(scales)) if aspect is None else aspect
    method = as_strategy(AUTO if strategy is None else strategy)
    data_sets = {key: unjudged(data_set) for key, data_set in sorted(data.items())}
    with_aspects = {
        key: data_set.with_parts(
            aspects={name: np.full(data_set.shape, np.nan) for name in scales}, roles=None
        )
        for key, data_set in data_sets.items()
    }
    pairs = {key: compares(method, data_set, target) for key, data_set in with_aspects.items()}
    if lacking := [key for key, data_set in data_sets.items() if pairs[key] and len(data_set.models) < 2]:
        model = listing(data_sets[lacking[0]].models)
        raise UsageError(f"Comparisons need two models, and there is only {model}: give the outputs of both.")
    sizes = {key: choices(data_set, pairs=pairs[key]) for key, data_set in data_sets.items()}
    budgets = divide_budget(budget, sizes)
    for key, data_set in data_sets.items():
        check_letters(name, key, data_set, scales)
        limit_of(budgets[key], data_set, pairs=pairs[key])
        with_aspects[key].truth(target)
        method.resolve(data_set, target, budgets[key])
    stops = [] if stop is None else [stop] if isinstance(stop, str | Method) else stop
    if size is not None and size < 1:
        raise UsageError(f"A round asks for at least one item, not {size}.")
    settings = Settings(
        name=name,
        aspect=target,
        aspects=scales,
        strategy=method.full_text,
        stops=tuple(as_stop(rule).full_text for rule in stops),
        budgets=budgets,
        budget=as_json({key: str(Budget.parse(part)) for key, part in budget.items()})
        if isinstance(budget, Mapping)
        else str(Budget.parse(budget)),
        size=size,
        seed=seed,
    )
    return settings, data_sets


def create(database: Database, settings: Settings, data_sets: Mapping[str, EvalSet], clock: Clock) -> None:
    """Write a campaign with its data; it is there whole, or not at all."""
    for name, data in data_sets.items() if not database.is_sqlite else ():
        check_lengths(settings.name, name, data, settings.aspects)
    with database.writing() as connection:
        if connection.execute(select(CAMPAIGNS.c.name).where(CAMPAIGNS.c.name == settings.name)).first():
            raise UsageError(
                f'There is a campaign "{settings.name}" in {database.name} already. Continue it: sparingly '
                f"campaign next {database.name}, or give the new one a name: {argument('name', 'second')}"
            )
        shared = {name: getattr(settings, name) for name in ("aspect", "strategy", "budget", "size", "seed")}
        stops, aspects = list(settings.stops), [[name, ends] for name, ends in settings.aspects.items()]
        connection.execute(
            insert(CAMPAIGNS),
            {
                **shared,
                "aspects": as_json(aspects),
                "stops": as_json(stops),
                "name": settings.name,
                "created_at": clock().isoformat(timespec="microseconds"),
                "last_seq": 0,
                "head": "",
            },
        )
        journal = Journal(connection, settings.name, clock)
        digests = {name: data.digest() for name, data in data_sets.items()}
        budgets = {name: str(budget) for name, budget in settings.budgets.items()}
        seq = journal.event("begun", **shared, stops=stops, aspects=aspects, budgets=budgets, data=digests)
        for name, data in data_sets.items():
            key = {"campaign": settings.name}
            connection.execute(insert(DATA_SETS), {**key, "name": name, "budget": budgets[name]})
            version = {"data": name, "seq": seq, "digest": digests[name], "content": to_bytes(data)}
            connection.execute(insert(DATA_VERSIONS), {**key, **version})
            connection.execute(
                insert(MODELS),
                [{**key, "data": name, "model": model, "arrived": seq} for model in data.models],
            )
        journal.finish()


def divide_budget(
    budget: BudgetLike | Mapping[str, BudgetLike], sizes: Mapping[str, int]
) -> dict[str, Budget]:
    """Divide one budget over data sets by how much there is to choose; counts by the largest remainder.

    A share is the same share of each; a mapping says what each gets.
    """
    if isinstance(budget, Mapping):
        if set(budget) != set(sizes):
            raise UsageError(f"Give a budget for each data set: {listing(sizes)}.")
        return {name: checked_budget(budget[name]) for name in sorted(sizes)}
    total_budget, total = checked_budget(budget), sum(sizes.values())
    if total_budget.kind == "share" or len(sizes) == 1:
        return dict.fromkeys(sorted(sizes), total_budget)
    count = total_budget.count_of(total)
    if count < len(sizes):
        raise UsageError(f"A budget of {count} is not one for each of {len(sizes)} data sets.")
    exact = {name: count * size / total for name, size in sizes.items()}
    parts = {name: max(1, int(part)) for name, part in exact.items()}
    while sum(parts.values()) != count:
        step = 1 if sum(parts.values()) < count else -1
        movable = [name for name in sorted(parts) if step > 0 or parts[name] > 1]
        parts[max(movable, key=lambda name: step * (exact[name] - parts[name]))] += step
    return {name: Budget("count", float(parts[name])) for name in sorted(parts)}


def checked_budget(value: BudgetLike, items: int | None = None) -> Budget:
    """Return a budget that counts items, and no more than there are."""
    budget = Budget.parse(value)
    if items is not None and budget.kind != "cost":
        budget.count_of(items)
    if budget.kind == "cost":
        raise UsageError(f'A campaign counts items, not {budget}. Write a count (100) or a share ("10%").')
    return budget


def _scales(
    aspects: Aspects | None, data: Mapping[str, EvalSet], scale: Ends | None
) -> dict[str, Ends | None]:
    """Return the aspects that people are asked for, with their scales.

    Unless given, they are those of the data; where it has none, people score ``overall`` from 0 to 100.
    """
    if aspects is None:
        aspects = sorted({name for data_set in data.values() for name in data_set.aspects})
        aspects = aspects or {"overall": scale or (0.0, 100.0)}
    if isinstance(aspects, str):
        aspects = [aspects]
    if not isinstance(aspects, Mapping):
        aspects = {name: scale or _earlier_scale(name, data) for name in aspects}
    if not aspects:
        raise UsageError("Name what people judge: " + either("--aspect quality", 'aspects="quality"'))
    for name, ends in aspects.items():
        if ends is not None and not float(ends[0]) < float(ends[1]):
            raise UsageError(
                f"The scale of {name} goes from {ends[0]:g} to {ends[1]:g}: the first must be lower."
            )
    return {
        name: None if ends is None else (float(ends[0]), float(ends[1])) for name, ends in aspects.items()
    }


def _earlier_scale(aspect: str, data: Mapping[str, EvalSet]) -> Ends | None:
    """Return the scale on which all data sets that were judged before have an aspect; None without one."""
    scales = {data_set.label_scale(aspect) for data_set in data.values() if aspect in data_set.aspects}
    return scales.pop() if len(scales) == 1 else None
