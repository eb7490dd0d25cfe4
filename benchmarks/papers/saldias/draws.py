"""Many draws of a case, fast: plans are made once, and only the drawing itself is repeated.

Every system has draws of its own, from strata by its own metric scores, as in Saldías et al. 2022, section 3.
The draws are those of the package's selectors; only digests, signatures and notes are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.papers.saldias.cases import Case
from sparingly.base import rng
from sparingly.base.arrays import Floats, Mask
from sparingly.choose.design import stratified as kernels
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.stratified import StrataPlan, Stratified
from sparingly.infer.estimate.sample import JudgedSample


class Drawn(NamedTuple):
    """Which item was drawn for which system, and the chance of it (items × systems)."""

    taken: Mask
    chance: Floats


Draw = Callable[[int], Drawn]


@dataclass(frozen=True)
class Strata:
    """Strata of the published methods: documents, or bins of a system's mean metric.

    Attributes:
        by: ``document`` or ``metrics``.
        allocation: ``proportional`` or ``optimal``.
        rounding: ``random`` or ``published``.
    """

    by: str
    allocation: str = "proportional"
    rounding: str = "random"

    def design(self, metrics: tuple[str, ...]) -> Stratified:
        """Return the selector of the package."""
        named = metrics if "metrics" in (self.by, _spread_of(self.allocation)) else ()
        return Stratified(
            by=self.by,
            allocation=self.allocation,  # type: ignore[arg-type]
            rounding=self.rounding,  # type: ignore[arg-type]
            metrics=named,
        )

    @property
    def by_system(self) -> bool:
        """Whether strata or their sizes depend on the system."""
        return "metrics" in (self.by, _spread_of(self.allocation))


def _spread_of(allocation: str) -> str:
    return "metrics" if allocation == "optimal" else ""


def count_of(case: Case, share: float) -> int:
    """Return how many items a share is."""
    return Budget.parse(float(share)).count_of(len(case.data))


def uniform_draws(case: Case, share: float) -> Draw:
    """Return simple random draws, one for every system."""
    count, shape = count_of(case, share), case.truth.shape
    chance = np.full(shape, count / shape[0])

    def draw(seed: int) -> Drawn:
        order = np.argsort(rng.generator(seed, "uniform", case.name, str(share)).random(shape), axis=0)
        return Drawn(order.argsort(axis=0) < count, chance)

    return draw


def stratified_draws(case: Case, share: float, strata: Strata, metrics: tuple[str, ...]) -> Draw:
    """Return draws in strata, one for every system."""
    budget, count = Budget.parse(float(share)), count_of(case, share)
    plans: list[StrataPlan] = []
    for model in case.data.models:
        if strata.by_system or not plans:
            # Strata go by item means, and those of a single system are its own scores.
            view = case.data.take(models=[model]) if strata.by_system else case.data
            plans.append(strata.design(metrics).resolve(view, budget).plan(view, count))
        else:
            plans.append(plans[0])
    chance = np.column_stack([(plan.expected / plan.strata.sizes)[plan.strata.of_unit] for plan in plans])

    def draw(seed: int) -> Drawn:
        generator = rng.generator(seed, str(strata), case.name, str(share))
        taken = [
            kernels.draw_within(plan.strata, kernels.rounded_at_random(plan.expected, generator), generator)
            for plan in plans
        ]
        return Drawn(np.column_stack(taken), chance)

    return draw


def sample_of_draw(case: Case, drawn: Drawn) -> JudgedSample:
    """Return the sample that estimators get."""
    rows = np.flatnonzero(drawn.taken.any(axis=1))
    chance = drawn.chance[rows]
    return JudgedSample(
        rows=rows,
        scores=np.where(drawn.taken[rows], case.truth[rows], np.nan),
        probability=chance,
        size=len(case.data),
        draw=np.asarray(chance.max(axis=1)),
        unit=np.arange(len(rows)),
        stratum=np.zeros(len(rows), np.int64),
    )
