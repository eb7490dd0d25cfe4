"""Stability: does the ranking of the models survive another draw of the items?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.format import html_table
from sparingly.base.registry import Method
from sparingly.base.rng import seed_list
from sparingly.base.stats.correlation import average_ranks
from sparingly.base.stats.signed_rank import signed_rank
from sparingly.choose.crowd import Judge
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import as_selector
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.agreement import FullSet, asked_of, weighed
from sparingly.infer.rank.compare import Replay, full_set, replay
from sparingly.infer.rank.measures import model_means, rank_changes, settled
from sparingly.infer.rank.winners import SuccessRate, pair_margins, subsample, success_of

# Stability: does the ranking of the models survive another draw of the items?.


@dataclass(frozen=True)
class Stability:
    """Repeated draws from one evaluation set.

    Attributes:
        changes: per draw, the number of models whose rank differs from the full set's.
        changed_share: share of draws whose ranking differs from the full set's.
        best: the fewest rank changes of any draw.
        median: the median number of rank changes.
        worst: the most rank changes of any draw.
        differing_pairs: share of pairs of draws whose rankings differ from each other.
        draws_differ: whether the draws do not all give one ranking.
    """

    changes: tuple[int, ...]
    changed_share: float
    best: int
    median: float
    worst: int
    differing_pairs: float
    draws_differ: bool

    def _repr_html_(self) -> str:
        rows = [
            ("draws with another ranking than the full set", f"{self.changed_share:.1%}"),
            ("models with another rank: best draw", self.best),
            ("median draw", self.median),
            ("worst draw", self.worst),
            ("pairs of draws that rank differently", f"{self.differing_pairs:.1%}"),
        ]
        return html_table(("stability", f"{len(self.changes)} draws"), rows)


@dataclass(frozen=True)
class StabilityOverSets:
    """Repeated draws over several evaluation sets (translation directions, aspects).

    Attributes:
        sets: number of evaluation sets.
        best: the fewest sets with a changed ranking in any run (run r: draw r of every set).
        median: the median number of sets with a changed ranking.
        worst: the most sets with a changed ranking in any run.
        differing_share: share of sets whose draws do not all give one ranking.
    """

    sets: int
    best: int
    median: float
    worst: int
    differing_share: float

    def _repr_html_(self) -> str:
        rows = [
            ("sets with a changed ranking: best run", self.best),
            ("median run", self.median),
            ("worst run", self.worst),
            ("sets whose draws do not all give one ranking", f"{self.differing_share:.1%}"),
        ]
        return html_table(("stability", f"{self.sets} sets"), rows)


def stability(subset_means: Floats, full_means: Floats) -> Stability:
    """Compare the rankings of several draws (draws × models) with the full set's and with each other.

    The number to watch is ``worst``: an evaluation is done once, and its draw may be that one. Where models
    have draws of their own, the means are each over the model's own items.
    """
    if subset_means.ndim != 2 or len(subset_means) == 0 or subset_means.shape[1:] != full_means.shape:
        raise UsageError(
            f"Stability needs draws × models and their means, not {subset_means.shape}, {full_means.shape}."
        )
    changes = rank_changes(subset_means, full_means).astype(int)
    ranks = np.nan_to_num(average_ranks(settled(subset_means)), nan=0.0)
    kinds = np.unique(ranks, axis=0, return_counts=True)[1]
    draws = len(subset_means)
    pairs = draws * (draws - 1) / 2
    alike = float((kinds * (kinds - 1) / 2).sum())
    return Stability(
        changes=tuple(int(change) for change in changes),
        changed_share=float((changes > 0).mean()),
        best=int(changes.min()),
        median=float(np.median(changes)),
        worst=int(changes.max()),
        differing_pairs=1.0 - alike / pairs if pairs else 0.0,
        draws_differ=len(kinds) > 1,
    )


def stability_over_sets(sets: Sequence[Stability]) -> StabilityOverSets:
    """Count, run by run, the evaluation sets whose ranking changed; report the best, median and worst run.

    As in Lo and Knowles 2023, where each year's translation directions were drawn 13 times, and as the share
    of data sets whose ranking depends on the draw in Ruan et al. 2024.

    Examples:
        >>> import numpy as np, sparingly
        >>> full = np.array([3.0, 2.0, 1.0])
        >>> steady = stability(np.array([[9.0, 5.0, 1.0], [8.0, 5.0, 2.0]]), full)
        >>> shaky = stability(np.array([[9.0, 5.0, 1.0], [5.0, 8.0, 2.0]]), full)
        >>> over = stability_over_sets([steady, shaky])
        >>> over.best, over.worst, over.differing_share
        (0, 1, 0.5)
    """
    runs = {len(one.changes) for one in sets}
    if len(runs) != 1:
        raise UsageError("Stability over several sets needs at least one set, and as many draws of each.")
    changed = (np.array([one.changes for one in sets]) > 0).sum(axis=0)
    return StabilityOverSets(
        sets=len(sets),
        best=int(changed.min()),
        median=float(np.median(changed)),
        worst=int(changed.max()),
        differing_share=float(np.mean([one.draws_differ for one in sets])),
    )


# The same method drawn again and again: does its ranking hold, and does it find the winners?.


SEPARATE = (
    "models are judged on items of their own: rankings are by each model's own items, winners of pairs by "
    "the items that two models share.",
)


@dataclass(frozen=True)
class Draws:
    """What repeated runs of one method say about the ranking and about the winners of pairs.

    Attributes:
        truth: What the runs are compared by.
        method: The method.
        budget: The budget of every run.
        share: The share of the items that a run is allowed to see.
        stability: How often, and by how much, the ranking differs from the whole set's.
        success: How often the winner of a pair of models is found.
        notes: What to mind.
    """

    truth: str
    method: str
    budget: str
    share: float
    stability: Stability
    success: SuccessRate
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {
            **{name: value for name, value in vars(self).items() if isinstance(value, str | float)},
            "stability": asdict(self.stability),
            "success": {
                name: None if value != value else value for name, value in asdict(self.success).items()
            },
            "notes": list(self.notes),
        }


def draws(
    data: EvalSet,
    method: str | Method,
    budget: int | float | str | Budget,
    truth: str,
    *,
    runs: int = 13,
    share: float = 0.8,
    seed: int = 0,
    tie: float = 0.0,
    crowd: Iterable[str] | None = None,
    judge: Judge = "rest",
) -> Draws:
    """Run a method on ``runs`` random parts of the set, each with its own seed, and compare with the whole.

    A part holds ``share`` of the items, so that methods without randomness differ between runs too
    (Ashury Tahan et al. 2024, section 5); ``share=1`` varies the seed alone (as in the 13 runs of Lo and
    Knowles 2023). A count that is larger than the part takes all of it. Items with unequal probabilities are
    weighed by one over them, and where every model has a draw of its own, its mean is over its own items.
    With a ``crowd`` the method sees these models only, and the models to ``judge`` are compared.
    """
    again = replay(data, truth, crowd, judge)
    full = full_set(again.part, truth)
    amount = Budget.parse(budget)
    seeds = seed_list(seed, runs, "draws")
    if not seeds:
        raise UsageError("Draws need at least one run.")
    drawn = [_run(again, full, method, amount, subsample(full.keys, one, share), one, tie) for one in seeds]
    chosen, part = (np.concatenate([getattr(run, name) for run in drawn]) for name in ("chosen", "part"))
    found = success_of(chosen, part)
    held = stability(np.array([run.means for run in drawn]), full.means)
    notes = SEPARATE if any(run.separate for run in drawn) else ()
    return Draws(truth, str(as_selector(method)), str(amount), share, held, found, notes)


class _Run(NamedTuple):
    """One run: the models' means, and the margins of their pairs on what was chosen and on the whole part."""

    means: Floats
    chosen: Floats
    part: Floats
    separate: bool


