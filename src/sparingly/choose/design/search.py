"""``search``: the subset whose ranking of the models is nearest to the full set's, under a proxy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.design.base import Chosen
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.kind import kind_parameter
from sparingly.choose.design.subset_search import Search
from sparingly.choose.design.whole_set import WholeSetSelector
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.signals.length import LENGTHS, length_metric


@register("search")
@dataclass(frozen=True)
class SubsetSearch(WholeSetSelector):
    """Draws many subsets and keeps the one that ranks the models most as all items do, by a metric.

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
    under: str | None = parameter(None, "the metric; the only one there is unless given")
    oracle: bool = parameter(False, "search under judgements instead of a metric, for experiments")
    truth: str | None = parameter(None, "with oracle=true: the aspect; the only one there is unless given")
    n: int = parameter(1000, "how many subsets or extensions are drawn", minimum=1)
    step: int = parameter(10, "how many items an extension has", minimum=1)
    beam: int = parameter(5, "with kind=beam: how many subsets are kept at every step", minimum=1)

    def __post_init__(self) -> None:
        if self.oracle and self.under is not None:
            raise UsageError("A search is under a metric or an oracle's: leave out under= or oracle=true.")
        if self.truth is not None and not self.oracle:
            raise UsageError("The parameter truth of search goes with oracle=true; a metric is under=.")

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Settle which metric or aspect is meant."""
        if self.under in LENGTHS and self.under not in data.metrics:
            return self
        if not self.oracle:
            how = (
                f"Name one: {self.name}:under=…"
                if len(data.metrics)
                else f"The method {self.name} needs one."
            )
            return replace(self, under=the_only("metric", self.under, data.metrics, how))
        if self.truth is None:
            return replace(
                self, truth=the_only("aspect", None, data.aspects, f"Name it: {self.name}:truth=…")
            )
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
        found = Search.of_scores(self._scores(data)).run(
            candidates,
            count,
            step=count if self.kind == "bruteforce" else self.step,
            draws=self.n,
            beam=self.beam if self.kind == "beam" else 1,
            generator=rng.generator(seed, "search"),
        )
        by = self.truth if self.oracle else self.under
        notes = [f"soft pairwise accuracy {found.accuracy:.4f} against all items by {by}."]
        if self.oracle:
            notes.append(
                f"oracle: chosen with the judgements of {by} themselves, which nobody has beforehand."
            )
        return Chosen(rows=found.rows, reason=f"in the best subset found by {by}", notes=tuple(notes))

    def _scores(self, data: EvalSet) -> Floats:
        under = self.under or ""
        if self.oracle:
            scores = data.truth(self.truth or "")
        elif under in LENGTHS and under not in data.metrics:
            scores = length_metric(data, under)
        else:
            scores = data.metrics[under]
        if len(data.models) < 2:
            raise DataError(
                "Searching for a subset that ranks models needs two of them, and there are fewer."
            )
        if np.isnan(scores).all():
            raise DataError(f"No item has a score by {self.truth or self.under}.")
        return scores
