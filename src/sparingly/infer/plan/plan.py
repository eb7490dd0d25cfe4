"""``plan``: what a budget of labels buys, and what to do with it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, compress
from typing import Any, ClassVar

import numpy as np

from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.base.format import counted, decimals_for, error_text
from sparingly.base.progress import tracked
from sparingly.base.summary import Summary, Tabular
from sparingly.base.syntax import argument
from sparingly.choose.auto import AUTO
from sparingly.choose.design.budget import Budget
from sparingly.data import fields
from sparingly.data.describe.judgements import EpochVariance, epoch_variances
from sparingly.data.describe.metrics import Correlation
from sparingly.data.evalset import EvalSet
from sparingly.data.io import DataLike, as_evalset
from sparingly.data.scale import Ends
from sparingly.data.selection import Selection
from sparingly.data.values import plain
from sparingly.infer.estimate.assemble import Target
from sparingly.infer.estimate.estimators import FEWEST
from sparingly.infer.plan.outlook import SURE_OF_WINNER, PlanGoals, PlanOutlook, PlanUnit, Precision
from sparingly.infer.plan.pilot import Pilot, Saving, Unequal, method_text, pilot_of, pilot_without
from sparingly.infer.plan.power import DocumentEffects, pair_deviations
from sparingly.infer.plan.sample_size import (
    NEARLY_ALL,
    SD,
    Quantity,
    chance_text,
    percent_text,
    points_text,
    round_width,
)
from sparingly.signals.cost import FIT, LENGTH, fit_seconds, item_costs

# --- people and LLM judges: how to divide the money between them ---

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


# --- advice ---

PILOT = 40
# Where a plan rounds up, or nothing is printed of fewer items, more is reached than was asked for.
_CLEARLY_LESS = 0.9
# The shares of the variance of people's scores that metrics explained on 20 public sets.
EXPLAINED = (0.04, 0.62)
OPTIMISM = (
    "On 20 public sets, people needed 0.2 to 6 times as many items as such a plan said (median 1.0), and "
    "metrics explained 4 to 62 % of the variance of people's scores."
)
PART_JUDGED = (
    "let the judge score a random part only, make that part the data, and estimate for the population."
)


@dataclass(frozen=True)
class Advice:
    """What to do."""

    # The method for ``sparingly select``, ``auto`` for its default; None where everything is to be judged.
    method: str | None
    estimator: str  # what an estimate from so many items will use, as text
    budget: int  # how many items to judge
    aspect: str | None  # what to estimate; None where nothing was judged yet
    unit: str  # what is drawn
    sentences: tuple[str, ...]  # the recommendation in words, the answer first
    # The command that shows what was planned for, with its options: ``estimate`` for the width of intervals,
    # ``rank`` for differences and for the best model.
    result: tuple[str, ...] = ("estimate",)

    def commands(self, data: str | Sequence[str] = "DATA", selection: str = "chosen.json") -> tuple[str, ...]:
        """Return the commands to type, with the names of the files; the data may be several."""
        aspect = "" if self.aspect is None else f" --aspect {shlex.quote(self.aspect)}"
        data, selection = shlex.join([data] if isinstance(data, str) else data), shlex.quote(selection)
        result, *options = self.result
        aspect = " ".join((aspect, *options))
        if self.method is None:
            return (f"sparingly {result} {data}{aspect}",)
        method = "" if self.method == AUTO else f" --method {shlex.quote(self.method)}"
        unit = " --unit document" if self.unit == "document" else ""
        draw = f"sparingly select {data}{method} --budget {self.budget}{unit} --out {selection}"
        if self.aspect is None:
            return (draw, f"sparingly serve {data} {selection}")
        return (draw, f"sparingly {result} {data} {selection}{aspect}")


def advise(outlook: PlanOutlook, items_needed: int | None, mix: JudgeMix | None = None) -> Advice:
    """Return the recommendation; where there are prices, for the cheapest mix of people and judges."""
    pilot, goals = outlook.pilot, outlook.goals
    if pilot.stands_in:
        return _pilot_first(outlook, items_needed)
    reached = []
    if goals.width is not None:
        reached.append(f"scores are known to ± {_goal_text(goals.width, outlook)}")
    if goals.detect is not None:
        reached.append(
            f"a difference of {_goal_text(goals.detect, outlook)} is significant with a probability of "
            f"about {percent_text(goals.power)}"
        )
    if not reached:
        reached.append(
            f"the best model comes out best with a probability of about {percent_text(SURE_OF_WINNER)}"
        )
    goal, size = f"Then {' and '.join(reached)}", pilot.size
    method, budget, estimator, expected = None, size, "weighted_mean", ""
    if items_needed is None:
        first = _not_enough(outlook)
    elif items_needed >= NEARLY_ALL * size:
        first = (
            f"Judge all {size:,} items: {items_needed:,} are needed, so sampling saves too little. {goal}."
        )
    else:
        alternative = "" if mix is not None else _without_metrics(outlook, items_needed)
        share = f"{100 * items_needed / size:.0f} %{alternative}"
        first = f"Judge {items_needed:,} of the {size:,} items ({share}). {goal}."
        method, budget, expected = AUTO, items_needed, _expected(outlook, items_needed)
        estimator = "greg" if outlook.uses_predictions(budget) else estimator
    answer = "" if mix is None else mix.sentence(_for_goal(outlook))
    sentences = tuple(filter(None, (answer, first, expected, _why(outlook, items_needed))))
    # The command that shows what was planned for.
    result = ("rank", "--target set") if goals.target == "set" else ("rank",)
    if pilot.models < 2 or (goals.width is not None and goals.detect is None):
        result = ("estimate",)
    return Advice(method, estimator, budget, pilot.truth, goals.unit, sentences, result)


def _for_goal(outlook: PlanOutlook) -> str:
    """Return the goal as the beginning of an answer."""
    goals, parts = outlook.goals, []
    if goals.width is not None:
        parts.append(f"± {_goal_text(goals.width, outlook)}")
    if goals.detect is not None:
        power = percent_text(goals.power)
        parts.append(f"a difference of {_goal_text(goals.detect, outlook)} with {power} power")
    return f"For {' and '.join(parts) or 'the best model'}"


def _without_metrics(outlook: PlanOutlook, items_needed: int) -> str:
    """Say how many items the goal takes where the metrics are not used."""
    if not outlook.uses_predictions(items_needed):
        return ""
    pilot = outlook.pilot
    metrics = list(pilot.data.metrics)
    hidden = set(map(fields.metric, metrics))
    view = pilot.data.only(name for name in pilot.data.fields if name not in hidden)
    bare = replace(pilot, data=view, predicted=None, saving=None, residual_spread=pilot.spread)
    count = replace(outlook, pilot=bare).items_needed() or pilot.size
    whose = metrics[0] if len(metrics) == 1 else "the metrics"
    return f"; {count:,} without {whose}"


def _goal_text(goal: float, outlook: PlanOutlook) -> str:
    """Return a half-width or a difference that was asked for: of rates in points."""
    return points_text(goal) if outlook.pilot.values.is_rate else f"{goal:.3g}"


def _expected_text(value: float, outlook: PlanOutlook) -> str:
    """Return a half-width or a difference that is expected: of rates in points."""
    return error_text(value, is_rate=outlook.pilot.values.is_rate)


def _not_enough(outlook: PlanOutlook) -> str:
    """Say what all items together would show."""
    size, goals = outlook.pilot.size, outlook.goals
    # All items give any width and show the winner on this set, so only a difference can be out of reach.
    if goals.detect is None:
        return "There is one model: name the width that its interval should have."
    smallest = outlook.detectable(size)
    if not math.isfinite(smallest):
        return (
            f"All {size} items are too few: with {outlook.pilot.models} models no difference could be "
            "significant, however large. Add items, or compare fewer models."
        )
    return (
        f"All {size} items are too few: judged in full, they show differences of "
        f"{_expected_text(smallest, outlook)}, not of {_goal_text(goals.detect, outlook)}. Add items, or "
        "ask for less."
    )


def _why(outlook: PlanOutlook, items_needed: int | None) -> str:
    """Say what the metrics are worth."""
    saving = outlook.pilot.saving
    if saving is None:
        return ""
    shares = f"The metrics explain {100 * saving.scores:.0f} % of the variance of scores"
    if outlook.pilot.models > 1:
        shares += f" and {100 * saving.differences:.0f} % of that of differences"
    if not outlook.predicts:
        return f"{shares}: too little to help."
    if items_needed is not None and not outlook.uses_predictions(items_needed):
        return f"{shares}, but an estimate does not use them below {FEWEST} {outlook.goals.unit}s."
    return f"{shares}."


def _expected(outlook: PlanOutlook, n: int) -> str:
    """Say what n judged items will show."""
    row = outlook.precision(n)
    hours = "" if row.hours is None else f" Time: {row.hours:.1f} hours."
    if outlook.pilot.models < 2:
        as_wanted = outlook.goals.width is None or row.half_width >= _CLEARLY_LESS * outlook.goals.width
        return hours.strip() if as_wanted else f"Expect ± {_expected_text(row.half_width, outlook)}.{hours}"
    target = "on inputs like these" if outlook.goals.target == "population" else "on this set"
    differences = f"differences of {_expected_text(row.detectable, outlook)} to be significant {target}"
    if math.isnan(row.detectable):
        differences = f"no difference to be significant {target}"
    return (
        f"Expect scores to ± {_expected_text(row.half_width, outlook)}, {differences}, and the best model to "
        f"come out best with a probability of {chance_text(row.right_winner)}.{hours}"
    )


def _pilot_first(outlook: PlanOutlook, items_needed: int | None) -> Advice:
    """Answer roughly, and recommend a pilot: it tells more than any metric."""
    pilot = outlook.pilot
    budget = min(PILOT, pilot.size)
    if budget >= NEARLY_ALL * pilot.size:
        first = f"Judge all {pilot.size:,} items: sampling would save too little."
        return Advice(None, "weighted_mean", pilot.size, None, "item", (first,))
    first = (
        f"Judge a pilot of {budget} random items, then plan again with its ratings: metrics alone do not "
        "show what they are worth."
    )
    rough = (
        f"Until then the table is rough: it takes {pilot.truth} for people's scores, in its unit, and counts "
        "on no help from the other metrics."
    )
    answer: tuple[str, ...] = ()
    if items_needed is not None and (outlook.goals.width, outlook.goals.detect) != (None, None):
        few, many = (items_with(share, items_needed, pilot.size) for share in reversed(EXPLAINED))
        judge = pilot.truth if len(pilot.data.metrics) == 1 else "the metrics"
        answer = (
            f"{_for_goal(outlook)}: people judge about {items_needed} items without {judge}, {few} to {many} "
            "with.",
        )
    return Advice("uniform", "weighted_mean", budget, None, "item", (*answer, first, rough, OPTIMISM))


# --- the plan ---

_HEAD = ("items", "scores ±", "difference", "right winner", "right pairs", "right order", "hours")
_IN_POINTS = ("scores ±", "difference")


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Tabular):
    """What so many judged items would show, and a recommendation.

    Attributes:
        truth: What is planned for: an aspect, or the metric that stands in for people.
        stands_in: Whether a metric stands in for people.
        models: The models.
        n: Judged items of the pilot.
        size: Items of the set.
        wanted: What was asked for.
        is_rate: Whether scores are shares of passes or wins: half-widths and differences are then printed in
            points, as in an estimate.
        correlations: How every metric agrees with people, the best by differences first.
        saving: The share of the variance that predictions from metrics explain; None if it is unknown.
        unequal: What unequal probabilities would do to the variance; None likewise.
        documents: What drawing whole documents would do to the variance; None likewise.
        table: What budgets buy.
        needed: The fewest items for what is wanted (for a sure winner where nothing is); None if all are not
            enough.
        cost: How hours were estimated, as text; None where they were not.
        mix: The cheapest mix of people and judges, where prices were given.
        advice: The recommendation.
        notes: What to mind.
        epochs: The share of variance that is noise between epochs, where outputs are repeated.
    """

    rows_key: ClassVar[str] = "table"

    truth: str
    stands_in: bool
    models: tuple[str, ...]
    n: int
    size: int
    wanted: PlanGoals
    is_rate: bool
    correlations: tuple[Correlation, ...]
    saving: Saving | None
    unequal: Unequal | None
    documents: DocumentEffects | None
    table: tuple[Precision, ...]
    needed: int | None
    cost: str | None
    mix: JudgeMix | None
    advice: Advice
    notes: tuple[str, ...] = ()
    epochs: EpochVariance | None = None

    def __repr__(self) -> str:
        return f"Plan({self.headline})"

    @property
    def headline(self) -> str:
        """What the plan is made from, in one line."""
        size_text = f"{counted(self.size, 'item')} and {counted(len(self.models), 'model')}"
        if self.stands_in:
            return f"Planned from a metric, {self.truth}, for {size_text}."
        return f"Planned from a pilot of {counted(self.n, 'item')}: {self.truth}, {size_text}."

    def __str__(self) -> str:
        """Return the recommendation, the table and the facts."""
        body = [" ".join(f"{cell:>12}" for cell in row).rstrip() for row in (_HEAD, *self._rows())]
        lines = [*self.advice.sentences, self.headline, *body, *self.facts(), *self.advice.commands()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def summary(self) -> Summary:
        """Return how many items to judge, what budgets buy, and what to type."""
        several = len(self.models) > 1
        keep = [True, True, *[several] * 4, any(row.hours is not None for row in self.table)]
        lines = [(f"{row[0]}{' *' if row[0] == str(self.needed) else ''}", *row[1:]) for row in self._rows()]
        rows = tuple(tuple(cell.removesuffix(" points") for cell in compress(row, keep)) for row in lines)
        # That people have judged nothing yet must not be overlooked.
        basis = (self.headline,) if self.stands_in else ()
        return Summary(
            (*self.advice.sentences, *basis),
            tuple(
                f"{name}, points" if self.is_rate and name in _IN_POINTS else name
                for name in compress(_HEAD, keep)
            ),
            rows,
            texts=0,
            next_steps=self.advice.commands(),
            notes=(*self.facts(), *self.notes),
            method=(self.headline,),
        )

    def facts(self) -> tuple[str, ...]:
        """Return what the pilot shows about probabilities, documents and epochs, a sentence each."""
        facts = []
        if self.unequal is not None:
            fact, trial = "Unequal sampling would help too little here; not recommended.", self.unequal.trial
            if self.unequal.earned and trial is not None:
                fact = (
                    f"Unequal sampling would cut the variance to about {chance_text(trial.found)} "
                    f"(± {100 * trial.error:.0f}): {argument('method', method_text(trial))}"
                )
            facts.append(fact)
        if self.documents is not None:
            facts.append(
                f"Whole documents instead of single items: {self.documents.scores:.2f} times as many items "
                f"for the same precision of scores, {self.documents.differences:.2f} times for differences."
            )
        if self.epochs is not None:
            facts.append(str(self.epochs))
        return tuple(facts)

    def _rows(self) -> list[tuple[str, ...]]:
        rows = []
        columns = ((row.half_width for row in self.table), (row.detectable for row in self.table))
        places = [None if (digits := decimals_for(column)) is None else digits + 1 for column in columns]
        for row in self.table:
            # Of one model there is no order.
            chances = (row.right_winner, row.right_pairs, row.right_order)
            rows.append(
                (
                    str(row.n),
                    *(
                        error_text(value, is_rate=self.is_rate, decimals=decimals)
                        for value, decimals in zip((row.half_width, row.detectable), places, strict=True)
                    ),
                    *("-" if len(self.models) < 2 else chance_text(value) for value in chances),
                    "-" if row.hours is None else f"{row.hours:.1f}",
                )
            )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values; what is not known is None."""
        values = plain(self)
        return {**values, "advice": {**values["advice"], "commands": list(self.advice.commands())}}


