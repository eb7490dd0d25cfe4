"""Artificial crowds: a method sees some models, drawn at random, and is measured on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import Method
from sparingly.base.rng import keys_of, seed_list, stream
from sparingly.base.stats.sign_flip import FlipTest as Test
from sparingly.base.summary import html_table
from sparingly.choose.select import as_selector
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.compare import default_shares, full_set, judged_part, method_curve, method_replay
from sparingly.infer.rank.curve import SPA, mean_and_half_width, random_curve, sizes_of
from sparingly.infer.rank.measures import nan_as_none


@dataclass(frozen=True)
class MeanOverCrowds:
    """A mean over crowds, with its 90 % t interval (NaN where there is one crowd only)."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        interval = "" if np.isnan(self.low) else f" ({self.low:.3f} to {self.high:.3f})"
        return f"{self.mean:.3f}{interval}"


@dataclass(frozen=True, eq=False, repr=False)
class CrowdCurve:
    """A method computed on random crowds and measured on the other models, beside random selection.

    The intervals are of means over the crowds that can be drawn from this set: they say what another crowd
    would have done here, not what the method does on another set.
    """

    truth: str
    method: str
    measure: str
    crowds: tuple[tuple[str, ...], ...]  # the models of every crowd
    judged: int  # how many models are left to judge
    shares: tuple[float, ...]  # the shares of the items that are judged
    values: Floats  # the method's agreement with the full set by ``measure``, crowds × shares
    random: Floats  # that of random selection on the same models, crowds × shares

    @property
    def average(self) -> MeanOverCrowds:
        """The method's mean over budgets and crowds."""
        return _mean(self.values.mean(axis=1))

    @property
    def random_average(self) -> MeanOverCrowds:
        """Random selection's mean over budgets and crowds."""
        return _mean(self.random.mean(axis=1))

    @property
    def gain(self) -> MeanOverCrowds:
        """The method's mean minus random's, crowd by crowd: an interval above 0 speaks for the method."""
        return _mean((self.values - self.random).mean(axis=1))

    def __repr__(self) -> str:
        return f"CrowdCurve({self})"

    def __str__(self) -> str:
        """Return the outcome in one line."""
        several = len(self.crowds) > 1
        count = f"{len(self.crowds)} random crowd{'s' if several else ''}"
        return (
            f"{self.method} on {count} of {len(self.crowds[0])}, {self.measure} by {self.truth} on the other "
            f"{self.judged} models: {self.average} against {self.random_average} for random; "
            f"gain {self.gain}{', 90 % intervals' if several else ''}"
        )

    def _repr_html_(self) -> str:
        columns = ("share", self.method, "low", "high", "random", "low", "high")
        parts = (np.array(self.shares), *_bounds(self.values), *_bounds(self.random))
        rows = [tuple(map(float, row)) for row in zip(*parts, strict=True)]
        return html_table(columns, rows, f"{self.measure} by {self.truth}", str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values: a number that is not defined is None."""
        return {
            "truth": self.truth,
            "method": self.method,
            "measure": self.measure,
            "crowds": [list(names) for names in self.crowds],
            "judged": self.judged,
            "shares": list(self.shares),
            "curve": nan_as_none(dict(zip(("values", "low", "high"), _bounds(self.values), strict=True))),
            "random": nan_as_none(dict(zip(("values", "low", "high"), _bounds(self.random), strict=True))),
            "average": nan_as_none(asdict(self.average)),
            "random_average": nan_as_none(asdict(self.random_average)),
            "gain": nan_as_none(asdict(self.gain)),
        }


def crowd(
    data: EvalSet,
    method: str | Method,
    truth: str,
    *,
    size: int = 4,
    runs: int = 10,
    draws: int = 10,
    shares: Sequence[float] | None = None,
    measure: str = SPA,
    seed: int = 0,
    flips: int = 1000,
    test: Test = "auto",
) -> CrowdCurve:
    """Compute a method on random crowds of models and measure it on the others (Zouhar et al. 2025, Table 4).

    U(x, M′) ≈ U(x, M) (eq. 11): every run draws ``size`` models M′, shows the method nothing of the others,
    and compares the ranking of the others on what it chooses with their ranking on all items, for every share
    (5 to 50 % by default). Random selection is the mean of ``draws`` draws for the same models. Where the
    gain is not above 0, outputs of some models are no reason to leave random selection.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> tried = crowd(data, "metric_var:metric=chrF", "mqm", size=3, runs=4)
        >>> len(tried.crowds), tried.judged
        (4, 3)
    """
    part, _ = judged_part(data, truth)
    models = len(part.models)
    if models < 3:
        raise DataError(
            f"A crowd and two models to judge need three models, and only {models} have scores by {truth}."
        )
    if not 1 <= size <= models - 2:
        raise UsageError(
            f"A crowd of the {models} models has 1 to {models - 2} of them, so that two are left to judge, "
            f"not {size}."
        )
    for name, count in (("crowd", runs), ("random draw", draws)):
        if count < 1:
            raise UsageError(f"At least one {name} is needed, not {count}.")
    shares = tuple(default_shares(len(part)) if shares is None else shares)
    crowds, values, random = [], [], []
    for run in seed_list(seed, runs, "crowds"):
        # The crowd depends on the models' names and the seed only.
        order = np.argsort(stream(keys_of(part.models), run, "crowd"), kind="stable")
        crowds.append(tuple(sorted(part.models[column] for column in order[:size])))
        replay = method_replay(part, truth, crowds[-1])
        reference = full_set(replay.part, truth, seed=seed, flips=flips, test=test)
        sizes = sizes_of(shares, len(reference))
        values.append(method_curve(replay, reference, method, sizes, measure, run).values)
        random.append(random_curve(reference, sizes, seed_list(run, draws, "random curve"), measure).values)
    return CrowdCurve(
        truth,
        str(as_selector(method)),
        measure,
        tuple(crowds),
        models - size,
        shares,
        np.stack(values),
        np.stack(random),
    )


def _mean(runs: Floats) -> MeanOverCrowds:
    return MeanOverCrowds(*(float(bound) for bound in _bounds(runs)))


def _bounds(runs: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean over runs, and the low and the high end of its t interval."""
    middle, half = mean_and_half_width(runs)
    return middle, middle - half, middle + half
