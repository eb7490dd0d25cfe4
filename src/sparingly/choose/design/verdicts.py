"""``verdicts``: what to label to audit a judge, drawn by its verdicts with known probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.errors import DataError
from sparingly.base.registry import parameter, register
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen, WholeSetSelector, chances_note
from sparingly.choose.design.stratified import allocation, draw_within, groups, rounded_at_random
from sparingly.choose.design.units import Groups, random_order
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only

# Outputs of one verdict are cut into so many bands by the judge's score, where it has more than one.
BANDS = 3
# How well the judge is thought to agree with people (tetrachoric).
CORRELATION = 0.7
# No stratum gets less than this part of what a uniform draw would give it.
_LEAST = 0.25
_NO_SCORE = "no score"


@register("verdicts")
@dataclass(frozen=True)
class Verdicts(WholeSetSelector):
    """Draws outputs by a judge's verdict and score, to estimate its error rates most precisely.

    n_h ∝ √a_h. With W_h the share of stratum h among all outputs, v_h its verdict (1 for a pass), p_h its
    share of good outputs, G = Σ W_h p_h and F = 1 − G, the judge's sensitivity is Se = Σ W_h v_h p_h / G and
    its specificity Sp = Σ W_h (1 − v_h)(1 − p_h) / F. Labels of h estimate p_h with variance p_h(1 −
    p_h)/n_h, ∂Se/∂p_h = W_h(v_h − Se)/G and ∂Sp/∂p_h = W_h(Sp − (1 − v_h))/F, so that V(Se) = Σ s_h/n_h and
    V(Sp) = Σ t_h/n_h with s_h = W_h² p_h(1 − p_h)(v_h − Se)²/G² and t_h = W_h² p_h(1 − p_h)(1 − v_h −
    Sp)²/F². Bad outputs are rare, so V(Sp) is much the larger: each is counted relative to what a uniform
    draw gives, a_h = s_h/Σ(s_h/W_h) + t_h/Σ(t_h/W_h), and Σ a_h/n_h is least at n_h ∝ √a_h (Neyman 1934).

    People's labels are not known yet, so p_h is guessed: people and judge pass outputs as if by two normal
    scores that correlate by 0.7, and people pass as many as the judge. A wrong guess costs
    labels; every probability is known, so the pass rate and the error rates stay unbiased.

    Use it where the question is whether a judge can be trusted; for the pass rate alone, ``select`` without a
    method does as well or better.
    """

    kind: ClassVar[str] = "design"
    reference: ClassVar[str] = "Neyman 1934; Rogan and Gladen 1978"
    needs: ClassVar[tuple[str, ...]] = ("metrics",)

    metric: str | None = parameter(None, "the judge's metric; default: the only one there is")
    cut: float | None = parameter(
        None, "the score from which the judge passes; default: above the middle of its scores"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Name the judge."""
        how = "Name the judge: verdicts:metric=…."
        return replace(self, metric=the_only("metric", self.metric, data.metrics, how))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the judge's scores."""
        return frozenset() if self.metric is None else frozenset({fields.metric(self.metric)})

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Draw from every stratum."""
        view = data.at(candidates)
        strata, expected = self.plan(view, self.count(budget, candidates))
        generator = rng.generator(seed, self.name)
        counts = rounded_at_random(expected, generator)
        chosen = np.flatnonzero(draw_within(strata, counts, generator))
        chosen = chosen[random_order(view.keys[chosen], seed)]
        chances = expected / strata.sizes
        parts = ", ".join(
            f"{name} {number:.3g} of {size:.0f}"
            for name, number, size in zip(strata.names, expected, strata.sizes, strict=True)
        )
        return Chosen(
            rows=candidates[chosen],
            probability=chances[strata.of_unit[chosen]],
            stratum=strata.labels[chosen],
            reason="drawn by the judge's verdict",
            notes=(chances_note(chances, "item"), f"by the verdict of {self.metric}: {parts}."),
        )

    def strata_of(self, data: EvalSet, budget: Budget) -> Objects:
        """Return the stratum of every item of a set."""
        return self.plan(data, budget.count_of(len(data)))[0].labels

    def plan(self, data: EvalSet, count: float) -> tuple[Groups, Floats]:
        """Return the strata of a set, and how many items each gives on average."""
        scores = data.metrics[self.metric or ""]
        present = ~np.isnan(scores)
        if not present.any():
            raise DataError(f"{self.metric} has no scores: run the judge before you draw by its verdicts.")
        threshold = self._cut(scores[present])
        passes = np.where(present, scores >= threshold, False)
        scored_models = np.maximum(present.sum(axis=1), 1)
        # Of several models, an item has the mean verdict and the mean score.
        verdict = passes.sum(axis=1) / scored_models
        score = np.where(present, scores, 0.0).sum(axis=1) / scored_models
        scored = present.any(axis=1)
        strata = _strata(verdict, score, scored)
        expected = _good_share(verdict, score, scored, data.keys)
        share = strata.sizes / strata.sizes.sum()
        mean_good, mean_verdict = (
            strata.totals(expected) / strata.sizes,
            strata.totals(verdict) / strata.sizes,
        )
        weights = np.sqrt(_variances(share, mean_verdict, mean_good))
        floor = _LEAST * share * weights.sum()
        return strata, allocation(strata.sizes, np.maximum(weights, floor), count)

    def _cut(self, scores: Floats) -> float:
        if self.cut is not None:
            return self.cut
        above = scores[scores > (scores.min() + scores.max()) / 2.0]
        return float(above.min()) if len(above) else float(scores.max())


def _strata(verdict: Floats, score: Floats, scored: Mask) -> Groups:
    """Return verdicts, cut into bands of nearly equal size by the score; like scores stay together."""
    labels = np.full(len(verdict), _NO_SCORE, object)
    for name, part in (("passed", scored & (verdict > 0.5)), ("failed", scored & (verdict <= 0.5))):
        rows = np.flatnonzero(part)
        if not len(rows):
            continue
        edges = np.unique(np.quantile(score[rows], np.arange(1, BANDS) / BANDS))
        bands = np.searchsorted(edges, score[rows], side="left")
        bands = np.unique(bands, return_inverse=True)[1]
        several = bands.max() > 0
        labels[rows] = [f"{name}, band {band + 1}" if several else name for band in bands]
    return groups(labels)


def _good_share(verdict: Floats, score: Floats, scored: Mask, keys: rng.Keys) -> Floats:
    """Return how likely people are to pass each item, as guessed: Φ((Φ⁻¹(π) + ρ·z)/√(1 − ρ²)).

    z is the normal score of the item's rank by verdict and score, π the judge's share of passes, at most 95 %
    and at least 5 %, so that both kinds are thought of.
    """
    from scipy.special import ndtr, ndtri

    rank = np.empty(len(verdict))
    rank[np.lexsort((keys, score, verdict))] = np.arange(len(verdict))
    middle = np.where(scored, ndtri((rank + 0.5) / len(verdict)), 0.0)
    passes = float(np.clip(verdict[scored].mean(), 0.05, 0.95))
    return np.asarray(ndtr((ndtri(passes) + CORRELATION * middle) / np.sqrt(1.0 - CORRELATION**2)))


def _variances(share: Floats, verdict: Floats, good: Floats) -> Floats:
    """Return a_h, what a label of each stratum tells of sensitivity and specificity (see ``Verdicts``)."""
    passed = float(share @ good)
    sensitivity = float((share * verdict) @ good) / passed
    specificity = float((share * (1.0 - verdict)) @ (1.0 - good)) / (1.0 - passed)
    spread = share**2 * good * (1.0 - good)
    parts = (
        spread * (verdict - sensitivity) ** 2 / passed**2,
        spread * (1.0 - verdict - specificity) ** 2 / (1.0 - passed) ** 2,
    )
    return np.asarray(sum(part / max(float((part / share).sum()), 1e-300) for part in parts))
