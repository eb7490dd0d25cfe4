"""Stability: does the ranking of the models survive another draw of the items?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.registry import Method
from sparingly.base.rng import seed_list
from sparingly.base.stats.correlation import average_ranks
from sparingly.base.summary import html_table
from sparingly.choose.crowd import Judge
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import as_selector
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.agreement import selected_cells, selection_weights
from sparingly.infer.rank.compare import full_set, method_replay
from sparingly.infer.rank.measures import model_means, nan_as_none, rank_changes, round_means
from sparingly.infer.rank.winners import SuccessRate, pair_margins, subsample, success_of


@dataclass(frozen=True)
class Stability:
    """Rank changes in repeated draws from one evaluation set, against the ranking of the full set.

    ``changes`` are the numbers of models whose rank differs, by draw; ``best`` to ``worst`` sum them up.
    ``changed_share`` is the share of draws with another ranking, ``differing_pairs`` that of pairs of draws
    whose rankings differ from each other, and ``draws_differ`` whether the draws do not all give one ranking.
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
    ranks = np.nan_to_num(average_ranks(round_means(subset_means)), nan=0.0)
    repeats = np.unique(ranks, axis=0, return_counts=True)[1]
    draws = len(subset_means)
    pairs = draws * (draws - 1) / 2
    equal_pairs = float((repeats * (repeats - 1) / 2).sum())
    return Stability(
        changes=tuple(int(change) for change in changes),
        changed_share=float((changes > 0).mean()),
        best=int(changes.min()),
        median=float(np.median(changes)),
        worst=int(changes.max()),
        differing_pairs=1.0 - equal_pairs / pairs if pairs else 0.0,
        draws_differ=len(repeats) > 1,
    )


SEPARATE = (
    "models are judged on items of their own: rankings are by each model's own items, winners of pairs by "
    "the items that two models share.",
)


@dataclass(frozen=True)
class Draws:
    """How often repeated runs of a method, each on a ``share`` of the items, rank as the whole set does.

    ``stability`` is about the ranking of the models, ``success`` about the winners of pairs.
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
        return dict(nan_as_none(asdict(self)))


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
    replay = method_replay(data, truth, crowd, judge)
    reference = full_set(replay.part, truth)
    amount = Budget.parse(budget)
    seeds = seed_list(seed, runs, "draws")
    if not seeds:
        raise UsageError("Draws need at least one run.")
    means, selected_margins, part_margins, notes = [], [], [], tuple[str, ...]()
    for run in seeds:
        rows = subsample(reference.keys, run, share)
        too_many = amount.kind == "count" and amount.amount > len(rows)
        selection = replay.select(method, Budget("count", len(rows)) if too_many else amount, run, rows)
        cells = selected_cells(selection, replay.part, reference.values)
        # Every model counts by the items on which it is judged.
        scores = cells.scores(reference.values)
        means.append(model_means(scores, selection_weights(selection, replay.part, cells.rows)))
        selected_margins.append(pair_margins(scores, tie))
        part_margins.append(pair_margins(reference.values[rows], tie))
        notes = notes if cells.values is None else SEPARATE
    success = success_of(np.concatenate(selected_margins), np.concatenate(part_margins))
    ranks = stability(np.array(means), reference.means)
    return Draws(truth, str(as_selector(method)), str(amount), share, ranks, success, notes)
