"""The stops: by budget, best model, all pairs, width of intervals, margin, futility, lead in votes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from sparingly.base.arrays import Floats, Mask, ratio
from sparingly.base.checks import check_names
from sparingly.base.errors import UsageError
from sparingly.base.registry import parameter, register
from sparingly.base.stats.pairs import chance_of_lead
from sparingly.infer.rank.pair_tests import pair_errors, pair_tells
from sparingly.run.rounds.stop.base import (
    Progress,
    Stop,
    Stopped,
    TestingStop,
    information,
    pair_names,
    pair_question,
)
from sparingly.run.rounds.stop.sequential import (
    Look,
    SettledPairs,
    Spending,
    Valid,
    critical_value,
    pair_level,
)
from sparingly.run.rounds.strategy import State, item_preferences


@register("budget_spent")
@dataclass(frozen=True)
class BudgetSpent(Stop):
    """Stops when the budget is spent, or the strategy has nothing more to ask.

    outputs asked for = items of the budget × models.

    The plain fixed budget: choose it by ``plan``, and test once, at the end.
    """

    reference: ClassVar[str] = "Cochran 1977, chapter 4"

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when nothing is left."""
        if progress.final or progress.state.left <= 0:
            state = progress.state
            return Stopped(f"the budget is spent: {state.spent} of {state.limit} outputs were drawn.")
        return None


@register("best_settled")
@dataclass(frozen=True, kw_only=True)
class BestSettled(TestingStop):
    """Stops when every model but one is significantly worse than another.

    A model k is out of reach when some μ̂_j − μ̂_k > c·se_jk, with c so that P(a given best model is ever left
    out) ≤ α/2 over all looks (α/(M − 1) two-sided for each comparison of M models). So P(a model is named the
    best while another is better or just as good) ≤ α; with two models this is the two-sided test.

    Use it to pick a model. It needs far fewer labels than ``all_settled``.
    """

    reference: ClassVar[str] = "Hsu 1996, chapter 4; Lan and DeMets 1983; Waudby-Smith et al. 2024"

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when one model is left."""
        pairs = self.settle(progress, "best")
        if pairs is None or int(pairs.candidates.sum()) != 1:
            return None
        best = progress.state.data.models[int(np.argmax(pairs.candidates))]
        return Stopped(f"{best} is the best model, with an error rate of {self.alpha:g}.", best)


@register("all_settled")
@dataclass(frozen=True, kw_only=True)
class AllSettled(TestingStop):
    """Stops when every pair of models is decided.

    A pair is decided when |μ̂_j − μ̂_k| > c·se_jk, c at α over the number of pairs still open (Holm 1979)
    and for all looks, so that P(any pair in the wrong order, or decided though equal) ≤ α. Over this very
    set no two models are equal until everything is judged, so only a wrong order counts there.

    Use it to rank all models. With the target ``population``, equal models are never separated: add a budget
    or ``futility``. With the target ``set``, judging everything decides every pair.
    """

    reference: ClassVar[str] = (
        "Holm 1979; Lan and DeMets 1983; Maurer and Bretz 2013; Waudby-Smith et al. 2024"
    )

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when no pair is open."""
        pairs = self.settle(progress, pair_question("all", self.target))
        if pairs is None or pairs.open.any():
            return None
        return Stopped(f"all pairs of models are decided, with an error rate of {self.alpha:g}.")


