"""Errors of methods on every simulation of a set, share by share and draw by draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.papers.saldias.cases import Case, Cases
from benchmarks.papers.saldias.draws import Strata, count_of, sample_of_draw
from benchmarks.papers.saldias.methods import (
    BASE,
    Published,
    Variates,
    deviations,
    draws_of,
    published_scores,
)
from sparingly.base.arrays import Floats
from sparingly.infer.estimate.scale import empirical_bernstein, hoeffding_serfling

# The shares of the items over which the paper's figures are averaged.
SHARES = tuple(round(0.05 * step, 2) for step in range(1, 11))


@dataclass(frozen=True, eq=False)
class Errors:
    """Absolute errors and standard deviations of the judgements, shares × draws × simulations."""

    error: Floats
    deviation: Floats

    @classmethod
    def of_nothing(cls, case: Case, shares: Sequence[float], draws: int) -> Errors:
        """Return room for the errors of one case."""
        shape = (len(shares), draws, case.truth.shape[1])
        return cls(np.zeros(shape), np.zeros(shape))

    @classmethod
    def joined(cls, parts: Sequence[Errors]) -> Errors:
        """Return the errors of several cases, one after the other."""
        return cls(
            np.concatenate([part.error for part in parts], axis=2),
            np.concatenate([part.deviation for part in parts], axis=2),
        )


def measured(
    cases: Cases, methods: Mapping[str, Published], shares: Sequence[float], draws: int
) -> dict[str, Errors]:
    """Return the errors |estimate − mean of all judgements| of methods that can share their draws."""
    parts: dict[str, list[Errors]] = {name: [] for name in methods}
    for case in cases.cases:
        for name, errors in _of_case(case, cases, methods, shares, draws).items():
            parts[name].append(errors)
    return {name: Errors.joined(found) for name, found in parts.items()}


def _of_case(
    case: Case, cases: Cases, methods: Mapping[str, Published], shares: Sequence[float], draws: int
) -> dict[str, Errors]:
    first, variates = next(iter(methods.values())), Variates(case, cases)
    made = {name: Errors.of_nothing(case, shares, draws) for name in methods}
    for place, share in enumerate(shares):
        draw = draws_of(case, cases, share, first)
        for number in range(draws):
            sample = sample_of_draw(case, draw(number))
            spread = deviations(sample)
            for name, method in methods.items():
                scores = published_scores(method, sample, variates)
                made[name].error[place, number] = np.abs(scores - case.means)
                made[name].deviation[place, number] = spread
    return made


def groups(methods: Mapping[str, Published]) -> list[list[str]]:
    """Return the names of the methods that can share their draws."""
    found: dict[tuple[Strata | None, str], list[str]] = {}
    for name, method in methods.items():
        own_strata = method.strata is not None and method.strata.by_system
        found.setdefault((method.strata, method.shown if own_strata else ""), []).append(name)
    return list(found.values())


# --- figures made of errors ------------------------------------------------------------------------------


BOUND_SHARES = (0.1, 0.3, 0.5)
# The ranges that the paper chose by looking, for these two directions of translation.
PUBLISHED_RANGES = {"wmt20_ende_notext": 4.0, "wmt23_ende": 4.0, "ted21_ende": 4.0, "wmt23_zhen": 7.0}


@dataclass(frozen=True, eq=False)
class Summary:
    """What the columns of the paper's tables are made of.

    Attributes:
        means: The mean error over draws, shares × simulations.
        spread: The standard deviation of the error between draws, by share, averaged over simulations.
        per_draw: The mean error over shares and simulations, one number per draw.
    """

    means: Floats
    spread: Floats
    per_draw: Floats

    @classmethod
    def of(cls, error: Floats) -> Summary:
        """Return the summary of errors, shares × draws × simulations."""
        return cls(error.mean(axis=1), error.std(axis=1, ddof=1).mean(axis=1), error.mean(axis=(0, 2)))

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Summary:
        """Return a summary from the plain values of ``plain``."""
        return cls(*(np.array(values[name]) for name in ("means", "spread", "per_draw")))

    def plain(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return {name: getattr(self, name).tolist() for name in ("means", "spread", "per_draw")}


def ratio(one: Floats, base: Floats) -> tuple[float, float]:
    """Return the ratio of two mean errors per draw and its standard error, by the delta method over draws.

    r = ā/b̄ with the standard error of (a_d − r·b_d)/b̄ over draws d, which holds for paired and for
    independent draws alike; where there are fewer of one, they are independent.
    """
    value = float(one.mean() / base.mean())
    if len(one) != len(base):
        variance = one.var(ddof=1) / len(one) + value**2 * base.var(ddof=1) / len(base)
        return value, float(np.sqrt(variance) / base.mean())
    return value, float(np.std(one - value * base, ddof=1) / np.sqrt(len(one)) / base.mean())


def interval(value: float, error: float, draws: int) -> dict[str, float]:
    """Return a figure with its 95 % t interval."""
    half = quantile(draws) * error
    return {"ratio": rounded(value), "low": rounded(value - half), "high": rounded(value + half)}


def quantile(draws: int) -> float:
    """Return how many standard errors a 95 % interval reaches."""
    from scipy.special import stdtrit

    return float(stdtrit(draws - 1, 0.975))


def method_figures(name: str, summary: Summary, base: Summary) -> dict[str, Any]:
    """Return the line of a method: the columns of the paper's tables, and the ratio to random's error."""
    return {
        "method": name,
        "error": rounded(summary.means.mean()),
        "sd": rounded(summary.spread.mean()),
        "win": None if name == BASE else rounded((summary.means < base.means).mean()),
        **interval(*ratio(summary.per_draw, base.per_draw), len(summary.per_draw)),
        "by_share": [rounded(value) for value in summary.means.mean(axis=1) / base.means.mean(axis=1)],
    }


def bound_figures(
    cases: Cases, found: Mapping[str, Errors], shares: Sequence[float], methods: Iterable[str]
) -> list[dict[str, Any]]:
    """Return how often the error kept to a bound, by how much it stayed below, and the bound itself."""
    lines = []
    for share in BOUND_SHARES:
        place = list(shares).index(share)
        for name in methods:
            error, deviation = found[name].error[place], found[name].deviation[place]
            for bound, width in _widths(cases, share, deviation).items():
                lines.append(
                    {
                        "share": share,
                        "method": name,
                        "bound": bound,
                        "calibration": rounded((error <= width).mean()),
                        "slack": rounded((width - error).mean()),
                        "width": rounded(width.mean()),
                    }
                )
    return lines


def chosen_range(name: str) -> str:
    """Return what the bound with the paper's range is called."""
    return f"Hoeffding, R = {PUBLISHED_RANGES[name]:g}"


