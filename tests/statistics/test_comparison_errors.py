"""Intervals of Bradley–Terry strengths hold as often as they say, also where comparisons share an item."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences
from sparingly.infer.estimate.bradley_terry import bradley_terry, win_chances

pytestmark = pytest.mark.statistics

STRENGTHS = np.array([0.8, 0.3, 0.0, -0.3, -0.8])
LOG_TIES = -0.5
RUNS, ITEMS, LEVEL = 250, 60, 0.95


def compared(items: int, shared: float, random: np.random.Generator) -> EvalSet:
    """Compare all pairs on every item; ``shared`` is how far an item favours models by itself."""
    first, second = np.triu_indices(len(STRENGTHS), 1)
    taste = shared * random.normal(size=(items, len(STRENGTHS)))
    lead = (STRENGTHS + taste)[:, first] - (STRENGTHS + taste)[:, second]
    win, tie = win_chances(lead, LOG_TIES)
    draw = random.random(lead.shape)
    value = np.where(draw < win, 1.0, np.where(draw < win + tie, 0.0, -1.0)).ravel()
    count = len(value)
    table = Preferences(
        item=np.repeat(np.arange(items, dtype=np.int32), len(first)),
        first=np.tile(first, items).astype(np.int32),
        second=np.tile(second, items).astype(np.int32),
        value=value,
        rater=np.full(count, -1, np.int32),
        aspect=np.zeros(count, np.int32),
        seconds=np.full(count, np.nan),
        aspects=("good",),
    )
    return EvalSet.from_arrays([f"i{place:05d}" for place in range(items)], list("abcde"), preferences=table)


def truth(shared: float) -> Floats:
    """Return what very many items say; where these favour models, strengths are drawn together."""
    if shared == 0.0:
        return STRENGTHS
    return bradley_terry(compared(20_000, shared, np.random.default_rng(99))).strengths


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_strengths_lie_within_their_intervals(shared: float) -> None:
    random, right = np.random.default_rng(7), truth(shared)
    held = np.zeros(len(STRENGTHS))
    for _ in range(RUNS):
        found = bradley_terry(compared(ITEMS, shared, random), level=LEVEL)
        held += (found.low <= right) & (right <= found.high)
    # Five strengths of a run are not independent: as many runs as one model has.
    slack = 3 * np.sqrt(LEVEL * (1 - LEVEL) / RUNS)
    assert LEVEL - 0.02 - slack <= held.mean() / RUNS <= LEVEL + slack