def _run(
    again: Replay, full: FullSet, method: str | Method, budget: Budget, rows: Ints, seed: int, tie: float
) -> _Run:
    """Run the method on some rows; every model counts by the items that are asked for of it."""
    too_many = budget.kind == "count" and budget.amount > len(rows)
    selection = again.select(method, Budget("count", len(rows)) if too_many else budget, seed, rows)
    asked = asked_of(selection, again.part, full.values)
    scores = asked.scores(full.values)
    counted = weighed(full, selection, again.part, asked.rows)
    return _Run(
        model_means(scores, counted.weights_of(asked.rows)),
        pair_margins(scores, tie),
        pair_margins(full.values[rows], tie),
        asked.values is not None,
    )


# How methods stand against each other over many settings: first, second, and significantly better.


@dataclass(frozen=True)
class Standing:
    """How a method stands among others over many settings.

    Attributes:
        method: The method.
        first: Share of settings in which no other method is better.
        first_or_second: Share of settings in which at most one is better.
        mean: Its mean over the settings.
        p_better: One-sided Wilcoxon p-value, over settings, that it is better than the reference method.
    """

    method: str
    first: float
    first_or_second: float
    mean: float
    p_better: float


def standings(methods: Sequence[str], scores: Floats, reference: str) -> list[Standing]:
    """Compare methods over settings (settings x methods, higher is better), as Ruan et al. (2024) do.

    A setting is an evaluation set with an aspect and a budget. Ties share a place. The Wilcoxon test pairs
    a method with the reference over the settings.
    """
    if reference not in methods:
        raise UnknownNameError("method", reference, methods)
    if scores.ndim != 2 or scores.shape[1] != len(methods) or not len(scores):
        raise UsageError(f"Standings need settings x {len(methods)} methods, not the shape {scores.shape}.")
    better = (scores[:, None, :] > scores[:, :, None] + 1e-12).sum(axis=2)
    base = scores[:, list(methods).index(reference)]
    tests = signed_rank(scores - base[:, None], alternative="greater")
    return [
        Standing(
            name,
            float((better[:, place] == 0).mean()),
            float((better[:, place] <= 1).mean()),
            float(scores[:, place].mean()),
            float(tests.p[place]),
        )
        for place, name in enumerate(methods)
    ]
