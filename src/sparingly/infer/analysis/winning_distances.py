"""How close to each other the models of a set are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparingly.base.errors import DataError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.infer.analysis.base import Analysis, columns_of
from sparingly.infer.analysis.thinning import left_out_note
from sparingly.infer.rank.winners import PairWinner, winners

WIDTH = 0.05
# A distance such as 0.15 may lie a last bit below the edge that is written the same.
_SLACK = 1e-9


@dataclass(frozen=True, repr=False)
class WinningDistances(Analysis):
    """The winning distances of all pairs of models.

    Attributes:
        by: What the preferences are by.
        models: The number of models.
        items: The number of items of the set.
        mean: The mean distance.
        median: The median distance.
        tied: The number of pairs at distance 0.
        edges: The edges of the bins.
        counts: The number of pairs in every bin.
        pairs: The pairs themselves.
    """

    by: str
    models: int
    items: int
    mean: float
    median: float
    tied: int
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    pairs: tuple[PairWinner, ...]

    def __str__(self) -> str:
        """Return the median distance in one line."""
        return f"by {self.by}, {len(self.pairs)} pairs of models: median distance {self.median:.3f}"

    def table(self) -> dict[str, list[Any]]:
        """Return a row for every pair."""
        return columns_of(PairWinner, self.pairs)


def winning_distances(
    data: EvalSet,
    *,
    truth: str | None = None,
    aspect: str | None = None,
    tie: float = 0.0,
    width: float = WIDTH,
) -> WinningDistances:
    """Return the distribution of |P_A − P_B| over all pairs of models (Ashury Tahan et al. 2024, Fig. 2).

    P is the share of items on which a model is preferred. Pairs at small distances are those that few labels
    cannot decide: look here before promising a ranking.

    Args:
        data: The judged evaluation set.
        truth: Scores to turn into preferences: the higher one wins. By default the set's own preferences.
        aspect: Which of the set's own preferences, where they are about several aspects.
        tie: With a truth: two scores that differ by no more are a tie.
        width: The width of a bin.

    Examples:
        >>> import sparingly
        >>> winning_distances(sparingly.load_demo(), truth="overall")
        WinningDistances(by overall, 28 pairs of models: median distance 0.285)
    """
    if not 0.0 < width <= 1.0:
        raise UsageError(f"The width of a bin lies above 0 and at most at 1, not at {width}.")
    found = winners(data, truth=truth, aspect=aspect, tie=tie)
    pairs = tuple(one for one in found.pairs if one.items)
    if not pairs:
        raise DataError(f"No pair of models was judged by {found.by} on the same item.")
    distances = np.array([one.distance for one in pairs])
    places = np.floor(distances / width + _SLACK).astype(np.int64)
    counts = np.bincount(places)
    lost = len(found.pairs) - len(pairs)
    return WinningDistances(
        notes=left_out_note(lost, len(found.pairs), "pairs, never judged on the same item"),
        by=found.by,
        models=len(data.models),
        items=len(data),
        mean=float(distances.mean()),
        median=float(np.median(distances)),
        tied=int((distances == 0.0).sum()),
        edges=tuple(round(width * place, 9) for place in range(len(counts) + 1)),
        counts=tuple(counts.tolist()),
        pairs=pairs,
    )
