"""How good must a metric be? Each metric's correlation with the truth, and what selecting by it gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sparingly.base.errors import DataError, MissingDataError, UsageError
from sparingly.base.registry import parse_method
from sparingly.base.stats.sign_flip import FlipTest as Test
from sparingly.base.summary import html_table
from sparingly.base.text import format_value, text_value
from sparingly.data.describe.metrics import correlation
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.compare import curve, judged_part
from sparingly.infer.rank.curve import SPA
from sparingly.infer.rank.measures import nan_as_none

_PLACE = "{metric}"


@dataclass(frozen=True)
class MetricQuality:
    """One metric: how it follows the truth, and what a selection by it is worth.

    ``pooled`` is Pearson's correlation with the truth over all outputs, ``differences`` that of differences
    between two models on one item; None where nothing varies. ``average`` is the mean agreement over the
    budgets of the method that uses this metric, ``random`` that of random selection.
    """

    metric: str
    pooled: float | None
    differences: float | None
    average: float
    random: float

    @property
    def gain(self) -> float:
        """By how much selecting by the metric is better than random selection."""
        return self.average - self.random


@dataclass(frozen=True, repr=False)
class MetricQualities:
    """Metrics in the order of their pooled correlation with the truth, the best first."""

    truth: str
    method: str
    measure: str
    metrics: tuple[MetricQuality, ...]

    def __repr__(self) -> str:
        helpful = sum(row.gain > 0 for row in self.metrics)
        return (
            f"MetricQualities({self.measure} by {self.truth}: {helpful} of {len(self.metrics)} metrics "
            f"are better than random under {self.method})"
        )

    def __len__(self) -> int:
        return len(self.metrics)

    def _repr_html_(self) -> str:
        columns = ("metric", "r, pooled", "r, differences", "average", "random", "gain")
        rows = [(*asdict(row).values(), row.gain) for row in self.metrics]
        return html_table(columns, rows, repr(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as plain values."""
        rows = nan_as_none([{**asdict(row), "gain": row.gain} for row in self.metrics])
        return {"truth": self.truth, "method": self.method, "measure": self.measure, "metrics": rows}


def metric_quality(
    data: EvalSet,
    truth: str,
    method: str = "metric_var:metric={metric}",
    *,
    metrics: Sequence[str] | None = None,
    shares: Sequence[float] | None = None,
    measure: str = SPA,
    seed: int = 0,
    runs: int = 20,
    flips: int = 1000,
    test: Test = "auto",
) -> MetricQualities:
    """Return every metric's correlation with the truth and what selecting by it gains over random selection.

    Selection by a metric is worth its effort only when the metric follows people well enough (Zouhar et al.
    2025, Fig. 6): on judged data of the same kind this tells which metrics do, and by how much.

    ``method`` is a method as text, with ``{metric}`` where the metric's name goes. All ``metrics`` are tried
    unless some are named; one that is the truth is left out. The other parameters are those of ``curve``:
    budgets (``shares``), the ``measure`` that is averaged over them, the number of random ``runs``, and the
    sign-flip ``test`` with its ``flips`` and ``seed``.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> found = metric_quality(data, "mqm", runs=5)
        >>> found.metrics[0].metric
        'chrF'
    """
    if _PLACE not in method:
        raise UsageError(f"Write {_PLACE} where the metric's name goes, as in metric_var:metric={_PLACE}.")
    part, _ = judged_part(data, truth)
    if not part.metrics:
        raise MissingDataError("The set has no metrics to examine.")
    names = list(part.metrics if metrics is None else metrics)
    for name in names:
        part.metrics[name]  # an unknown name is an error
    names = [name for name in names if truth not in (name, f"metric:{name}")]
    if not names:
        raise DataError("There is no metric but the truth itself.")
    rows: list[MetricQuality] = []
    for name in names:
        comparison = curve(
            part,
            parse_method(method.replace(_PLACE, format_value(text_value(name)))),
            truth,
            shares=shares,
            measure=measure,
            seed=seed,
            runs=1 if rows else runs,  # random selection does not depend on the metric
            flips=flips,
            test=test,
        )
        truth_r = correlation(part.metrics[name], part.truth(truth))
        random = rows[0].random if rows else comparison.random.average
        average = comparison.curve.average
        rows.append(MetricQuality(name, truth_r.pooled, truth_r.differences, average, random))
    rows.sort(key=lambda row: -np.inf if row.pooled is None else row.pooled, reverse=True)
    return MetricQualities(truth, method, measure, tuple(rows))
