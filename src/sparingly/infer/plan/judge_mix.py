"""People and LLM judges: how to divide the money between them. The one rule of what a judge is worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any

from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.infer.estimate.predictions import FEWEST
from sparingly.infer.plan.outlook import PlanOutlook
from sparingly.infer.plan.pilot import Pilot, pilot_without

HUMAN, JUDGE = "human", "judge"
# Each subset of the judges is learned from anew.
_MOST_JUDGES = 3


@dataclass(frozen=True)
class JudgeMix:
    """The cheapest way to the goal of a plan, and what people alone would cost."""

    judges: tuple[str, ...]  # the judges that are worth their price; empty where people alone are cheapest
    items: int  # how many items people judge
    judged: int  # how many items the judges judge; those of people are among them
    cost: float  # what that costs
    items_alone: int  # how many items people judge without any judge
    cost_alone: float  # what that costs
    size: int  # how many items there are
    models: int  # how many outputs an item has
    # The share of the variance that the judges explain beyond the metrics without a price.
    saving: float = 0.0

    def sentence(self, goal: str) -> str:
        """Return the answer: how many of each, and what it costs."""
        alone = f"{self.items_alone * self.models:,} {_noun(self.items_alone * self.models, 'label')}"
        if not self.judges:
            return f"{goal}: {alone} of people, {_money(self.cost_alone)} in all; no judge saves its price."
        labels, calls = self.items * self.models, self.judged * self.models
        asks = " and ".join(f"{calls:,} {_noun(calls, 'call')} of {judge}" for judge in self.judges)
        scope = "" if self.judged == self.size else f" on {self.judged:,} random items"
        return (
            f"{goal}: {labels:,} {_noun(labels, 'label')} of people and {asks}{scope}, {_money(self.cost)} "
            f"in all; people alone: {alone}, {_money(self.cost_alone)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**vars(self), "judges": list(self.judges)}


def _noun(count: int, singular: str) -> str:
    return singular if count == 1 else f"{singular}s"


def _money(amount: float) -> str:
    return f"{amount:,.2f}".removesuffix(".00")


def divide(
    alone: int, with_judge: int, size: int, *, judge_price: float, human_price: float
) -> tuple[int, int, float]:
    """Return the items of people, those of the judge, and the least cost of the precision of n items.

    People alone need n (``alone``) of N items for it, and k (``with_judge``) where the judge scores all N.
    With m items for the judge and k' ≤ m of them for people the variance is (1 − ρ²)/k' + ρ²/m − 1/N, against
    1/n − 1/N (two-phase sampling; Cochran 1977, section 12.4; ρ² see ``explained``). The cost k'·p + m·j is
    least at k'/m = √((1 − ρ²)j/(ρ²p)), a budget split as in multiple prediction-powered inference. Prices are
    those of an item.
    """
    if not 1 <= with_judge <= alone <= size:
        raise UsageError(
            f"With a judge at most as many items are needed as without, at least 1 and at most {size}: not "
            f"{with_judge} instead of {alone}."
        )
    full_plan = with_judge, size, with_judge * human_price + size * judge_price
    share = explained(alone, with_judge, size)
    if not 0 < share < 1 or judge_price == 0:
        return full_plan
    best = math.sqrt(human_price * (1 - share)) + math.sqrt(judge_price * share)
    judged = min(size, max(alone, math.ceil(alone * math.sqrt(share / judge_price) * best)))
    items, fewest = items_with(share, alone, judged), min(FEWEST, alone)
    if items < fewest:
        # An estimate does not use a judge below so many items of people; fewer of the judge are enough then.
        items, judged = fewest, max(alone, math.ceil(share / (1 / alone - (1 - share) / fewest) - 1e-9))
    part = items, judged, items * human_price + judged * judge_price
    return min(full_plan, part, key=lambda way: way[2])


def explained(alone: int, with_judge: int, size: int) -> float:
    """Return the share of the variance that a judge explains, ρ² = (1/k − 1/n)/(1/k − 1/N)."""
    if with_judge >= alone:
        return 0.0
    return (1 / with_judge - 1 / alone) / (1 / with_judge - 1 / size)


def items_with(share: float, alone: int, judged: int) -> int:
    """Return the items of people that are as precise as n alone, beside a judge of m items.

    k = (1 − ρ²)/(1/n − ρ²/m), with ρ² the share of the variance that the judge explains.
    """
    return max(1, math.ceil((1 - share) / (1 / alone - share / judged) - 1e-9)) if share < 1 else 1


def judge_prices(pilot: Pilot, prices: Mapping[str, float]) -> dict[str, float]:
    """Return the prices of one output, checked: of a person's label, and of each judge by its metric."""
    checked: dict[str, float] = {}
    metrics = list(pilot.data.metrics)
    for name, price in prices.items():
        if not math.isfinite(price) or price < 0:
            raise UsageError(f"The price of {name} is a number of zero or more, not {price:g}.")
        price_name = name
        if name == JUDGE and JUDGE not in metrics:
            # The metric that is called a judge, or the only one.
            candidates = [metric for metric in metrics if JUDGE in metric.lower()]
            candidates = candidates if len(candidates) == 1 else metrics
            price_name = candidates[0] if len(candidates) == 1 else name
        if name != HUMAN and price_name not in metrics:
            raise UnknownNameError("metric", name, metrics, "Give prices as human=0.8 and METRIC=0.01.")
        checked[price_name] = price
    if HUMAN not in checked or len(checked) < 2:
        raise UsageError(
            "Give two prices or more: of a person's label (human=0.8), and of a judge's (judge=0.01)."
        )
    if len(checked) - 1 > _MOST_JUDGES:
        raise UsageError(f"Compare at most {_MOST_JUDGES} judges in one plan.")
    if pilot.saving is None:
        raise MissingDataError(
            f"What a judge saves is learned from a pilot of at least {FEWEST} judged items."
        )
    return checked


def cheapest_mix(outlook: PlanOutlook, prices: Mapping[str, float]) -> tuple[JudgeMix, PlanOutlook]:
    """Return the cheapest mix of people and judges for the goal, and the plan with its judges and no others.

    Metrics without a price are free. How many items people judge with each subset of the judges is planned as
    always: by samples of the pilot, with the intervals that ``estimate`` prints. Judges' scores are needed on
    the pilot's items only.
    """
    pilot, goals = outlook.pilot, outlook.goals
    judges = [name for name in prices if name != HUMAN]
    subsets = list(chain.from_iterable(combinations(judges, count) for count in range(len(judges) + 1)))
    plans: dict[tuple[str, ...], tuple[PlanOutlook, int]] = {}
    for subset in subsets:
        left_out = [name for name in judges if name not in subset]
        view = pilot_without(pilot, left_out, goals.for_differences, goals.seed) if left_out else pilot
        trial = replace(outlook, pilot=view)
        plans[subset] = trial, trial.items_needed() or pilot.size
    alone, models = plans[()][1], pilot.models
    human = prices[HUMAN] * models
    best = JudgeMix((), alone, 0, alone * human, alone, alone * human, pilot.size, models)
    for subset in subsets[1:]:
        price = models * sum(prices[name] for name in subset)
        needed = min(plans[subset][1], alone)
        items, judged, cost = divide(alone, needed, pilot.size, judge_price=price, human_price=human)
        if cost < best.cost:
            saving = explained(alone, needed, pilot.size)
            best = replace(best, judges=subset, items=items, judged=judged, cost=cost, saving=saving)
    return best, plans[best.judges][0]
