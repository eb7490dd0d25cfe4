"""What the stops that test have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sparingly.base.arrays import Mask
from sparingly.base.levels import check_alpha
from sparingly.base.registry import parameter
from sparingly.run.rounds.stop.base import Progress, Stop
from sparingly.run.rounds.stop.critical import Question
from sparingly.run.rounds.stop.settled import Settled, Valid, settle
from sparingly.run.rounds.stop.spending import Spending


@dataclass(frozen=True, kw_only=True)
class TestingStop(Stop):
    """A stop that tests, with an error rate that holds over all its looks."""

    __test__ = False

    alpha: float = parameter(0.05, "the error rate over all looks and comparisons")
    valid: Valid = parameter(  # noqa: RUF009 - a field
        "group_sequential", "what makes looking often honest: spending, a sequence, or one look at the end"
    )
    spending: Spending = parameter(  # noqa: RUF009 - a field
        "obrien_fleming", "of group_sequential: most of the error at the end, or evenly"
    )
    target: Literal["population", "set"] = parameter(
        "population", "what is settled: inputs like these, or what judging all of this set would say"
    )

    def __post_init__(self) -> None:
        check_alpha(self.alpha)

    def settled(self, progress: Progress, question: Question, **more: Any) -> Settled | None:
        """Return what is settled; None before the first round."""
        looks = progress.looks(self.target)
        if not looks:
            return None
        return settle(
            looks,
            self.alpha,
            self.valid,
            question=question,
            spending=self.spending,
            final=progress.final,
            **more,
        )


def asked_of(question: Literal["all", "best"], target: str) -> Question:
    """Return what is asked of all pairs: of this very set only their order, as no two are equal there."""
    return "order" if question == "all" and target == "set" else question


def pair_names(models: tuple[str, ...], pairs: Mask) -> tuple[tuple[str, str], ...]:
    """Return pairs of models by name, each once."""
    return tuple(
        (models[first], models[second]) for first, second in zip(*np.nonzero(np.triu(pairs)), strict=True)
    )
