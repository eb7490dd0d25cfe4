"""What the package does by default, drawn many times: items by ``local_pivotal``, scores by ``greg``."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.papers.saldias.cases import Case
from benchmarks.papers.saldias.draws import Draw, Drawn, count_of, sample_of_draw
from benchmarks.papers.saldias.methods import deviations
from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.choose.design.balanced import LocalPivotal
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draws import draw_local_pivotal
from sparingly.choose.design.units import item_units
from sparingly.choose.utility.metric import MetricAvg
from sparingly.infer.estimate.estimators import Greg

OURS, VOUCHED = "ours", "ours, vouched metric"


class Told(NamedTuple):
    """The scores of the systems, and the standard deviations of the judgements behind them."""

    scores: Floats
    deviation: Floats


Method = Callable[[int], Told]


def our_draws(case: Case, share: float, design: LocalPivotal) -> Draw:
    """Return the items that ``select`` draws for a seed, the same for all systems."""
    settled = design.resolve(case.data, Budget.parse(float(share)))
    points = settled.coordinates(case.data)
    sizes = settled.sizes(case.data, item_units(case.data, np.arange(len(case.data)))).of_row
    chances = settled.probabilities(sizes, None, float(count_of(case, share)))
    cells = np.repeat(chances[:, None], case.truth.shape[1], axis=1)

    def draw(seed: int) -> Drawn:
        taken = draw_local_pivotal(chances, points, rng.generator(seed, settled.name))
        return Drawn(np.repeat(taken[:, None], case.truth.shape[1], axis=1), cells)

    return draw


def our_method(case: Case, share: float, metric: str = "") -> Method:
    """Return what the defaults give.

    With ``metric`` the user vouches for one: half of the chances go by it.
    """
    utility = MetricAvg(metric=metric) if metric else None
    draw, estimator = our_draws(case, share, LocalPivotal(utility=utility)), Greg()

    def told(seed: int) -> Told:
        sample = sample_of_draw(case, draw(seed))
        return Told(estimator.linear(sample, case.data, seed).scores(sample), deviations(sample))

    return told
