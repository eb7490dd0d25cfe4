"""Published rules that cut a ranked list into groups, by name."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.levels import check_alpha


def last_member_groups(order: Ints, worse: Floats, *, alpha: float = 0.05) -> Ints:
    """Return groups by Zouhar et al. 2025, Algorithm 1: a model opens a group when worse than the one before.

    ``worse[j, k]`` is the one-sided p-value that model j is worse than model k; ``order`` has the models,
    best first. No correction for many tests: a long list of small steps gives more groups than are there.
    """
    return _cut(order, worse, alpha, last_only=True)


def any_member_groups(order: Ints, worse: Floats, *, alpha: float = 0.05) -> Ints:
    """Return groups by mt-metrics-eval's rule: a group opens as soon as any member of the last one is better.

    Models of rank r are not significantly worse than any other of rank r (p ≤ α counts as significant, as
    published). No correction for many tests.
    """
    return _cut(order, worse, alpha, last_only=False)


def _cut(order: Ints, worse: Floats, alpha: float, *, last_only: bool) -> Ints:
    check_alpha(alpha)
    group = np.zeros(len(worse), np.int64)
    members: list[int] = []
    current = 0
    for model in (int(place) for place in order):
        against = members[-1:] if last_only else members
        p = worse[model, against]
        beaten = (p < alpha).any() if last_only else (p <= alpha).any()
        if not members or beaten:
            current, members = current + 1, []
        members.append(model)
        group[model] = current
    return group
