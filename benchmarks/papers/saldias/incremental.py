"""Strata whose numbers of items follow the ratings (Saldías et al. 2022, Table 2), replayed system by system.

The rounds are those of the package's strategy ``incremental_strata``; only selections, signatures and notes
are left out. A path of rounds serves all shares: what is judged at 10 % is judged at 15 %, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.saldias.cases import Case, Cases
from benchmarks.papers.saldias.draws import count_of
from benchmarks.papers.saldias.errors import Errors
from sparingly.base.arrays import Floats
from sparingly.base.rng import seed_list
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.stratified import Strata, Stratified
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.published.incremental_strata import IncrementalStrata
from sparingly.run.rounds.strategy import Finished, State

Spread = Literal["ratings", "knn"]
# The paper's names, and where the spread of a document's scores comes from.
INCREMENTAL: dict[str, Spread] = {"docs-incr-metrics": "knn", "docs-incr-human": "ratings"}
_STRATA = "document"
_JUDGED = "judged"


@dataclass(frozen=True, eq=False, kw_only=True)
class Path(State):
    """Where one system stands: what was asked is held as a mask, so that no selection need be made.

    Attributes:
        taken: Which items were judged.
        truth: What the rater says of every item.
        passed: How many rounds there were.
    """

    taken: NDArray[np.bool_]
    truth: Floats
    passed: int

    @property
    def number(self) -> int:
        """The number of the next round, from 1."""
        return self.passed + 1

    @cached_property
    def labels(self) -> Floats:
        """The judgements that came in."""
        return np.where(self.taken, self.truth, np.nan)[:, None]

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        """What was asked for."""
        return self.taken[:, None]


def incremental_errors(cases: Cases, spread: Spread, shares: Sequence[float], draws: int) -> Errors:
    """Return the errors of strata whose sizes follow the ratings, updated at every share."""
    parts = []
    for case in cases.cases:
        made = Errors.of_nothing(case, shares, draws)
        counts = [count_of(case, share) for share in shares]
        for model in range(case.truth.shape[1]):
            view, truth = shown_to(case, cases, model), case.truth[:, model]
            strata = Stratified(by=_STRATA).plan(view, counts[-1]).strata
            seeds = seed_list(0, draws, f"incremental strata, {case.name}, {view.models[0]}")
            for number, seed in enumerate(seeds):
                for place, taken in enumerate(path(view, truth, spread, counts, seed)):
                    score = stratified_mean(truth, taken, strata)
                    made.error[place, number, model] = abs(score - truth.mean())
                    made.deviation[place, number, model] = truth[taken].std()
        parts.append(made)
    return Errors.joined(parts)


def shown_to(case: Case, cases: Cases, model: int) -> EvalSet:
    """Return one system's outputs with the documents and the metrics that the published methods get."""
    seen = {fields.column(_STRATA), *(fields.metric(name) for name in cases.metrics_of("best"))}
    return case.data.take(models=[case.data.models[model]]).only(seen)


def path(
    view: EvalSet, truth: Floats, spread: Spread, counts: Sequence[int], seed: int
) -> Iterator[NDArray[np.bool_]]:
    """Yield which items are judged after every round."""
    strategy = IncrementalStrata(spread=spread, by=_STRATA, rounds=max(2, len(counts)))
    budget, taken = Budget("count", counts[-1]), np.zeros(len(view), bool)
    for passed, upto in enumerate(counts):
        size = upto - int(taken.sum())
        state = Path(view, _JUDGED, (), budget, size, seed, taken=taken, truth=truth, passed=passed)
        # Shares of a small set may be the same number of items.
        picked = strategy.next_round(state) if size else Finished("nothing is asked for.")
        taken = taken.copy()
        if not isinstance(picked, Finished):
            taken[picked.rows] = True
        yield taken


def stratified_mean(truth: Floats, taken: NDArray[np.bool_], strata: Strata) -> float:
    """Return Σ_l N_l·ȳ_l / Σ_l N_l over the strata with a judgement (eq. 1)."""
    count = strata.totals(taken.astype(np.float64))
    total = strata.totals(np.where(taken, truth, 0.0))
    there = count > 0
    sizes = strata.sizes[there]
    return float((sizes * total[there] / count[there]).sum() / sizes.sum())
