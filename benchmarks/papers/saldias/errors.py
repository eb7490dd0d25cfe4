"""Errors of methods on every simulation of a set, share by share and draw by draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.papers.saldias.cases import Case, Cases
from benchmarks.papers.saldias.draws import Strata, sample_of_draw
from benchmarks.papers.saldias.methods import (
    Published,
    Variates,
    deviations,
    draws_of,
    published_scores,
)
from sparingly.base.arrays import Floats

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
