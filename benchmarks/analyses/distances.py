"""How far apart the models of a set are: the winning distances of all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.analyses.base import Analysis, columns_of, left_out_note
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.winners import PairWinner, winners
from sparingly.show.figures.look import BLUE, HEIGHT, VERMILION, WIDTH, framed, inline

if TYPE_CHECKING:
    from altair import VConcatChart

BIN_WIDTH = 0.05
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

    def picture(self) -> VConcatChart:
        """Return the picture."""
        return draw_distances(self)


def winning_distances(
    data: EvalSet,
    *,
    truth: str | None = None,
    aspect: str | None = None,
    tie: float = 0.0,
    width: float = BIN_WIDTH,
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
        >>> from sparingly.data.synthetic import load_invented
        >>> winning_distances(load_invented(), truth="overall")
        WinningDistances(by overall, 28 pairs of models: median distance 0.285)
    """
    if not 0.0 < width <= 1.0:
        raise UsageError(f"The width of a bin lies above 0 and at most at 1, not at {width}.")
    found = winners(data, truth=truth, aspect=aspect, tie=tie)
    pairs = tuple(pair for pair in found.pairs if pair.items)
    if not pairs:
        raise DataError(f"No pair of models was judged by {found.by} on the same item.")
    distances = np.array([pair.distance for pair in pairs])
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


# --- the picture -----------------------------------------------------------------------------------------


def draw_distances(distances: WinningDistances) -> VConcatChart:
    """Draw how many pairs of models are how far apart, with the median."""
    import altair as alt

    edges = zip(distances.edges[:-1], distances.edges[1:], distances.counts, strict=True)
    rows = [{"low": low, "high": high, "pairs": count} for low, high, count in edges]
    most = max(distances.counts)
    bars = (
        alt.Chart(inline(rows))
        .mark_bar(color=BLUE, binSpacing=1)
        .encode(
            x=alt.X("low:Q")
            .bin("binned")
            .title("winning distance |P(A preferred) − P(B preferred)|, share of the items")
            .scale(domain=[0.0, distances.edges[-1]], nice=False)
            .axis(format="~%", values=list(distances.edges)),
            x2="high:Q",
            y=alt.Y("pairs:Q").title("pairs of models").axis(format="d", tickCount=min(most, 8)),
            tooltip=[alt.Tooltip("low:Q", format=".0%"), alt.Tooltip("high:Q", format=".0%"), "pairs:Q"],
        )
    )
    middle = alt.Chart(inline([{"median": distances.median, "text": f"median {distances.median:.1%}"}]))
    rule = middle.mark_rule(color=VERMILION, strokeWidth=2, strokeDash=[5, 4]).encode(x="median:Q")
    label = middle.mark_text(
        color=VERMILION, align="left", baseline="bottom", dx=0, dy=-4, fontSize=12
    ).encode(x="median:Q", y=alt.value(0), text="text:N")
    chart = alt.layer(bars, rule, label).properties(width=WIDTH, height=HEIGHT)
    ties = f"; {distances.tied} at distance 0" if distances.tied else ""
    return framed(
        chart,
        "How far apart the models are",
        f"{counted(len(distances.pairs), 'pair')} of {distances.models} models, by {distances.by}{ties}",
        [
            f"{counted(distances.items, 'item')}. "
            "P is the share of items on which a model is preferred, ties in "
            "the denominator. Pairs at small distances need many labels.",
            *distances.notes,
        ],
    )
