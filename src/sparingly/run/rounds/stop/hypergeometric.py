"""``hypergeometric``: stop when a lead in votes is unlikely by chance, as iterative selection does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.base.stats.pairs import chance_of_lead
from sparingly.run.rounds.diffuse_iterative import outcomes
from sparingly.run.rounds.stop.base import Progress, Stop, Stopped


@register("hypergeometric")
@dataclass(frozen=True)
class Hypergeometric(Stop):
    """Stops when k of n votes for one of two models are as unlikely as p by chance: a heuristic.

    sf(k − 1; N, N/2, n) ≤ p, with n judged items, ties among them, and k votes for the model that leads.

    Heuristic: looking again after every round lets the error rate grow beyond p. It is here to compare with;
    ``best_settled`` has an error rate that holds.
    """

    reference: ClassVar[str] = "Ashury Tahan et al. 2024, appendix A.3"
    heuristic: ClassVar[bool] = True

    p: float = parameter(0.2, "the risk: how unlikely by chance a lead must be")
    least: int = parameter(5, "how many judged items there are at least", minimum=1)
    models: tuple[str, ...] = parameter((), "the two models; the only two unless given")
    tie: float = parameter(0.0, "how far apart two scores are tied", minimum=0.0)

    def __post_init__(self) -> None:
        if not 0.0 < self.p < 1.0:
            raise UsageError(f"In hypergeometric, p is a risk between 0 and 1, not {self.p:g}.")

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when one of the two models leads clearly."""
        state = progress.state
        first, second = self._pair(state.data.models)
        told = outcomes(state, (first, second), self.tie)
        told = told[~np.isnan(told)]
        wins = (int((told > 0).sum()), int((told < 0).sum()))
        if len(told) < self.least or wins[0] == wins[1]:
            return None
        chance = float(chance_of_lead(len(state.data), np.array(len(told)), np.array(max(wins))))
        if chance > self.p:
            return None
        winner = first if wins[0] > wins[1] else second
        lead = f"{wins[0]} to {wins[1]} of {len(told)} judged items"
        said = f"{lead}; by chance a lead like that has {chance:.2g}. The rule is a heuristic."
        return Stopped(said, winner)

    def _pair(self, models: tuple[str, ...]) -> tuple[str, str]:
        for name in self.models:
            if name not in models:
                raise UnknownNameError("model", name, models)
        named = self.models or models
        if len(named) != 2:
            raise UsageError(
                f"hypergeometric compares two models, not {len(named)}: write hypergeometric:models=[a,b]."
            )
        return named[0], named[1]