# --- plan ---

Budgets = Sequence[int | float | str | Budget]
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
# What people can judge does not grow with the set: these come first where the set is large.
COUNTS = (100, 300, 1000, 3000)
_FEWEST_ITEMS = 10
# Goals, and the share of the scale from which on they say nothing.
_WIDTH, _GAP = ("half-width", 0.5), ("difference", 1.0)
_TIMES = {
    LENGTH: "time estimate: 33.7 s per output + 0.15 s per word (Zouhar et al. 2025).",
    FIT: "time estimate: a line fitted to the times of the set's own ratings.",
}


def plan(
    data: DataLike,
    selection: Selection | None = None,
    aspect: str | None = None,
    *,
    budgets: Budgets | None = None,
    width: float | str | None = None,
    detect: float | str | None = None,
    unit: PlanUnit = "item",
    cost: str | None = None,
    prices: Mapping[str, float] | None = None,
    target: Target = "population",
    level: float = 0.95,
    power: float = 0.8,
    scale: Ends | None = None,
    seed: int = 0,
) -> Plan:
    """Return what judging so many items would show, and a recommendation.

    A pilot's ratings show how much scores vary, what the metrics explain of it, and whether unequal
    probabilities help. Without ratings a metric stands in for people.

    Args:
        data: The evaluation set (or its file, or a frame), with the ratings of a pilot or without.
        selection: How the pilot was drawn; default: a uniform sample.
        aspect: What was judged, or a metric that stands in; the only aspect or a typical metric by default.
        budgets: Budgets of the table, as for ``select``: 100, "10%", "8h"; default: shares of the set.
        width: The half-width (±) that intervals of scores are to have; "4%" for rates between 0 and 1.
        detect: The difference between two models that is to be found, in the unit of the scores; "0.3sd" in
            standard deviations of a middle pair's differences from item to item.
        unit: What is drawn: items, or whole documents.
        cost: The seconds of an item: a column, ``fit`` (to the set's own seconds), or ``length`` (Zouhar et
            al. 2025); default: the first of ``cost``, ``fit`` and ``length`` that there is.
        prices: What one output costs: ``{"human": 0.8, "gpt-4o": 0.01}``, judges by their metrics (``judge``
            where only one metric can be meant). The plan is then the cheapest mix of people and judges.
        target: Whether differences on inputs like these (``population``) or on this ``set`` are to be found.
        level: The level of intervals and tests.
        power: The probability of finding the difference.
        scale: The lowest and the highest possible score; default: found in the data.
        seed: Of folds and simulations.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> pilot = sparingly.select(data, "uniform", 60, seed=1)
        >>> sparingly.plan(data, pilot, "mqm", width=0.5).advice.estimator
        'greg'
    """
    data = as_evalset(data)
    wide, gap = (None if goal is None else Quantity.parse(goal) for goal in (width, detect))
    goals, data = PlanGoals(None, None, unit, target, level, power, seed), data.with_scale(aspect, scale)
    pilot = pilot_of(data, selection, aspect, for_differences=wide is None and gap is not None, seed=seed)
    goals = replace(
        goals, width=_goal_in_scores(wide, pilot, _WIDTH), detect=_goal_in_scores(gap, pilot, _GAP)
    )
    checked = None if prices is None else judge_prices(pilot, prices)
    cost, notes = cost if cost is not None else _known_cost(pilot.data), pilot.notes
    if cost is None:
        outlook = PlanOutlook(pilot, goals)
    else:
        outlook = PlanOutlook(pilot, goals, float(item_costs(pilot.data, cost)[0].mean()))
        notes += (_TIMES.get(cost, f'time estimate: the column "{cost}", read as seconds per item.'),)
    if pilot.models < 2 and goals.width is None and goals.detect is None:
        # About half the half-width that the pilot gives, or 100 items.
        half = outlook.half_width(min(100, pilot.size) if pilot.stands_in else pilot.n)
        goals = replace(goals, width=round_width(half / 2) if math.isfinite(half) and half > 0 else None)
        outlook = replace(outlook, goals=goals)
    mix, items_needed = None, outlook.items_needed()
    # A goal that all items do not reach has no price.
    if checked is not None and items_needed is not None:
        mix, outlook = cheapest_mix(outlook, checked)
        pilot, items_needed = outlook.pilot, mix.items
        if mix.judges and mix.judged < mix.size:
            notes += (PART_JUDGED,)
    table = tuple(outlook.precision(n) for n in tracked(_rows(outlook, budgets, items_needed)))
    advice = advise(outlook, items_needed, mix)
    names = ("truth", "stands_in", "n", "size", "correlations", "saving", "unequal", "documents")
    return Plan(
        **{name: getattr(pilot, name) for name in names},
        models=pilot.data.models,
        wanted=goals,
        is_rate=pilot.values.is_rate,
        table=table,
        needed=items_needed,
        cost=cost,
        mix=mix,
        advice=advice,
        notes=notes,
        epochs=next((part for part in epoch_variances(data) if part.score == pilot.truth), None),
    )