def _widths(cases: Cases, share: float, deviation: Floats) -> dict[str, Floats]:
    """Return the half widths of the bounds, draws × simulations."""
    hoeffding, bernstein = [], []
    start = 0
    for case in cases.cases:
        n, size, systems = count_of(case, share), len(case.data), case.truth.shape[1]
        spread = np.ptp(case.truth, axis=0)
        own = deviation[:, start : start + systems]
        start += systems
        hoeffding.append(np.broadcast_to(spread * hoeffding_serfling(n, size, 1.0), own.shape))
        bernstein.append(empirical_bernstein(own, n, 0.0) + spread * empirical_bernstein(0.0, n, 1.0))
    found = {"Hoeffding": np.concatenate(hoeffding, axis=1), "Bernstein": np.concatenate(bernstein, axis=1)}
    if cases.name in PUBLISHED_RANGES:
        chosen = PUBLISHED_RANGES[cases.name]
        widths = [
            np.full(case.truth.shape[1], hoeffding_serfling(count_of(case, share), len(case.data), chosen))
            for case in cases.cases
        ]
        found[chosen_range(cases.name)] = np.broadcast_to(np.concatenate(widths), deviation.shape)
    return found


def rounded(value: float | np.floating[Any]) -> float:
    """Return a number as it is written into results: the last bits differ between machines."""
    return round(float(value), 5)
