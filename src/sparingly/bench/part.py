"""A data set in a replay, whole or resampled, with everything that its methods share made once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.bench.sets import Judged, SetFile, open_set
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.agreement import FullSet
from sparingly.infer.rank.compare import full_set
from sparingly.signals.cost import SECONDS_PER_ITEM, SECONDS_PER_WORD
from sparingly.signals.length import source_lengths

RESAMPLED = 0.8


@dataclass(frozen=True, eq=False)
class Part:
    """The items of a set on which a method is replayed.

    Attributes:
        judged: The set they belong to.
        data: The items, with all judgements.
    """

    judged: Judged
    data: EvalSet

    @property
    def truth(self) -> str:
        """What replays compare with."""
        return self.judged.truth

    @cached_property
    def seen(self) -> EvalSet:
        """What a method sees before anything is judged."""
        return self.data.without_labels()

    @cached_property
    def full(self) -> FullSet:
        """The outcome of judging everything; its tests are computed once."""
        return full_set(self.data, self.truth)

    @cached_property
    def seconds(self) -> Floats | None:
        """The seconds that judging one output of every item takes; None where a source is missing.

        33.7 + 0.15·|source in words|, as Zouhar et al. (2025, section 5.2) fitted.
        """
        if self.data.sources is None:
            return None
        seconds = SECONDS_PER_ITEM + SECONDS_PER_WORD * source_lengths(self.data)
        return None if np.isnan(seconds).any() else seconds


def part_of(judged: Judged, resample: int) -> Part:
    """Return the whole set (0), or one of its resamples (1, 2, …)."""
    if resample == 0:
        return Part(judged, judged.data)
    return Part(judged, judged.data.at(resampled_rows(judged.data, resample)))


def resampled_rows(data: EvalSet, resample: int) -> Ints:
    """Return 80 % of the items, drawn by their ids and the number of the resample."""
    order = np.argsort(rng.stream(data.keys, resample, "bench resample"), kind="stable")
    return np.sort(order[: resampled_size(len(data))])


def resampled_size(items: int) -> int:
    """Return the number of items of a resample."""
    return max(1, int(np.floor(RESAMPLED * items + 1e-9)))


@lru_cache(maxsize=2)
def opened(file: SetFile, digest: str) -> Judged:
    """Return a set that is in use; kept, because methods remember what they computed for it."""
    return open_set(file)


@lru_cache(maxsize=2)
def opened_part(file: SetFile, digest: str, resample: int) -> Part:
    """Return a part that is in use, with its tests."""
    return part_of(opened(file, digest), resample)