def _goal_in_scores(goal: Quantity | None, pilot: Pilot, kind: tuple[str, float]) -> float | None:
    """Return a half-width or a difference in the unit of the scores; refuse one that leaves their scale."""
    if goal is None:
        return None
    value, values = goal.value, pilot.values
    if goal.unit == SD:
        deviations = pair_deviations(pilot.spread)
        value *= float(np.median(deviations)) if len(deviations) else 1.0
    elif goal.unit:
        judged = pilot.sample.scores[pilot.sample.judged]
        if judged.min() < 0 or judged.max() > 1:
            raise UsageError(
                f"{value:g}% is for rates between 0 and 1, and {pilot.truth} goes from {judged.min():g} to "
                f"{judged.max():g}: give a number in its unit."
            )
        value /= 100
    if values.scale is None:
        return value
    noun, limit = kind
    low, high = values.scale
    if value < (limit_value := limit * (high - low)):
        return value
    advice = f"ask for less than {f'{100 * limit_value:g}%' if values.is_rate else f'{limit_value:g}'}"
    if values.is_rate and not goal.unit and goal.value / 100 < limit_value:
        advice = f"write {goal.value:g}%"
    raise UsageError(
        f"A {noun} of {goal} is too large for {pilot.truth}, whose scores lie between {low:g} and {high:g}: "
        f"{advice}."
    )


