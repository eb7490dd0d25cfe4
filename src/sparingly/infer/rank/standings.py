"""How methods stand against each other over many settings: first, second, and significantly better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.stats.signed_rank import signed_rank


@dataclass(frozen=True)
class Standing:
    """How a method stands among others over many settings.

    Attributes:
        method: The method.
        first: Share of settings in which no other method is better.
        first_or_second: Share of settings in which at most one is better.
        mean: Its mean over the settings.
        p_better: One-sided Wilcoxon p-value, over settings, that it is better than the reference method.
    """

    method: str
    first: float
    first_or_second: float
    mean: float
    p_better: float


def standings(methods: Sequence[str], scores: Floats, reference: str) -> list[Standing]:
    """Compare methods over settings (settings x methods, higher is better), as Ruan et al. (2024) do.

    A setting is an evaluation set with an aspect and a budget. Ties share a place. The Wilcoxon test pairs
    a method with the reference over the settings.
    """
    if reference not in methods:
        raise UnknownNameError("method", reference, methods)
    if scores.ndim != 2 or scores.shape[1] != len(methods) or not len(scores):
        raise UsageError(f"Standings need settings x {len(methods)} methods, not the shape {scores.shape}.")
    better = (scores[:, None, :] > scores[:, :, None] + 1e-12).sum(axis=2)
    base = scores[:, list(methods).index(reference)]
    tests = signed_rank(scores - base[:, None], alternative="greater")
    return [
        Standing(
            name,
            float((better[:, place] == 0).mean()),
            float((better[:, place] <= 1).mean()),
            float(scores[:, place].mean()),
            float(tests.p[place]),
        )
        for place, name in enumerate(methods)
    ]
