"""Stability: does the ranking of the models survive another draw of the items?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.format import html_table
from sparingly.base.stats.correlation import average_ranks
from sparingly.infer.rank.means import settled
from sparingly.infer.rank.measures import rank_changes


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
        >>> steady = sparingly.stability(np.array([[9.0, 5.0, 1.0], [8.0, 5.0, 2.0]]), full)
        >>> shaky = sparingly.stability(np.array([[9.0, 5.0, 1.0], [5.0, 8.0, 2.0]]), full)
        >>> over = sparingly.stability_over_sets([steady, shaky])
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
