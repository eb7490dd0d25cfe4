"""People and an LLM judge: how to divide the money between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.errors import MissingDataError, UsageError
from sparingly.data.evalset import the_only
from sparingly.infer.plan.outlook import PlanOutlook, fewest_items
from sparingly.infer.plan.pilot import Pilot, pilot_without
from sparingly.infer.plan.power import pair_total


@dataclass(frozen=True)
class JudgeMix:
    """What the same precision costs with people alone, and with an LLM judge beside them.

    ``saving`` is the share ρ² of the variance that the judge's scores explain, ``with_judge`` the money for
    the judge on ``judged`` of ``size`` items and for the people who are still needed.
    """

    saving: float
    people_alone: float
    with_judge: float
    items_alone: int
    items_with_judge: int
    judged: int
    size: int

    @property
    def worth_it(self) -> bool:
        """Whether the judge pays for itself."""
        return self.with_judge < self.people_alone

    def __str__(self) -> str:
        if not self.worth_it:
            return (
                f"the judge is not worth its price: people on {self.items_alone} items cost "
                f"{self.people_alone:.2f}, and no mix with the judge costs less"
            )
        judged_text = "everything" if self.judged == self.size else f"{self.judged} random items"
        return (
            f"the judge pays for itself: {self.with_judge:.2f} for the judge on {judged_text} and people on "
            f"{self.items_with_judge} of them, against {self.people_alone:.2f} for people on "
            f"{self.items_alone} items"
        )


def judge_mix(
    n: int, size: int, models: int, saving: float, *, judge_price: float, person_price: float
) -> JudgeMix:
    """Return the cheapest mix of judge and people that is as precise as n items judged by people alone.

    With a share ρ² of the variance explained (``saving``), m items judged by the LLM and k ≤ m of them by
    people have the variance (1 − ρ²)/k + ρ²/m of a score of inputs like these (in units of one item's),
    people alone 1/n. The cost k·p + m·j is least at k/m = √((1 − ρ²)j/(ρ²p)); m is at most the set (Cochran
    1977, section 12.4). Prices are those of one output.
    """
    for name, price in (("judge", judge_price), ("person", person_price)):
        if not math.isfinite(price) or price < 0:
            raise UsageError(f"The price of a {name}'s judgement is a number of zero or more, not {price:g}.")
    if not 0 <= saving <= 1:
        raise UsageError(f"The share of variance that a judge explains lies between 0 and 1, not {saving:g}.")
    if not 1 <= n <= size:
        raise UsageError(f"A plan for {n} of {size} items cannot be made.")
    judged = size
    if judge_price > 0 and saving > 0:
        best = n * math.sqrt(saving / judge_price)
        best *= math.sqrt(person_price * (1 - saving)) + math.sqrt(judge_price * saving)
        judged = min(size, max(n, math.ceil(best)))
    remaining = 1 / n - saving / judged
    people_items = math.ceil((1 - saving) / remaining - 1e-9) if remaining > 0 else judged
    fewer = min(n, judged, max(1, people_items))
    people_cost = n * models * person_price
    mixed_cost = judged * models * judge_price + fewer * models * person_price
    return JudgeMix(saving, people_cost, mixed_cost, n, fewer, judged, size)


# --- a judge's price against what it saves, learned from a pilot ---


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


def judge_or_people(outlook: PlanOutlook, budget: int, prices: JudgePrices) -> JudgeMix:
    """Return the cheapest mix of judge and people for the precision of a budget.

    What the judge explains beyond the other metrics, ρ² = 1 − (variance left with it)/(left without it), is
    learned from the pilot: of scores, or of differences where these are wanted. The judge's scores are needed
    on the pilot's items only.
    """
    pilot, differences = outlook.pilot, outlook.goals.for_differences
    without_judge = replace(
        outlook, pilot=pilot_without(pilot, prices.metric, differences, outlook.goals.seed)
    )
    reached = without_judge.detectable if differences else without_judge.half_width
    goal = outlook.detectable(budget) if differences else outlook.half_width(budget)
    left_with, left_without = (
        pair_total(each_pilot.residual_spread) if differences else float(np.trace(each_pilot.residual_spread))
        for each_pilot in (pilot, without_judge.pilot)
    )
    return judge_mix(
        fewest_items(reached, goal, pilot.size) or pilot.size,
        pilot.size,
        len(pilot.data.models),
        max(0.0, 1.0 - left_with / left_without) if left_without > 0 else 0.0,
        judge_price=prices.judge,
        person_price=prices.person,
    )
