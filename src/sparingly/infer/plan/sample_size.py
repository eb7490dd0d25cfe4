"""How many labels a goal needs, without any data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import starmap
from typing import Any, ClassVar

import numpy as np

from sparingly.base.checks import check_level
from sparingly.base.errors import UsageError, one_line
from sparingly.base.lazy import special, stats
from sparingly.base.stats.pairs import pair_count
from sparingly.base.stats.proportion import TAIL_SHARE, proportion_interval
from sparingly.base.summary import Summary, Tabular
from sparingly.base.syntax import arguments
from sparingly.data.values import PlainFields
from sparingly.infer.estimate.intervals import FEWEST_UNITS
from sparingly.infer.plan.power import fewest_from, items_for, normal_half_width, pair_level

# --- shares and differences as people write them: 60%, 0.6, 0.3sd ---

SD, PERCENT = "sd", "%"


@dataclass(frozen=True)
class Quantity:
    """A number above zero with its unit: none, ``sd`` or ``%``."""

    value: float
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.value:g}{self.unit}"

    @classmethod
    def parse(cls, text: float | str | Quantity) -> Quantity:
        """Read 2.5, "4%" or "0.3sd"."""
        if isinstance(text, Quantity):
            return text
        stripped = str(text).strip()
        unit = next((unit for unit in (SD, PERCENT) if stripped.lower().endswith(unit)), "")
        try:
            value = float(stripped[: len(stripped) - len(unit)])
        except ValueError:
            raise UsageError(one_line(f'"{stripped}" is not a number: write 2.5, 4% or 0.3sd.')) from None
        if not math.isfinite(value) or value <= 0:
            raise UsageError(f"Give a number above zero, not {stripped}.")
        return cls(value, unit)


def parse_share(text: float | str, noun: str) -> float:
    """Return a share between 0 and 1, given as 0.6 or "60%"."""
    quantity = Quantity.parse(text)
    if quantity.unit == PERCENT:
        # By its decimals, so that 4% is 0.04 and not its neighbour.
        value = float(f"{quantity.value!r}e-2") if "e" not in repr(quantity.value) else quantity.value / 100
    else:
        value = quantity.value
    if quantity.unit == SD or not value < 1:
        hint = f": write {quantity.value:g}%" if not quantity.unit and quantity.value <= 100 else ""
        raise UsageError(f"The {noun} lies between 0 and 100 %, not {text}{hint}.")
    return value


def percent_text(value: float, digits: int = 4) -> str:
    """Return a share as a percentage, without needless digits."""
    return f"{100 * value:.{digits}g} %"


def points_text(width: float, digits: int = 4) -> str:
    """Return a half-width of a share in points."""
    amount = f"{100 * width:.{digits}g}"
    return f"{amount} point{'' if amount == '1' else 's'}"


def chance_text(value: float) -> str:
    """Return a simulated probability in whole percent; almost certain is not certain."""
    if 0.995 <= value < 1.0:
        return "over 99 %"
    return "under 1 %" if value < 0.005 else f"{100 * value:.0f} %"


# --- sample_size ---

# Beyond so many comparisons the steps of the binomial distribution no longer matter.
_EXACT_UP_TO = 50_000
# From this share of the outputs on, sampling saves too little to bother.
NEARLY_ALL = 0.8
# Nobody judges more: where a formula asks for it, the goal is out of reach.
MOST_LABELS = 10_000_000


@dataclass(frozen=True)
class Alternative:
    """Another goal in words, and the items, outputs or comparisons that it needs."""

    goal: str
    n: int


@dataclass(frozen=True, repr=False)
class SampleSize(PlainFields, Tabular):
    """The labels that a question needs."""

    rows_key: ClassVar[str] = "alternatives"

    n: int  # items to judge; comparisons for a win rate
    unit: str  # what is counted: ``items`` or ``comparisons``
    answer: str  # the result in one sentence
    goal: str  # the goal in words, as among the ``alternatives``
    alternatives: tuple[Alternative, ...]
    notes: tuple[str, ...]  # what was assumed
    commands: tuple[str, ...]  # what to type next; ``DATA`` stands for the data file

    def __repr__(self) -> str:
        return f"SampleSize({self.answer})"

    def __str__(self) -> str:
        rows = [f"{row.goal:<44} {row.n:>9}" for row in self.alternatives]
        return "\n".join([self.answer, *rows, *self.notes, *self.commands])

    def summary(self) -> Summary:
        """Return how many labels the question needs, what others need, and what to type."""
        rows = tuple(
            (row.goal, f"{row.n:,}{' *' if row.goal == self.goal else '  '}") for row in self.alternatives
        )
        return Summary((self.answer,), ("goal", self.unit), rows, next_steps=self.commands, notes=self.notes)


def sample_size(
    *,
    win_rate: float | str | None = None,
    pass_rate: float | str | None = None,
    width: float | str | None = None,
    detect: str | None = None,
    models: int = 2,
    of: int | None = None,
    level: float = 0.95,
    power: float = 0.8,
) -> SampleSize:
    """Return how many labels a question needs, before there is any data.

    One of four questions. Is a win rate different from 50 %? Smallest n from which on the interval that is
    printed for it excludes 50 % with the power. How exact is a pass rate? Smallest n whose printed interval
    is expected to have the half-width (both mid-p intervals, see ``proportion_interval``). Do the pass rates
    of two models differ by so many points? See ``pass_rate_items``. Do two models
    judged on the same items differ by d standard deviations of their per-item differences? Smallest n from
    which on ``rank`` decides it with the power, for normal scores (see ``decision_power``). With more than
    two models the error rate is divided by the number of pairs, as in the first step of ``rank``; later steps
    decide no fewer.

    Args:
        win_rate: The win rate that is to differ from 50 %: 0.6 or "60%"; ties are left out.
        pass_rate: The pass rate to expect: 0.9 or "90%"; needs ``width`` or ``detect``.
        width: The half-width of its interval: 0.04 or "4%" for ± 4 points.
        detect: The difference between two models in standard deviations, such as "0.3sd"; "5%" beside a pass
            rate.
        models: The number of models that are compared, all pairs.
        of: The size of the set that a pass rate describes; by default it describes inputs like these.
        level: The level of the interval, or 1 minus the error rate of the test.
        power: The probability with which the difference is to be significant.

    Examples:
        >>> import sparingly
        >>> sparingly.sample_size(detect="0.3sd").n
        96
    """
    check_level(level)
    if not 0.0 < power < 1.0:
        raise UsageError(f"The power is a probability between 0 and 1, such as 0.8, not {power:g}.")
    if [win_rate, pass_rate if detect is None else None, detect].count(None) != 2:
        raise UsageError(
            "Without a pilot, ask one question: a win rate (60%), a pass rate with a width (90%, 4%) or a "
            "difference to detect (80%, 5%), or a difference alone (0.3sd)."
        )
    if (pass_rate is None or detect is not None) != (width is None):
        needs_width = pass_rate is not None and detect is None
        extra = "A pass rate needs a width" if needs_width else "A width is for a pass rate alone"
        raise UsageError(
            f"{extra}: for ± 4 points around 90 %, write {arguments({'pass_rate': '90%', 'width': '4%'})}."
        )
    if models < 2:
        raise UsageError(f"A comparison needs at least 2 models, not {models}.")
    if of is not None and of < 1:
        raise UsageError(f"A set has at least one output, not {of}.")
    if of is not None and (pass_rate is None or detect is not None):
        raise UsageError(
            "The size of the set matters for a pass rate only: which model is better is a question about "
            "inputs like these."
        )
    if pass_rate is not None and detect is not None:
        quantity = Quantity.parse(str(detect))
        if quantity.unit == SD:
            raise UsageError(f"With a pass rate, a difference is in points: 5%, not {quantity}.")
        rate, gap = parse_share(pass_rate, "pass rate"), parse_share(str(detect), "difference")
        return _pass_rates(rate, gap, models, level, power)
    if pass_rate is not None and models != 2:
        raise UsageError("A pass rate is that of one model: leave out the number of models.")
    if pass_rate is not None and width is not None:
        return _pass_rate(parse_share(pass_rate, "pass rate"), parse_share(width, "width"), of, level)
    if win_rate is not None:
        return _win_rate(parse_share(win_rate, "win rate"), models, level, power)
    return _difference(Quantity.parse(str(detect)), models, level, power)


# --- a win rate ---


def _win_rate(rate: float, models: int, level: float, power: float) -> SampleSize:
    if rate == 0.5:
        raise UsageError("A win rate of 50 % is not a difference: give another one, such as 60%.")
    alpha = 1.0 - pair_level(models, level)
    n = comparisons_for(rate, alpha, power)
    half = expected_half_width(rate, n, None, level)
    per_pair = "" if models == 2 else f" for each of the {pair_count(models):,} pairs of {models:,} models"
    answer = (
        f"Get {n:,} comparisons{per_pair}: a win rate of {percent_text(rate)} (± {points_text(half, 2)}) "
        f"then differs significantly from 50 % with a probability of about {percent_text(power)}."
    )
    others = (0.5 + (rate - 0.5) / 2, rate, 0.5 + 2 * (rate - 0.5))
    goals = {
        f"win rate {percent_text(other)}": comparisons_for(other, alpha, power)
        for other in others
        if 0.0 < other < 1.0
    }
    sure = _higher_power(power)
    goal = f"win rate {percent_text(rate)}, probability {percent_text(sure)}"
    goals[goal] = comparisons_for(rate, alpha, sure)
    fewer = math.ceil(n / 0.8 - 1e-9)
    return SampleSize(
        n,
        "comparisons",
        answer,
        f"win rate {percent_text(rate)}",
        tuple(starmap(Alternative, goals.items())),
        (
            f"Ties are left out of the win rate: if 20 % are ties, get {fewer:,} comparisons.",
            f"Two-sided binomial test at the {percent_text(1 - level)} level"
            f"{_correction_text(models, level)}, one comparison for each item.",
            "compare prints the win rate with its interval, and whether it is settled.",
        ),
        (f"sparingly campaign new c.db DATA --ask pairs --budget {n}", "sparingly compare c.db"),
    )


def comparisons_for(rate: float, alpha: float, power: float) -> int:
    """Return the fewest comparisons from which on the binomial test has a power.

    The power of an exact test goes up and down with n; from this n on it never falls below.
    """
    reach = stats.norm.isf(alpha / 2) / 2 + stats.norm.ppf(power) * math.sqrt(rate * (1 - rate))
    approximate = max(0.0, reach / abs(rate - 0.5)) ** 2
    if approximate > _EXACT_UP_TO:
        return _in_reach(math.ceil(approximate))
    numbers = np.arange(1, math.ceil(1.3 * approximate) + 60)
    weak = np.flatnonzero(binomial_power(numbers, rate, alpha) < power)
    return max(FEWEST_UNITS, int(numbers[weak[-1]]) + 1 if len(weak) else 1)


def binomial_power(n: Any, rate: float, alpha: float) -> Any:
    """Return the power of the two-sided test of a rate of one half, in the right direction: P(X ≥ c).

    c is the smallest count with P(X > c) + 0.58·P(X = c) ≤ α/2 under one half: from it on, the printed
    interval excludes one half.
    """
    quantile = stats.binom.isf(alpha / 2, n, 0.5)
    tail = stats.binom.sf(quantile, n, 0.5) + TAIL_SHARE * stats.binom.pmf(quantile, n, 0.5)
    critical = np.where(tail <= alpha / 2, quantile, quantile + 1)
    return stats.binom.sf(critical - 1, n, max(rate, 1 - rate))


# --- a pass rate ---


def _pass_rate(rate: float, width: float, of: int | None, level: float) -> SampleSize:
    if width >= 0.5:
        raise UsageError(f"A half-width of {percent_text(width)} says nothing about a rate: ask for less.")
    n = outputs_for(rate, width, of, level)
    outputs = f"{n:,} outputs" if of is None else f"{n:,} of the {of:,} outputs"
    answer = (
        f"Judge {outputs}: a {percent_text(level)} interval of ± {points_text(width)} around a pass rate of "
        f"{percent_text(rate)}."
    )
    if of is not None and n >= NEARLY_ALL * of:
        answer += " That is nearly everything: judge them all, sampling saves too little."
    goals = {
        f"± {points_text(half)} around {percent_text(other)}": outputs_for(other, half, of, level)
        for other, half in ((rate, 2 * width), (rate, width), (rate, width / 2), (0.5, width))
        if half < 0.5
    }
    whom = "inputs like these" if of is None else f"these {of:,} outputs"
    return SampleSize(
        n,
        "outputs",
        answer,
        f"± {points_text(width)} around {percent_text(rate)}",
        tuple(starmap(Alternative, goals.items())),
        (
            f"The rate describes {whom}; the outputs are a random sample; ± is half of the interval.",
            "A judge or metric that agrees with people makes fewer enough: judge 40, then plan with them.",
        ),
        _select(n, "sparingly estimate DATA chosen.json"),
    )


def outputs_for(rate: float, width: float, of: int | None, level: float) -> int:
    """Return the fewest outputs whose interval is expected to have a half-width, or a smaller one."""
    if of is not None and of <= FEWEST_UNITS:
        return of
    largest = MOST_LABELS if of is None else of
    return _in_reach(
        fewest_from(FEWEST_UNITS, lambda n: expected_half_width(rate, n, of, level) <= width, largest)
    )


def expected_half_width(rate: float, n: int, of: int | None, level: float) -> float:
    """Return the mean half-width of the interval over the counts that a sample of n may have."""
    if of is not None and n >= of:
        return 0.0
    size, distribution = (
        (np.inf, stats.binom(n, rate)) if of is None else (of, stats.hypergeom(of, round(rate * of), n))
    )
    middle, reach = float(distribution.mean()), 5.0 * float(distribution.std()) + 2.0
    counts = np.arange(max(0, math.floor(middle - reach)), min(n, math.ceil(middle + reach)) + 1)
    weights = distribution.pmf(counts)
    low, high = proportion_interval(counts, n, size, level)
    return float(weights @ (high - low) / (2.0 * weights.sum()))


# --- a difference of two pass rates ---


def _pass_rates(rate: float, gap: float, models: int, level: float, power: float) -> SampleSize:
    other = rate + gap if rate + gap < 1 else rate - gap
    if not 0 < other < 1:
        raise UsageError(f"From a pass rate of {percent_text(rate)}, {points_text(gap)} leave no other rate.")
    alpha = 1.0 - pair_level(models, level)
    n = pass_rate_items(rate, other, 0.0, alpha, power)
    whom = "both models" if models == 2 else f"all {models:,} models"
    rates, half_agreed = f"{percent_text(rate)} against {percent_text(other)}", 0.5
    goals = {
        f"{rates}, correlation 0.5": pass_rate_items(rate, other, half_agreed, alpha, power),
        rates: n,
        f"{rates}, probability {percent_text(_higher_power(power))}": pass_rate_items(
            rate, other, 0.0, alpha, _higher_power(power)
        ),
    }
    return SampleSize(
        n,
        "items",
        f"Judge {n:,} items with {whom} ({n * models:,} labels): a difference of {points_text(gap)} in pass "
        f"rate ({rates}) is then significant with a probability of about {percent_text(power)}.",
        rates,
        tuple(starmap(Alternative, goals.items())),
        (
            "The models are taken to fail independently. They often fail on the same items, and then fewer "
            "are enough: see the row with a correlation of 0.5.",
            f"The test is McNemar's: two-sided, at the {percent_text(1 - level)} level"
            f"{_correction_text(models, level)}.",
            "A judge or metric that agrees with people makes fewer enough: judge 40, then plan with them.",
        ),
        _select(n, "sparingly rank DATA chosen.json"),
    )


def pass_rate_items(rate: float, other: float, correlation: float, alpha: float, power: float) -> int:
    """Return the items on which two models' pass rates p and q differ significantly with a power.

    n = (z_α √D + z_β √(D − d²))²/d², with d = q − p and D = p(1 − q) + q(1 − p) − 2r√(p(1 − p)q(1 − q)) the
    share of items on which only one of them passes (Connor 1987).
    """
    shared = correlation * math.sqrt(rate * (1 - rate) * other * (1 - other))
    gap = abs(other - rate)
    # No fewer items can differ than the rates do.
    differing = max(rate * (1 - other) + other * (1 - rate) - 2 * shared, gap)
    reach = -special.ndtri(alpha / 2) * math.sqrt(differing) + special.ndtri(power) * math.sqrt(
        max(differing - gap**2, 0.0)
    )
    return _in_reach(max(FEWEST_UNITS, math.ceil((float(reach) / gap) ** 2)))


# --- a difference ---


def _difference(detect: Quantity, models: int, level: float, power: float) -> SampleSize:
    if detect.unit != SD:
        raise UsageError(
            f'Without data a difference is counted in standard deviations: write "{detect.value:g}sd", name '
            f"the pass rate (--pass-rate 80% --detect {detect.value:g}%), or give the data with a pilot."
        )
    effect = detect.value
    goals = {
        f"{other_effect:g} sd": _items(other_effect, models, level, power)
        for other_effect in (effect / 2, effect, 2 * effect)
    }
    n, sure = goals[f"{effect:g} sd"], _higher_power(power)
    goals[f"{effect:g} sd, probability {percent_text(sure)}"] = _items(effect, models, level, sure)
    for count in (5, 10):
        if count != models:
            goals[f"{effect:g} sd, {count} models, all pairs"] = _items(effect, count, level, power)
    whom = "both models" if models == 2 else f"all {models:,} models"
    half = normal_half_width(n, models, level)
    answer = (
        f"Judge {n:,} items with {whom} ({n * models:,} labels): a difference of {effect:g} standard "
        f"deviations (± {half:.2g}) is then significant with a probability of about "
        f"{percent_text(power)}."
    )
    return SampleSize(
        n,
        "items",
        answer,
        f"{effect:g} sd",
        tuple(starmap(Alternative, goals.items())),
        (
            "The standard deviation is that of the differences from item to item. For that of the scores "
            "themselves, multiply the number of items by 2(1 − r), r the correlation of the two models' "
            "scores.",
            f"The test is that of rank: two-sided, at the {percent_text(1 - level)} level"
            f"{_correction_text(models, level)}. Scores are taken to be normal; rare large errors "
            "need more items.",
        ),
        _select(n, "sparingly rank DATA chosen.json"),
    )


def _items(effect: float, models: int, level: float, power: float) -> int:
    return _in_reach(items_for(effect, models, level, power, MOST_LABELS))


# --- shared ---

# Half-widths that people ask for, as digits before a power of ten.
_ROUND = (1.0, 2.0, 3.0, 5.0)


def round_width(width: float) -> float:
    """Return the round number next to a width: 1, 2, 3 or 5 times a power of ten, by ratio."""
    power = 10.0 ** math.floor(math.log10(width))
    candidates = [digit * power * times for times in (1.0, 10.0) for digit in _ROUND]
    best = min(candidates, key=lambda candidate: abs(math.log(candidate / width)))
    return float(f"{best:.3g}")


def _in_reach(n: int | None) -> int:
    if n is None or n > MOST_LABELS:
        raise UsageError(f"That takes more than {MOST_LABELS:,} labels: ask for less.")
    return n


def _higher_power(power: float) -> float:
    return 0.9 if power < 0.9 else 1 - (1 - power) / 2


def _correction_text(models: int, level: float) -> str:
    """Say at which level one of several pairs is tested."""
    if models == 2:
        return ""
    pair_alpha = percent_text(1.0 - pair_level(models, level), 2)
    return f", corrected for all {pair_count(models):,} pairs ({pair_alpha} for each)"


def _select(n: int, then: str) -> tuple[str, ...]:
    return (f"sparingly select DATA --method uniform --budget {n} --out chosen.json", then)
