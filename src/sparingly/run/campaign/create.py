"""Begin a campaign: check what is asked for, then write all of it at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import insert, select

from sparingly.base.errors import UsageError, listing
from sparingly.base.registry import Method
from sparingly.choose.auto import AUTO
from sparingly.choose.design.budget import Budget
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Ends
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.datasets import check_lengths, check_letters, to_bytes, unjudged
from sparingly.run.campaign.journal import Clock, Journal, as_json
from sparingly.run.campaign.settings import Settings, choices, compares, limit_of
from sparingly.run.campaign.tables import CAMPAIGNS, DATA_SETS, DATA_VERSIONS, MODELS
from sparingly.run.rounds.stop.base import as_stop
from sparingly.run.rounds.strategy import as_strategy

AspectsAsked = str | Sequence[str] | Mapping[str, Ends | None]
BudgetAsked = int | float | str | Budget
StopAsked = str | Method | Sequence[str | Method] | None


@dataclass(frozen=True)
class Beginning:
    """A campaign that is about to begin: its settings and its data."""

    settings: Settings
    sets: Mapping[str, EvalSet]


def prepare(
    name: str,
    data: Mapping[str, EvalSet],
    strategy: str | Method | None,
    budget: BudgetAsked | Mapping[str, BudgetAsked] | None,
    *,
    aspects: AspectsAsked | None,
    aspect: str | None,
    scale: Ends | None,
    stop: StopAsked,
    size: int | None,
    seed: int,
) -> Beginning:
    """Check everything that a campaign is to begin with."""
    if not data or not name:
        raise UsageError("A campaign needs a name and at least one data set.")
    if budget is None:
        raise UsageError("Say how much may be judged over all rounds: budget=100, or a share such as 10%.")
    scales = _scales(aspects, data, scale)
    target = aspect if aspect is not None else _only(scales)
    made = as_strategy(AUTO if strategy is None else strategy)
    sets = {one: unjudged(held) for one, held in sorted(data.items())}
    empty = {one: with_aspects(held, scales) for one, held in sets.items()}
    pairs = {one: compares(made, held, target) for one, held in empty.items()}
    budgets = divided(budget, {one: choices(held, pairs=pairs[one]) for one, held in sets.items()})
    for one, held in sets.items():
        check_letters(name, one, held, scales)
        limit_of(budgets[one], held, pairs=pairs[one])
        empty[one].truth(target)
        made.resolve(held, target, budgets[one])
    settings = Settings(
        name=name,
        aspect=target,
        aspects=scales,
        strategy=made.full_text,
        stops=_stop_texts(stop),
        budgets=budgets,
        budget=_budget_text(budget),
        size=_size(size),
        seed=seed,
    )
    return Beginning(settings, sets)


def create(database: Database, beginning: Beginning, clock: Clock) -> None:
    """Write a campaign with its data; it is there whole, or not at all."""
    settings = beginning.settings
    for name, held in beginning.sets.items() if not database.is_sqlite else ():
        check_lengths(settings.name, name, held, settings.aspects)
    with database.writing() as connection:
        if connection.execute(select(CAMPAIGNS.c.name).where(CAMPAIGNS.c.name == settings.name)).first():
            raise UsageError(f'There is a campaign "{settings.name}" in {database.name} already.')
        connection.execute(insert(CAMPAIGNS), _campaign_row(settings, clock))
        journal = Journal(connection, settings.name, clock)
        digests = {name: held.digest() for name, held in beginning.sets.items()}
        seq = journal.event("begun", **_decided(settings), data=digests)
        for name, held in beginning.sets.items():
            key = {"campaign": settings.name}
            connection.execute(
                insert(DATA_SETS), {**key, "name": name, "budget": str(settings.budgets[name])}
            )
            version = {"data": name, "seq": seq, "digest": digests[name], "content": to_bytes(held)}
            connection.execute(insert(DATA_VERSIONS), {**key, **version})
            connection.execute(
                insert(MODELS),
                [{**key, "data": name, "model": model, "arrived": seq} for model in held.models],
            )
        journal.finish()


def with_aspects(data: EvalSet, aspects: Mapping[str, Any]) -> EvalSet:
    """Return an unjudged set with the aspects that people are asked for, empty."""
    return data.with_parts(aspects={name: np.full(data.shape, np.nan) for name in aspects})


def divided(budget: BudgetAsked | Mapping[str, BudgetAsked], sizes: Mapping[str, int]) -> dict[str, Budget]:
    """Divide one budget over data sets by how much there is to choose; counts by the largest remainder.

    A share is the same share of each; a mapping says what each gets.
    """
    if isinstance(budget, Mapping):
        if set(budget) != set(sizes):
            raise UsageError(f"Give a budget for each data set: {listing(sizes)}.")
        given = {name: _counted(Budget.parse(budget[name])) for name in sizes}
        return dict(sorted(given.items()))
    whole, total = _counted(Budget.parse(budget)), sum(sizes.values())
    if whole.kind == "share" or len(sizes) == 1:
        return dict.fromkeys(sorted(sizes), whole)
    count = whole.count_of(total)
    if count < len(sizes):
        raise UsageError(f"A budget of {count} is not one for each of {len(sizes)} data sets.")
    exact = {name: count * size / total for name, size in sizes.items()}
    parts = {name: max(1, int(part)) for name, part in exact.items()}
    while sum(parts.values()) != count:
        step = 1 if sum(parts.values()) < count else -1
        movable = [name for name in sorted(parts) if step > 0 or parts[name] > 1]
        parts[max(movable, key=lambda name: step * (exact[name] - parts[name]))] += step
    return {name: Budget("count", float(parts[name])) for name in sorted(parts)}


def _counted(budget: Budget) -> Budget:
    if budget.kind == "cost":
        raise UsageError(f'A campaign counts items, not {budget}. Write a count (100) or a share ("10%").')
    return budget


def _scales(
    aspects: AspectsAsked | None, data: Mapping[str, EvalSet], scale: Ends | None
) -> dict[str, Ends | None]:
    """Return what people are asked for; what the data was judged on so far unless given."""
    if aspects is None:
        aspects = sorted({name for held in data.values() for name in held.aspects})
    if isinstance(aspects, Mapping):
        found = dict(aspects)
    else:
        found = {name: scale or _known_scale(name, data) for name in _names(aspects)}
    if not found:
        raise UsageError("Say what people judge: aspects=….")
    for name, ends in found.items():
        if ends is not None and not float(ends[0]) < float(ends[1]):
            raise UsageError(
                f"The scale of {name} goes from {ends[0]:g} to {ends[1]:g}: the first must be lower."
            )
    return {name: None if ends is None else (float(ends[0]), float(ends[1])) for name, ends in found.items()}


def _names(aspects: str | Sequence[str]) -> Sequence[str]:
    return [aspects] if isinstance(aspects, str) else aspects


def _known_scale(aspect: str, data: Mapping[str, EvalSet]) -> Ends | None:
    """Return the scale on which all data sets that were judged before have an aspect; None without one."""
    told = {held.truth_scale(aspect) for held in data.values() if aspect in held.aspects}
    return told.pop() if len(told) == 1 else None


def _only(scales: Mapping[str, Any]) -> str:
    if len(scales) > 1:
        raise UsageError(
            f"There are {len(scales)} aspects: {', '.join(scales)}. Say which one the evaluation is about "
            "(aspect=…), or combine them: mean:of=[…]."
        )
    return next(iter(scales))


def _size(size: int | None) -> int | None:
    if size is not None and size < 1:
        raise UsageError(f"A round asks for at least one item, not {size}.")
    return size


def _stop_texts(stop: StopAsked) -> tuple[str, ...]:
    rules = [] if stop is None else [stop] if isinstance(stop, str | Method) else stop
    return tuple(as_stop(rule).full_text for rule in rules)


def _budget_text(budget: BudgetAsked | Mapping[str, BudgetAsked]) -> str:
    if isinstance(budget, Mapping):
        return as_json({name: str(Budget.parse(part)) for name, part in budget.items()})
    return str(Budget.parse(budget))


def _decided(settings: Settings) -> dict[str, Any]:
    values = vars(settings)
    return {
        **{name: values[name] for name in ("aspect", "strategy", "budget", "size", "seed")},
        "stops": list(settings.stops),
        "aspects": [[name, None if ends is None else list(ends)] for name, ends in settings.aspects.items()],
        "budgets": {name: str(part) for name, part in settings.budgets.items()},
    }


def _campaign_row(settings: Settings, clock: Clock) -> dict[str, Any]:
    decided = _decided(settings)
    del decided["budgets"]
    return {
        **decided,
        "aspects": as_json(decided["aspects"]),
        "stops": as_json(decided["stops"]),
        "name": settings.name,
        "created_at": clock().isoformat(timespec="microseconds"),
        "last_seq": 0,
        "head": "",
    }
