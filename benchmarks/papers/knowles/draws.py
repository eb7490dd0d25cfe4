"""Draws of segments, documents and snippets, many of them, and the means of the models over each.

The draws are those that ``sparingly.select`` makes; only digests, signatures and notes are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.rng import seed_list
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import as_selector
from sparingly.data.evalset import EvalSet

# Draws of which best, median and worst are told, as published, and the seed that goes with them.
RUNS, SEED = 13, 13


@dataclass(frozen=True)
class Method:
    """A way to draw: what it is called, its text, and whether plain means are told (as there) or weighted."""

    title: str
    text: str
    weighted: bool = False

    @property
    def name(self) -> str:
        """What the method is called in files."""
        return f"{self.text}|{'weighted' if self.weighted else 'plain'}"


SEGMENTS, DOCUMENTS, FIXED, BUDGETED = (
    f"snippets:kind={kind}" for kind in ("segment", "document", "fixed", "budgeted")
)


def same_for_all(title: str, text: str) -> Method:
    """Return a draw that is the same for all models (the paper's matching subsets)."""
    return Method(f"{title}, one draw for all", text)


def for_each_model(title: str, text: str) -> Method:
    """Return a draw for each model by itself (non-matching subsets)."""
    return Method(f"{title}, a draw for each model", f"{text},matching=false")


def seeds_of(count: int) -> list[int]:
    """Return the seeds of so many draws."""
    return seed_list(SEED, count, "document tables")


class Draw(NamedTuple):
    """Which item is judged for which model (items × models), and the weight of every item's judgement."""

    asked: NDArray[np.bool_]
    weight: Floats


def draws(data: EvalSet, text: str, share: float | int, seeds: list[int]) -> Iterator[Draw]:
    """Draw once for every seed; a budget that the method cannot spend is an error."""
    budget = Budget("share", share) if share < 1 else Budget("count", share)
    chooser = as_selector(text).resolve(data, budget)
    seen = data.only(chooser.reads(data))
    everything = np.arange(len(data))
    columns = {name: place for place, name in enumerate(data.models)}
    for seed in seeds:
        chosen = chooser.choose(seen, budget, everything, seed)
        asked, weight = np.zeros((len(data), len(columns)), bool), np.zeros(len(data))
        if chosen.models is None:
            asked[chosen.rows] = True
        else:
            asked[chosen.rows, [columns[names[0]] for names in chosen.models]] = True
        if chosen.probability is not None:
            weight[chosen.rows] = 1.0 / chosen.probability
        yield Draw(asked, weight)


def can_be_drawn(data: EvalSet, text: str, share: float | int) -> bool:
    """Say whether a method can spend a budget: fixed snippets of a few long documents may be too few."""
    try:
        next(draws(data, text, share, [0]))
    except UsageError:
        return False
    return True


def without_context(text: str) -> str:
    """Return a method without the context that travels with its rows, which decides nothing here."""
    return f"{text},context=0"


def means_of(draw: Draw, values: Floats, *, weighted: bool) -> Floats:
    """Return every model's mean over the items on which it is judged."""
    weight = draw.asked * (draw.weight[:, None] if weighted else 1.0)
    return np.asarray((weight * values).sum(axis=0) / weight.sum(axis=0))
