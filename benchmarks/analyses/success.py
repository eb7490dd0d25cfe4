"""Whether items whose outputs differ more name the winner more often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.analyses.base import Analysis, columns_of, left_out_note, name_list, short
from benchmarks.analyses.pairs import ItemPreferences, Outputs, Pair, item_preferences, of_pair, outputs_of
from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted
from sparingly.data.evalset import EvalSet
from sparingly.show.figures.look import (
    BLACK,
    BLUE,
    GREY,
    HEIGHT,
    VERMILION,
    WIDTH,
    framed,
    inline,
    legend_below,
)

if TYPE_CHECKING:
    from altair import VConcatChart

BINS = 10
_UNDECIDED = "pairs, which tie or have too few judged items"


@dataclass(frozen=True)
class NormBin:
    """Items of similar norm, over all pairs of models.

    Attributes:
        norm: The mean norm, averaged over pairs.
        success: The share of pairs whose winner these items alone would name.
        winner: The share of items that prefer the winner of their pair.
        loser: The share that prefer the other model.
        tie: The share that prefer neither.
        items: The number of items, counted for every pair.
    """

    norm: float
    success: float
    winner: float
    loser: float
    tie: float
    items: int


@dataclass(frozen=True, repr=False)
class SuccessByNorm(Analysis):
    """How well items of small and of large norm name the winner.

    Attributes:
        by: What the preferences are by.
        embedding: What the outputs were embedded by.
        models: The models.
        pairs: The number of pairs with a winner on the full set.
        winner: The winner, where there is one pair only.
        random: What ``success`` is, on average, for bins of the same size that are drawn at random.
        bins: The bins, from the smallest norms to the largest.
    """

    by: str
    embedding: str
    models: tuple[str, ...]
    pairs: int
    winner: str | None
    random: float
    bins: tuple[NormBin, ...]

    def __str__(self) -> str:
        """Return the first and the last bin in one line."""
        low, high = self.bins[0], self.bins[-1]
        pairs = "a pair" if self.pairs == 1 else f"{self.pairs} pairs"
        return (
            f"by {self.by}, {pairs}: {low.winner:.0%} of the items with small norms prefer the winner, "
            f"{high.winner:.0%} of those with large ones"
        )

    def table(self) -> dict[str, list[Any]]:
        """Return a row for every bin."""
        return {"bin": list(range(1, len(self.bins) + 1)), **columns_of(NormBin, self.bins)}

    def picture(self) -> VConcatChart:
        """Return the picture."""
        return draw_success(self)


class _Judged(NamedTuple):
    """A pair that has a winner: norms, preferences (positive towards the winner) and keys of its items."""

    winner: str
    norms: Floats
    votes: Floats
    keys: rng.Keys


def success_by_norm(
    data: EvalSet,
    *,
    truth: str | None = None,
    aspect: str | None = None,
    tie: float = 0.0,
    pair: Pair | None = None,
    embedding: str = "tfidf",
    bins: int = BINS,
    seed: int = 0,
) -> SuccessByNorm:
    """Return how often items of small and of large norm agree with the winner on the full set.

    The items of every pair of models are cut by the norm of their difference vectors into bins of equal
    count; each bin names a winner by its own preferences (Ashury Tahan et al. 2024, Fig. 10). Success that
    rises with the norm is why ``diffuse`` and ``max_norm`` find winners with few labels; where it does not
    rise, they have nothing to offer on this set.

    Args:
        data: The fully judged evaluation set.
        truth: Scores to turn into preferences: the higher one wins. By default the set's own preferences.
        aspect: Which of the set's own preferences, where they are about several aspects.
        tie: With a truth: two scores that differ by no more are a tie.
        pair: Two models; all pairs unless given.
        embedding: What the outputs are embedded by, as in ``diffuse``.
        bins: The number of bins.
        seed: Settles ties between equal norms, and the random bins.

    Examples:
        >>> import sparingly
        >>> from sparingly.data.synthetic import load_invented
        >>> data = load_invented()
        >>> found = success_by_norm(data, truth="overall", bins=5)
        >>> [round(one.winner, 2) for one in found.bins]
        [0.56, 0.58, 0.63, 0.65, 0.73]
    """
    if bins < 1:
        raise UsageError(f"Success by norm needs at least one bin, not {bins}.")
    view = of_pair(data, pair)
    preferences = item_preferences(view, truth, aspect, tie)
    outputs = outputs_of(view, embedding)
    judged = list(_with_winner(outputs, preferences, bins))
    if not judged:
        raise DataError(
            f"No pair of models has a winner by {preferences.by} and {bins} judged items or more."
        )
    by_norm = [_labels(-one.norms, one.keys, bins, seed) for one in judged]
    drawn = [_labels(rng.uniforms(one.keys, seed, "bins"), one.keys, bins, seed) for one in judged]
    return SuccessByNorm(
        notes=left_out_note(len(outputs.pairs) - len(judged), len(outputs.pairs), _UNDECIDED),
        by=preferences.by,
        embedding=embedding,
        models=view.models,
        pairs=len(judged),
        winner=judged[0].winner if len(judged) == 1 else None,
        random=float(np.mean([_names_winner(one, at, bins) for one, at in zip(judged, drawn, strict=True)])),
        bins=tuple(_bins(judged, by_norm, bins)),
    )


def _with_winner(outputs: Outputs, preferences: ItemPreferences, fewest: int) -> Iterator[_Judged]:
    for first, second in outputs.pairs:
        norms, votes = outputs.norms(first, second), preferences.between(first, second)
        rows = np.flatnonzero(~np.isnan(norms) & ~np.isnan(votes))
        # The winner is that of all judged items, whether or not both outputs are known.
        lead = float(np.round(np.nansum(votes), 9))
        if len(rows) >= fewest and lead != 0.0:
            winner = outputs.models[first if lead > 0.0 else second]
            yield _Judged(winner, norms[rows], np.sign(lead) * votes[rows], outputs.keys[rows])


def _labels(values: Floats, keys: rng.Keys, bins: int, seed: int) -> NDArray[np.int64]:
    """Return the bin of every item: equal counts, the largest value in bin 0, ties by the items' keys."""
    order = rng.order(values, keys, seed)
    labels = np.empty(len(values), np.int64)
    labels[order] = np.arange(len(values)) * bins // len(values)
    return labels


