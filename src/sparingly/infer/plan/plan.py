"""``plan``: what a budget of judgements buys, before it is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sparingly.base.errors import MissingDataError, UsageError
from sparingly.choose.design.budget import Budget
from sparingly.data import fields
from sparingly.data.combine import with_scale
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.store import Scale
from sparingly.infer.estimate.assemble import Target
from sparingly.infer.plan.advice import advise
from sparingly.infer.plan.judge_price import judge_or_people, judge_prices
from sparingly.infer.plan.outlook import Outlook, Unit, Wanted
from sparingly.infer.plan.pilot import Pilot, pilot_of
from sparingly.infer.plan.quantities import SD, Quantity
from sparingly.infer.plan.result import Plan
from sparingly.infer.plan.spread import pair_deviations
from sparingly.signals.cost import FIT, LENGTH, fit_seconds, item_costs

Budgets = Sequence[int | float | str | Budget]
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
# What people can judge does not grow with the set: these come first where the set is large.
COUNTS = (100, 300, 1000, 3000)
_FEWEST_ITEMS = 10
# Goals, and the share of the scale from which on they say nothing.
_WIDTH, _GAP = ("half-width", 0.5), ("difference", 1.0)


def plan(
    data: EvalSet,
    selection: Selection | None = None,
    aspect: str | None = None,
    *,
    budgets: Budgets | None = None,
    width: float | str | None = None,
    detect: float | str | None = None,
    unit: Unit = "item",
    cost: str | None = None,
    judge: str | None = None,
    judge_price: float | None = None,
    person_price: float | None = None,
    target: Target = "population",
    level: float = 0.95,
    power: float = 0.8,
    scale: Scale | None = None,
    seed: int = 0,
) -> Plan:
    """Return what judging so many items is expected to tell, and a recommendation.

    A pilot's ratings tell how far scores vary, what the metrics explain of it, and whether unequal
    probabilities help. Without ratings a metric stands in for people.

    Args:
        data: The evaluation set, with the ratings of a pilot or without.
        selection: How the pilot was drawn; a uniform sample unless given.
        aspect: What was judged, or a metric that stands in; the only aspect or a typical metric by default.
        budgets: Budgets of the table, as for ``select``: 100, "10%", "8h"; shares of the set unless given.
        width: The half-width (±) that intervals of scores are to have; "4%" for rates between 0 and 1.
        detect: The difference between two models that is to be found, in the unit of the scores; "0.3sd" in
            standard deviations of a middle pair's differences from item to item.
        unit: What is drawn: items, or whole documents.
        cost: The seconds of an item: a column, ``fit`` (to the set's own seconds), or ``length`` (Zouhar et
            al. 2025); the first of ``cost``, ``fit`` and ``length`` that there is unless given.
        judge: The metric that is an LLM judge's score, to weigh its price against people's.
        judge_price: The price of one output judged by the LLM.
        person_price: The price of one output judged by a person.
        target: Whether differences on inputs like these (``population``) or on this ``set`` are to be found.
        level: The level of intervals and tests.
        power: The chance with which a difference is to be found.
        scale: The lowest and the highest possible score; what the data tells of it unless given.
        seed: Of folds and simulations.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> pilot = sparingly.select(data, "uniform", 60, seed=1)
        >>> sparingly.plan(data, pilot, "overall", width=2.5).advice.estimator
        'greg'
    """
    wide, gap = (None if goal is None else Quantity.parse(goal) for goal in (width, detect))
    wanted, data = Wanted(None, None, unit, target, level, power, seed), with_scale(data, aspect, scale)
    pilot = pilot_of(data, selection, aspect, for_differences=wide is None and gap is not None, seed=seed)
    wanted = replace(wanted, width=_in_scores(wide, pilot, _WIDTH), detect=_in_scores(gap, pilot, _GAP))
    prices = judge_prices(pilot, judge, judge_price, person_price)
    settled = cost if cost is not None else _known_cost(pilot.data)
    found = _planned(outlook := Outlook(pilot, wanted, _mean_seconds(pilot.data, settled)), budgets, settled)
    mix = None if prices is None else judge_or_people(outlook, found.advice.budget, prices)
    return replace(found, judge=mix)


def _in_scores(goal: Quantity | None, pilot: Pilot, kind: tuple[str, float]) -> float | None:
    """Return a half-width or a difference in the unit of the scores; refuse one that leaves their scale."""
    if goal is None:
        return None
    what, limit = kind
    value, values = _without_unit(goal, pilot), pilot.values
    if values.scale is None or value < (most := limit * (values.scale[1] - values.scale[0])):
        return value
    advice = f"ask for less than {f'{100 * most:g}%' if values.is_rate else f'{most:g}'}"
    if values.is_rate and not goal.unit and goal.value / 100 < most:
        advice = f"write {goal.value:g}%"
    low, high = values.scale
    raise UsageError(
        f"A {what} of {goal} is too large for {pilot.truth}, whose scores lie between {low:g} and {high:g}: "
        f"{advice}."
    )


def _without_unit(goal: Quantity, pilot: Pilot) -> float:
    if not goal.unit:
        return goal.value
    if goal.unit == SD:
        apart = pair_deviations(pilot.plain)
        return goal.value * float(np.median(apart)) if len(apart) else goal.value
    judged = pilot.sample.scores[pilot.sample.judged]
    if judged.min() < 0 or judged.max() > 1:
        raise UsageError(
            f"{goal.value:g}% is for rates between 0 and 1, and {pilot.truth} goes from {judged.min():g} to "
            f"{judged.max():g}: give a number in its unit."
        )
    return goal.value / 100


def _planned(outlook: Outlook, budgets: Budgets | None, cost: str | None) -> Plan:
    """Return the plan of an outlook, without a judge."""
    pilot, needed = outlook.pilot, outlook.needed()
    return Plan(
        truth=pilot.truth,
        stands_in=pilot.stands_in,
        models=pilot.data.models,
        n=pilot.n,
        size=pilot.size,
        wanted=outlook.wanted,
        is_rate=pilot.values.is_rate,
        correlations=pilot.correlations,
        saving=pilot.saving,
        unequal=pilot.unequal,
        documents=pilot.documents,
        table=tuple(outlook.precision(n) for n in _rows(outlook, budgets, needed)),
        needed=needed,
        cost=cost,
        judge=None,
        advice=advise(outlook, needed),
        notes=(*pilot.notes, *_cost_notes(cost)),
    )


def _mean_seconds(data: EvalSet, cost: str | None) -> float | None:
    """Return the mean seconds of an item; None where no cost is known."""
    return None if cost is None else float(item_costs(data, cost)[0].mean())


def _known_cost(data: EvalSet) -> str | None:
    """Return the best way to reckon seconds that the set allows; None where there is none."""
    if fields.COST in data.columns and not np.isnan(data.columns[fields.COST]).any():
        return fields.COST
    if data.sources is None or any(text is None for text in data.sources):
        return None
    try:
        fit_seconds(data)
    except MissingDataError:
        return LENGTH
    return FIT


def _cost_notes(cost: str | None) -> tuple[str, ...]:
    """Say where the hours come from."""
    if cost is None:
        return ()
    how = {
        LENGTH: "time estimate: 33.7 s per output + 0.15 s per word (Zouhar et al. 2025).",
        FIT: "time estimate: a line fitted to the times of the set's own ratings.",
    }
    return (how.get(cost, f'time estimate: the column "{cost}", read as seconds per item.'),)


def _rows(outlook: Outlook, budgets: Budgets | None, needed: int | None) -> list[int]:
    """Return the numbers of items in the table, ascending: those asked for, and the needed one."""
    size = outlook.pilot.size
    if budgets is None:
        wanted = {max(1, round(share * size)) for share in SHARES}
        found = {n for n in wanted if n >= min(_FEWEST_ITEMS, size)}
        found |= {n for n in COUNTS if n < SHARES[0] * size}
    else:
        found = {_items(Budget.parse(budget), outlook) for budget in budgets}
    return sorted(found | ({needed} if needed is not None else set()))


def _items(budget: Budget, outlook: Outlook) -> int:
    """Return how many items a budget buys."""
    if budget.kind != "cost":
        return budget.count_of(outlook.pilot.size)
    if not outlook.seconds:
        raise UsageError(f"The budget {budget} needs costs: name them with cost=length, fit, or a column.")
    return int(np.clip(budget.amount // outlook.seconds, 1, outlook.pilot.size))
