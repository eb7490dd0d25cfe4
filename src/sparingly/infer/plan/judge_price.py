"""An LLM judge's price against what it saves, learned from a pilot with and without the judge's scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.errors import MissingDataError, UsageError
from sparingly.data.evalset import the_only
from sparingly.infer.plan.judge_mix import JudgeMix, judge_mix
from sparingly.infer.plan.outlook import Outlook
from sparingly.infer.plan.pilot import Pilot, pilot_without
from sparingly.infer.plan.precision import fewest_items
from sparingly.infer.plan.spread import pair_total


@dataclass(frozen=True)
class JudgePrices:
    """An LLM judge's metric, and the prices of one output by the judge and by a person."""

    metric: str
    judge: float
    person: float


def judge_prices(
    pilot: Pilot, judge: str | None, judge_price: float | None, person_price: float | None
) -> JudgePrices | None:
    """Return the judge and the prices, checked; None where no judge is to be weighed."""
    if judge_price is None and person_price is None and judge is None:
        return None
    if judge_price is None or person_price is None:
        raise UsageError(
            "To weigh an LLM judge, give two prices: of one output by the judge, and by a person."
        )
    name = the_only("metric", judge, pilot.data.metrics, "Name the one that is the judge's: judge=….")
    if pilot.saving is None:
        raise MissingDataError("What an LLM judge saves is learned from a pilot of at least 30 judged items.")
    return JudgePrices(name, judge_price, person_price)


def judge_or_people(outlook: Outlook, budget: int, prices: JudgePrices) -> JudgeMix:
    """Return the cheapest mix of judge and people for the precision of a budget.

    What the judge explains beyond the other metrics, ρ² = 1 − (variance left with it)/(left without it), is
    learned from the pilot: of scores, or of differences where these are wanted. The judge's scores are needed
    on the pilot's items only.
    """
    pilot, differences = outlook.pilot, outlook.wanted.for_differences
    without = replace(
        outlook,
        pilot=pilot_without(pilot, prices.metric, outlook.wanted.for_differences, outlook.wanted.seed),
    )
    told = without.detectable if differences else without.half_width
    goal = outlook.detectable(budget) if differences else outlook.half_width(budget)
    with_it, before = (
        pair_total(held.left) if differences else float(np.trace(held.left))
        for held in (pilot, without.pilot)
    )
    return judge_mix(
        fewest_items(told, goal, pilot.size) or pilot.size,
        pilot.size,
        len(pilot.data.models),
        max(0.0, 1.0 - with_it / before) if before > 0 else 0.0,
        judge_price=prices.judge,
        person_price=prices.person,
    )