@register("width_reached")
@dataclass(frozen=True, kw_only=True)
class WidthReached(TestingStop):
    """Stops when the interval of every model's score is narrower than a width.

    The interval μ̂_j ± c·se_j has c = c(α, looks), so that it holds the score at all looks at once (for each
    model by itself) with probability 1 − α: stopping at a narrow one does not make it false.

    Use it when scores are to be reported to a precision, whatever the ranking.
    """

    reference: ClassVar[str] = "Jennison and Turnbull 1989; Waudby-Smith et al. 2024"

    w: float = parameter(help="the full width that every interval must have at most, in units of the scores")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.w > 0.0:
            raise UsageError(
                f"The width w is a number above zero, in the unit of the scores, not {self.w:g}."
            )

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when the widest interval is narrow enough."""
        looks = [look for look in progress.looks(self.target) if look.tells]
        if not looks or (self.valid == "fixed" and not progress.final):
            return None
        critical = critical_value(looks, self.alpha, self.valid, self.spending)
        errors = np.where(looks[-1].exact, 0.0, np.sqrt(np.diag(looks[-1].covariance)))
        # An error of 0 that is not exact only says that what was judged was all alike.
        doubtful = (errors == 0.0) & ~looks[-1].exact
        if doubtful.any() or not float(2.0 * critical * errors.max()) <= self.w:
            return None
        return Stopped(f"every interval of level {1 - self.alpha:g} is at most {self.w:g} wide.")


@register("margin_settled")
@dataclass(frozen=True, kw_only=True)
class MarginSettled(TestingStop):
    """Stops when differences are shown to lie on one side of a margin.

    The interval of a difference, low = d̂ − c·se to high = d̂ + c·se, holds at all looks at once, each end
    with probability 1 − α. ``non-inferior``: low > −m shows that the model is not worse than the other by m
    or more, high < −m that it is. ``equivalent``: −m < low and high < m shows that two models are equally
    good; low > m or high < −m that they are not, with each end at 1 − α/2, since either end can err.
    Without named models, every pair is to be equivalent or different (0 outside the interval).

    Use it as a release gate: ask for non-inferiority with the margin that users would not notice.
    """

    reference: ClassVar[str] = "Schuirmann 1987; Jennison and Turnbull 1989; Tango 1998"

    margin: float = parameter(help="the margin m, in units of the scores")
    question: Literal["non-inferior", "equivalent"] = parameter("equivalent", "the question")
    model: str | None = parameter(None, "the model that the question is about")
    against: str | None = parameter(None, "the model that it is compared with")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.margin > 0.0:
            raise UsageError(
                f"The margin is a number above zero in the unit of the scores, not {self.margin:g}."
            )
        if (self.model is None) != (self.against is None):
            raise UsageError("A margin is of two models, or of all pairs: give both model= and against=.")
        if self.question == "non-inferior" and self.model is None:
            raise UsageError("Non-inferiority is of one model against another: give model= and against=.")

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when the interval, or every interval, lies on one side."""
        looks = [look for look in progress.looks(self.target) if look.tells]
        if not looks or (self.valid == "fixed" and not progress.final):
            return None
        if self.model is None or self.against is None:
            differ, equivalent = self.differ_or_equivalent(looks)
            pairs = np.triu_indices(len(differ), 1)
            if not (differ | equivalent)[pairs].all():
                return None
            count = int((equivalent & ~differ)[pairs].sum())
            return Stopped(
                f"every pair is decided or equivalent within {self.margin:g} ({count} of {len(pairs[0])} "
                f"are equivalent), with an error rate of {self.alpha:g}."
            )
        models = progress.state.data.models
        check_names("model", (self.model, self.against), models)
        answer = self.answer(looks, models.index(self.model), models.index(self.against))
        if answer is None:
            return None
        sentence = f"{self.model} is {answer} to {self.against} by a margin of {self.margin:g}"
        return Stopped(f"{sentence}, with an error rate of {self.alpha:g}.", answer)

    def answer(self, looks: Sequence[Look], first: int, second: int) -> str | None:
        """Return the answer about two models; None while there is none."""
        difference = float(looks[-1].scores[first] - looks[-1].scores[second])
        # Two one-sided tests at α each are an interval of level 1 − 2α.
        half = float(self._halves(looks, min(2.0 * self.alpha, 0.99))[first, second])
        if self.question == "non-inferior":
            if difference - half > -self.margin:
                return "non-inferior"
            return "inferior" if difference + half < -self.margin else None
        if abs(difference) + half < self.margin:
            return "equivalent"
        # A difference can lie beyond the margin on either side: a two-sided test.
        wider = float(self._halves(looks, self.alpha)[first, second])
        return "not equivalent" if abs(difference) - wider > self.margin else None

    def differ_or_equivalent(self, looks: Sequence[Look]) -> tuple[Mask, Mask]:
        """Return models × models, by intervals that hold for all pairs: which differ, which are the same."""
        last = looks[-1]
        pairs: Mask = ~np.eye(len(last.scores), dtype=bool)
        half = self._halves(looks, pair_level(pairs, self.alpha))
        differences = np.abs(last.scores[:, None] - last.scores)
        return pairs & (differences > half), pairs & (differences + half < self.margin)

    def _halves(self, looks: Sequence[Look], level: float) -> Floats:
        """Return half the width of every difference's interval; infinite where its error tells nothing."""
        last = looks[-1]
        critical = critical_value(looks, level, self.valid, self.spending)
        exact = last.exact[:, None] & last.exact
        errors = np.sqrt(pair_errors(last.covariance) ** 2 + self._extra_variance(last))
        return np.where(exact, 0.0, np.where(pair_tells(last.covariance), critical * errors, np.inf))

    def _extra_variance(self, look: Look) -> Floats:
        """Return by how much the variance of a difference d̂ within the margin is larger on the margin.

        Two-valued scores r apart differ by m on average only if they differ on a share m/r of the items or
        more. So where fewer differ by chance, d̂ is small and so is its error. On the margin (m − |d̂|)/r more
        items differ: (m − |d̂|)(r − m − |d̂|)/n more variance, much as in a score test (Tango 1998).
        """
        differences = np.abs(look.scores[:, None] - look.scores)
        if look.step == 0.0 or look.judged is None:
            return np.zeros_like(differences)
        count = np.maximum(np.minimum(look.judged[:, None], look.judged), 1.0)
        room = np.maximum(self.margin - differences, 0.0)
        return np.asarray(room * np.maximum(look.step - self.margin - differences, 0.0) / count)