def _names_winner(judged: _Judged, labels: NDArray[np.int64], bins: int) -> Floats:
    """Return 1 for every bin whose own preferences name the winner, 0 for the others."""
    return (np.round(np.bincount(labels, judged.votes, bins), 9) > 0.0).astype(np.float64)


def _bins(judged: list[_Judged], labels: list[NDArray[np.int64]], bins: int) -> Iterator[NormBin]:
    success = np.mean([_names_winner(one, at, bins) for one, at in zip(judged, labels, strict=True)], axis=0)
    norms = np.mean(
        [
            np.bincount(at, one.norms, bins) / np.bincount(at, minlength=bins)
            for one, at in zip(judged, labels, strict=True)
        ],
        axis=0,
    )
    votes, at = np.concatenate([one.votes for one in judged]), np.concatenate(labels)
    counts = np.bincount(at, minlength=bins)
    winner, loser = (np.bincount(at, sign * votes > 0.0, bins) / counts for sign in (1.0, -1.0))
    for place in range(bins):
        yield NormBin(
            norm=float(norms[place]),
            success=float(success[place]),
            winner=float(winner[place]),
            loser=float(loser[place]),
            tie=float(max(0.0, 1.0 - winner[place] - loser[place])),
            items=int(counts[place]),
        )


# --- the picture -----------------------------------------------------------------------------------------


_AXIS = "share of the pairs (black) or of the items"
_SUCCESS = "pairs whose winner the bin names"
_RANDOM = "the same for random bins"
_WINNER, _LOSER, _TIE = "items that prefer the winner", "items that prefer the loser", "ties"


def draw_success(success_by_norm: SuccessByNorm) -> VConcatChart:
    """Draw, over bins of growing norm, the shares of items for the winner, and whose winner a bin names."""
    import altair as alt

    rows = _rows(success_by_norm)
    domain = [name for name in _COLOURS if any(row["what"] == name for row in rows)]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("norm:Q").title("mean norm of the difference between outputs, per bin").scale(zero=False),
        y=alt.Y("share:Q")
        .title(_AXIS if success_by_norm.pairs > 1 else "share of the items")
        .axis(format=".0%")
        .scale(domain=[0.0, 1.0]),
        color=alt.Color("what:N")
        .scale(domain=domain, range=[_COLOURS[name] for name in domain])
        .legend(legend_below(domain)),
        strokeDash=alt.StrokeDash("what:N")
        .scale(domain=domain, range=[[5, 4] if name == _RANDOM else [1, 0] for name in domain])
        .legend(legend_below(domain)),
    )
    points = (
        base.transform_filter(alt.datum.what != _RANDOM)
        .mark_circle(size=45, opacity=1.0)
        .encode(tooltip=["what:N", alt.Tooltip("norm:Q", format=".3f"), alt.Tooltip("share:Q", format=".1%")])
    )
    chart = alt.layer(base.mark_line(strokeWidth=2), points).properties(width=WIDTH, height=HEIGHT)
    pairs = (
        f"won by {short(success_by_norm.winner)}"
        if success_by_norm.winner
        else f"{success_by_norm.pairs} pairs with a winner"
    )
    each = counted(success_by_norm.bins[0].items // success_by_norm.pairs, "item")
    return framed(
        chart,
        "Do items on which the outputs differ more name the winner more often?",
        f"{name_list(success_by_norm.models)}, {pairs}, by {success_by_norm.by}",
        [
            f"{len(success_by_norm.bins)} bins of equal count by the norm of the difference of embeddings "
            f"({success_by_norm.embedding}), about {each} of a pair in each; "
            "winners are those on the full set.",
            *success_by_norm.notes,
        ],
    )


_COLOURS = {_SUCCESS: BLACK, _RANDOM: BLACK, _WINNER: BLUE, _LOSER: VERMILION, _TIE: GREY}


def _rows(success_by_norm: SuccessByNorm) -> list[dict[str, Any]]:
    shares = {_WINNER: "winner", _LOSER: "loser", _TIE: "tie"}
    # One pair's bin is right or wrong: a share of pairs means something only where there are several.
    if success_by_norm.pairs > 1:
        shares = {_SUCCESS: "success", **shares}
    rows = [
        {"what": name, "norm": bin_.norm, "share": getattr(bin_, field)}
        for name, field in shares.items()
        for bin_ in success_by_norm.bins
    ]
    if success_by_norm.pairs > 1:
        rows += [
            {"what": _RANDOM, "norm": bin_.norm, "share": success_by_norm.random}
            for bin_ in success_by_norm.bins
        ]
    return rows
