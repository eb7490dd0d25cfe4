"""``search``: the subset whose ranking of the models is nearest to the full set's, under a proxy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.random import Generator

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError
from sparingly.base.lazy import sparse
from sparingly.base.registry import parameter, register
from sparingly.base.stats.pairs import limit_p_values, pair_differences, soft_pairwise_accuracy
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen, WholeSetSelector, kind_parameter
from sparingly.choose.utility.base import metric_scores, resolve_metric
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.signals.length import LENGTHS

_CELLS = 1 << 22
_DECIMALS = 12


@dataclass(frozen=True, eq=False)
class Subset:
    """Rows in the order in which they were taken, their sums over all pairs, and their agreement."""

    rows: Ints
    sums: Floats  # Σd, then Σd², over the pairs
    accuracy: float


@dataclass(frozen=True, eq=False)
class Search:
    """Extends subsets by the best of many random extensions."""

    terms: Floats  # d and d² of every item for all pairs of models, items × 2·pairs
    p_full: Floats  # the p-values of all items

    @classmethod
    def of_scores(cls, scores: Floats) -> Search:
        """Return a search under scores (items × models); a missing score leaves an item out of its pairs."""
        differences = pair_differences(scores)
        terms = np.hstack([differences, differences**2])
        return cls(terms, limit_p_values(*np.split(terms.sum(axis=0), 2)))

    def run(
        self, candidates: Ints, count: int, *, step: int, draws: int, beam: int, generator: Generator
    ) -> Subset:
        """Return the best subset found: at every step the ``beam`` best are extended ``draws`` times each."""
        states = [Subset(np.empty(0, np.int64), np.zeros(self.terms.shape[1]), 0.0)]
        while len(states[0].rows) < count:
            size = min(step, count - len(states[0].rows))
            distinct: dict[bytes, Subset] = {}
            extended = [self._extensions(state, candidates, size, draws, beam, generator) for state in states]
            for subset in sorted(chain(*extended), key=lambda state: -state.accuracy):
                distinct.setdefault(np.sort(subset.rows).tobytes(), subset)
            states = list(distinct.values())[:beam]
        return states[0]

    def _extensions(
        self, state: Subset, candidates: Ints, size: int, draws: int, beam: int, generator: Generator
    ) -> list[Subset]:
        """Return the ``beam`` best of so many random extensions of a subset, best first."""
        mask = np.zeros(len(self.terms), bool)
        mask[state.rows] = True
        free = candidates[~mask[candidates]]
        best: list[Subset] = []
        block = max(1, _CELLS // max(len(free), self.terms.shape[1]))
        for start in range(0, draws, block):
            extensions = free[distinct_draws(min(block, draws - start), len(free), size, generator)]
            ends = np.arange(0, extensions.size + 1, size)
            members = sparse.csr_array(
                (np.ones(extensions.size), extensions.ravel(), ends), shape=(len(extensions), len(self.terms))
            )
            sums = state.sums + members @ self.terms
            accuracy = soft_pairwise_accuracy(limit_p_values(*np.split(sums, 2, axis=1)), self.p_full)
            # Rounded, so that the last bits of a sum, which differ between machines, choose nothing.
            accuracy = np.round(accuracy, _DECIMALS)
            for place in np.argsort(-accuracy, kind="stable")[:beam]:
                rows = np.concatenate([state.rows, extensions[place]])
                best.append(Subset(rows, sums[place], float(accuracy[place])))
        best.sort(key=lambda state: -state.accuracy)
        return best[:beam]


def distinct_draws(draws: int, pool: int, size: int, generator: Generator) -> Ints:
    """Return random sets (draws × size) of different numbers below ``pool``, all sets equally likely."""
    if size == pool:
        return np.tile(np.arange(pool), (draws, 1))
    if size * size > pool:
        return np.argpartition(generator.random((draws, pool)), size, axis=1)[:, :size]
    # Few of such small sets have a number twice; those are drawn anew as a whole.
    samples = np.sort(generator.integers(0, pool, (draws, size)), axis=1)
    while len(repeats := np.flatnonzero((samples[:, 1:] == samples[:, :-1]).any(axis=1))):
        samples[repeats] = np.sort(generator.integers(0, pool, (len(repeats), size)), axis=1)
    return samples


@register("search")
@dataclass(frozen=True)
class SubsetSearch(WholeSetSelector):
    """Draws many subsets and takes the one that ranks the models most like all items, by a metric.

    Y_{i+1} = Y_i ∪ argmax_{Y⁺} SPA(Y_i ∪ Y⁺), the best of ``n`` random extensions Y⁺ of ``step`` items, until
    the budget is spent (``greedy``); with ``bruteforce`` the best of ``n`` subsets of the whole size; with
    ``beam`` the best few are kept and extended at every step. SPA is soft pairwise accuracy against all
    items, with p-values in the normal limit. The result is for rankings only.

    With a metric as the proxy it was no better than a random sample there, because it fits the noise of the
    metric. With ``oracle`` it shows how good a subset of this size can be, and the selection is marked.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, appendix A, eq. 13"
    needs: ClassVar[tuple[str, ...]] = ("metrics",)

    kind: Literal["greedy", "bruteforce", "beam"] = kind_parameter(  # type: ignore[misc]
        "greedy", "how subsets are searched"
    )
    under: str | None = parameter(None, "the metric; default: the only one there is")
    oracle: bool = parameter(False, "search under judgements instead of a metric, for experiments")
    truth: str | None = parameter(None, "with oracle=true: the aspect; default: the only one there is")
    n: int = parameter(1000, "how many subsets or extensions are drawn", minimum=1)
    step: int = parameter(10, "how many items an extension has", minimum=1)
    beam: int = parameter(5, "with kind=beam: how many subsets go into the next step", minimum=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.oracle and self.under is not None:
            raise UsageError("A search is under a metric or an oracle's: leave out under= or oracle=true.")
        if self.truth is not None and not self.oracle:
            raise UsageError("The parameter truth of search goes with oracle=true; a metric is under=.")

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the metric or aspect."""
        if not self.oracle:
            return replace(self, under=resolve_metric(data, self.under, self.name, "under"))
        if self.truth is None:
            aspect = the_only("aspect", None, data.aspects, f"Name it: {self.name}:truth=…")
            return replace(self, truth=aspect)
        data.truth(self.truth)
        return self

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the metric, or the judgements that the oracle knows."""
        if self.oracle:
            return frozenset(data.truth_fields(self.truth or ""))
        under = self.under or ""
        return frozenset({fields.metric(under) if under in data.metrics else LENGTHS.get(under, under)})

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Search among the candidates for the subset that agrees most with all items."""
        count = self.count(budget, candidates)
        scores = data.truth(self.truth or "") if self.oracle else metric_scores(data, self.under or "")
        if len(data.models) < 2:
            raise DataError(
                f"The method {self.name} compares models, and there are fewer than two: use uniform."
            )
        if np.isnan(scores).all():
            raise DataError(f"No item has a score of {self.truth or self.under}: name another.")
        subset = Search.of_scores(scores).run(
            candidates,
            count,
            step=count if self.kind == "bruteforce" else self.step,
            draws=self.n,
            beam=self.beam if self.kind == "beam" else 1,
            generator=rng.generator(seed, "search"),
        )
        by = self.truth if self.oracle else self.under
        notes = [f"soft pairwise accuracy {subset.accuracy:.4f} against all items by {by}."]
        if self.oracle:
            notes.append(
                f"oracle: chosen with the judgements of {by} themselves, which are not known beforehand."
            )
        return Chosen(rows=subset.rows, reason=f"in the best subset found by {by}", notes=tuple(notes))
