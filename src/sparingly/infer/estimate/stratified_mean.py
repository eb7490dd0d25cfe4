"""``stratified_mean``: the means of strata, each counting as many items as the stratum has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError
from sparingly.base.registry import parameter, register
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.base import Estimator
from sparingly.infer.estimate.linear import Linear, difference_form
from sparingly.infer.estimate.sample import Sample, as_codes, group_sums

EMPTY = "{} strata have no drawn item, so the stratified mean is the weighted mean."
NO_STRATA = "the sample was not drawn in strata, so the stratified mean is the weighted mean."


@register("stratified_mean")
@dataclass(frozen=True)
class StratifiedMean(Estimator):
    """The means of the strata, weighted by the number of items in each.

    μ̂_j = Σ_l (N_l/N)·μ̂_lj with μ̂_lj the mean of the judged items of stratum l. The strata are those of the
    draw, or the groups of a column (``by``) for a sample that was drawn without them. Where a stratum of the
    draw has no item, as small ones often have, it is the weighted mean; a stratum without a judgement of some
    model takes the mean of the others. The estimate says so.

    Use it for samples drawn in strata; ``by`` pays when the groups' scores differ.
    """

    reference: ClassVar[str] = "Saldías et al. 2022, eq. 1"

    by: str | None = parameter(None, "a column whose groups are the strata; those of the draw unless given")

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the column of the strata."""
        return frozenset() if self.by is None else frozenset({fields.column(self.by)})

    def linear(self, sample: Sample, data: EvalSet, seed: int) -> Linear:
        """Return the stratified mean with what every item is away from it."""
        codes = self._strata(sample, data)
        if codes is None:
            plain = difference_form(sample)
            return plain if sample.stratum.any() else replace(plain, notes=(NO_STRATA,))
        empty = _empty(sample, codes)
        if self.by is None and empty:
            # Which strata are empty is no accident: small ones often are. Their items differ from the others,
            # whose mean would stand in for them; every item's own chance makes up for it.
            return replace(difference_form(sample), notes=(EMPTY.format(empty),))
        means, stands, notes = _means(sample, codes)
        if self.by is not None:
            fitted = float(len(np.unique(codes[sample.rows])))
            return replace(difference_form(sample, means[codes], parameters=fitted), notes=notes)
        # The draw's own strata: errors are taken within them, joined where one has a single item.
        scores = np.where(sample.judged.any(axis=0), sample.whole_mean(means[codes]), np.nan)
        away = np.where(sample.judged, sample.values - scores, 0.0)
        residual = away * stands[codes[sample.rows]] * sample.share * sample.probability
        fixed = scores - (residual / sample.probability).sum(axis=0) / sample.size
        return Linear(fixed, residual, notes=notes)

    def _strata(self, sample: Sample, data: EvalSet) -> Ints | None:
        """Return the stratum of every item; None where it is not known."""
        if self.by is None:
            return sample.stratum_of
        if self.by not in data.columns:
            raise UnknownNameError("column", self.by, data.columns, "It is the column of the strata.")
        return as_codes(data.columns[self.by], len(data), "strata")


def _empty(sample: Sample, codes: Ints) -> int:
    """Return how many strata have items, but none in the sample."""
    return len(np.setdiff1d(np.unique(codes), np.unique(codes[sample.rows])))


def _means(sample: Sample, codes: Ints) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Return the means of strata × models, how much of each is stood for by an item's share, and notes."""
    drawn, count = codes[sample.rows], int(codes.max()) + 1
    weight = _padded(group_sums(sample.share, drawn), count)
    total = _padded(group_sums(sample.share * sample.values, drawn), count)
    overall = total.sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-300)
    means = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), overall)
    sizes = np.bincount(codes, sample.weights, minlength=count).astype(np.float64)
    stands = np.divide(sizes[:, None], weight, out=np.zeros_like(weight), where=weight > 0)
    # What takes the mean of the others is stood for by all of them.
    unseen = np.where(weight > 0, 0.0, sizes[:, None]).sum(axis=0)
    stands = np.where(weight > 0, stands + unseen / np.maximum(weight.sum(axis=0), 1e-300), 0.0)
    # A model that nobody judged lacks everything, and has no score.
    lost = int((((weight == 0) & (weight.sum(axis=0) > 0)).any(axis=1) & (sizes > 0)).sum())
    said = f"{lost} of {count} strata lack judgements of some model and take the mean of the others."
    return means, stands, (said,) if lost else ()


def _padded(values: Floats, count: int) -> Floats:
    return np.concatenate([values, np.zeros((count - len(values), values.shape[1]))])