@register("futility")
@dataclass(frozen=True, kw_only=True)
class Futility(TestingStop):
    """Stops when what is still open is not likely to be decided by the rest of the budget.

    When the budget is spent, z is normal with mean z·√r and variance r − 1, r = I_end/I_now, so the chance of
    a pair to be settled by then = Φ((|z|√r − c)/√(r − 1)) + Φ((−|z|√r − c)/√(r − 1)) (predictive power under
    a flat prior). It stops when that is below ``chance`` for every open pair.

    Use it beside ``best_settled`` or ``all_settled``, so that equal models do not use up the budget. It
    claims nothing about the pairs left open, so it adds no error.
    """

    reference: ClassVar[str] = "Spiegelhalter, Freedman and Blackburn 1986"

    question: Literal["all", "best"] = parameter("all", "what is to be decided: all pairs, or the best model")
    chance: float = parameter(0.1, "the smallest probability of being decided that is worth continuing for")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.chance < 1.0:
            raise UsageError(f"chance is a probability between 0 and 1, such as 0.1, not {self.chance:g}.")

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when the probability of every open pair is too small."""
        pairs = self.settle(progress, pair_question(self.question, self.target))
        looks = [look for look in progress.looks(self.target) if look.tells]
        if pairs is None or not looks:
            return None
        open_pairs = pairs.open
        if self.question == "best":
            open_pairs = open_pairs & pairs.candidates[:, None] & pairs.candidates
        if not open_pairs.any() or progress.final:
            return None
        smallest_errors = None
        result = progress.estimates(self.target)[-1]
        if self.target == "population" and result.pairs is not None:
            count = len(result.models)
            first, second = np.triu_indices(count, 1)
            deviations = result.pairs.deviations(first, second)
            smallest_errors = np.zeros((count, count))
            smallest_errors[first, second] = smallest_errors[second, first] = deviations
            smallest_errors /= math.sqrt(result.size)
        chances = chance_to_settle(
            looks,
            pairs,
            open_pairs,
            information_at_end(progress.state, self.target),
            self.alpha,
            self.valid,
            smallest_errors,
            spending=self.spending,
        )
        if not float(np.nanmax(np.where(open_pairs, chances, 0.0))) < self.chance:
            return None
        names = pair_names(progress.state.data.models, open_pairs)
        noun = "pair is" if len(names) == 1 else "pairs are"
        return Stopped(f"{len(names)} {noun} not likely to be decided by the rest of the budget.", open=names)


def information_at_end(state: State, target: str) -> float:
    """Return the information when the budget is spent.

    Where not all models go on, the rest of the budget reaches further.
    """
    size = len(state.data)
    judged = state.asked.sum(axis=0)
    # Depths that follow labels are seldom quite the same.
    going = max(int((judged >= 0.9 * judged.max()).sum()), 1)
    deepest = min(size, int(judged.max()) + state.left // going)
    return information(max(state.limit // len(state.data.models), deepest), size, target)


def chance_to_settle(
    looks: Sequence[Look],
    pairs: SettledPairs,
    open_pairs: Mask,
    end: float,
    alpha: float,
    valid: Valid,
    smallest_errors: Floats | None = None,
    *,
    spending: Spending = "obrien_fleming",
) -> Floats:
    """Return for every pair (models × models) the probability that it is settled when the budget is spent.

    ``end`` is the information then, and ``smallest_errors`` are the standard errors that judging everything
    would leave; default: 0.
    """
    from scipy.special import ndtr

    last = looks[-1]
    if math.isinf(end):
        return np.where(open_pairs, 1.0, 0.0)
    level = pairs.level if math.isfinite(pairs.critical) else alpha / max(int(open_pairs.sum()) // 2, 1)
    at_end = replace(last, clock=1.0, information=max(end, last.information))
    critical = critical_value([*looks, at_end], level, valid, spending)
    errors = pair_errors(last.covariance)
    growth = np.full(errors.shape, end / last.information)
    if smallest_errors is not None:
        growth = np.minimum(growth, ratio(errors, smallest_errors, np.inf) ** 2)
    growth = np.maximum(growth, 1.0 + 1e-9)
    z = ratio(np.abs(last.scores[:, None] - last.scores), errors)
    ahead, spread = z * np.sqrt(growth), np.sqrt(growth - 1.0)
    return np.asarray(ndtr((ahead - critical) / spread) + ndtr((-ahead - critical) / spread))


@register("hypergeometric")
@dataclass(frozen=True)
class Hypergeometric(Stop):
    """Stops when k of n votes for one of two models are as unlikely as p by chance: a heuristic.

    sf(k − 1; N, N/2, n) ≤ p, with n judged items, ties among them, and k votes for the model that leads.

    Heuristic: looking again after every round lets the error rate grow beyond p. It is here to compare with;
    ``best_settled`` has an error rate that holds.
    """

    reference: ClassVar[str] = "Ashury Tahan et al. 2024, appendix A.3"
    heuristic: ClassVar[bool] = True

    p: float = parameter(0.2, "the risk: the largest probability of such a lead by chance")
    least: int = parameter(5, "how many judged items there are at least", minimum=1)
    models: tuple[str, ...] = parameter((), "the two models; default: the only two")
    tie: float = parameter(0.0, "how far apart two scores are tied", minimum=0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.p < 1.0:
            raise UsageError(f"In hypergeometric, p is a risk between 0 and 1, not {self.p:g}.")

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when one of the two models leads clearly."""
        state = progress.state
        check_names("model", self.models, state.data.models)
        names = self.models or state.data.models
        if len(names) != 2:
            raise UsageError(
                f"hypergeometric compares two models, not {len(names)}: write hypergeometric:models=[a,b]."
            )
        first, second = names
        preferences = item_preferences(state, (first, second), self.tie)
        preferences = preferences[~np.isnan(preferences)]
        wins = (int((preferences > 0).sum()), int((preferences < 0).sum()))
        if len(preferences) < self.least or wins[0] == wins[1]:
            return None
        chance = float(chance_of_lead(len(state.data), np.array(len(preferences)), np.array(max(wins))))
        if chance > self.p:
            return None
        winner = first if wins[0] > wins[1] else second
        lead = f"{wins[0]} to {wins[1]} of {len(preferences)} judged items"
        reason = f"{lead}; by chance such a lead has probability {chance:.2g}. The rule is a heuristic."
        return Stopped(reason, winner)