def _known_cost(data: EvalSet) -> str | None:
    """Return the best source of seconds that the set has; None where there is none."""
    if fields.COST in data.columns and not np.isnan(data.columns[fields.COST]).any():
        return fields.COST
    if data.sources is None or any(text is None for text in data.sources):
        return None
    try:
        fit_seconds(data)
    except MissingDataError:
        return LENGTH
    return FIT


def _rows(outlook: PlanOutlook, budgets: Budgets | None, items_needed: int | None) -> list[int]:
    """Return the numbers of items in the table, ascending: those asked for, and the needed one."""
    size = outlook.pilot.size
    numbers = set() if items_needed is None else {items_needed}
    if budgets is None:
        by_share = {max(1, round(share * size)) for share in SHARES}
        numbers |= {n for n in by_share if n >= min(_FEWEST_ITEMS, size)}
        numbers |= {n for n in COUNTS if n < SHARES[0] * size}
    for budget in map(Budget.parse, budgets or ()):
        if budget.kind != "cost":
            numbers.add(budget.count_of(size))
        elif outlook.seconds:
            numbers.add(int(np.clip(budget.amount // outlook.seconds, 1, size)))
        else:
            raise UsageError(
                f"The budget {budget} needs costs: add {argument('cost', 'length')}, or name a column."
            )
    return sorted(numbers)
