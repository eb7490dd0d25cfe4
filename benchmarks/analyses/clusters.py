"""The clusters of ''diffuse'': their size against how far apart the outputs inside are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from benchmarks.analyses.base import Analysis, columns_of, name_list, rows_of, thinned, thinning_note
from benchmarks.analyses.pairs import Outputs, Pair, of_pair, outputs_of
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.base.format import counted
from sparingly.data.evalset import EvalSet
from sparingly.published.linkage import linkage_of
from sparingly.show.figures.look import BLUE, WIDTH, framed, inline
from sparingly.signals.embed.differences import stacked_differences
from sparingly.signals.embed.texts import unit_rows

if TYPE_CHECKING:
    from altair import VConcatChart

COUNTS = (10, 25, 50, 100)
# A linkage takes time by the square of the items: so many steps in all, and at least one pair.
_MOST_STEPS = 10**8
_MOST_PAIRS = 200


@dataclass(frozen=True)
class Cluster:
    """One cluster of the difference vectors of a pair of models.

    Attributes:
        first: One model.
        second: The other.
        clusters: Into how many clusters the items were cut.
        items: The number of items in this one.
        share: Their share of the items.
        norm: The mean norm of their difference vectors.
    """

    first: str
    second: str
    clusters: int
    items: int
    share: float
    norm: float


@dataclass(frozen=True, repr=False)
class ClusterNorms(Analysis):
    """The clusters of pairs of models, cut into several numbers of clusters.

    Attributes:
        embedding: What the outputs were embedded by.
        linkage: How the vectors were clustered.
        items: The number of items.
        pairs: The number of pairs of models that were clustered.
        counts: The numbers of clusters.
        largest: For each of them, the mean share of the items that the largest cluster holds.
        clusters: The clusters (those that are shown).
    """

    embedding: str
    linkage: str
    items: int
    pairs: int
    counts: tuple[int, ...]
    largest: tuple[float, ...]
    clusters: tuple[Cluster, ...]

    def __str__(self) -> str:
        """Return the sizes of the largest clusters in one line."""
        parts = (
            f"{share:.0%} at {count} clusters" for count, share in zip(self.counts, self.largest, strict=True)
        )
        what = "a pair" if self.pairs == 1 else f"{self.pairs} pairs of models"
        return f"largest cluster of {what}: {', '.join(parts)}"

    def table(self) -> dict[str, list[Any]]:
        """Return a row for every cluster."""
        return columns_of(Cluster, self.clusters)

    def picture(self) -> VConcatChart:
        """Return the picture."""
        return draw_clusters(self)


def cluster_norms(
    data: EvalSet,
    counts: Sequence[int] = COUNTS,
    *,
    pair: Pair | None = None,
    embedding: str = "tfidf",
    linkage: Literal["ward", "cosine"] = "ward",
    most_pairs: int | None = None,
    most: int | None = 2000,
    seed: int = 0,
) -> ClusterNorms:
    """Return size and mean norm of the clusters that ``diffuse`` makes, pair by pair.

    Items whose outputs hardly differ fall into few large clusters and items that differ much into many small
    ones (Ashury Tahan et al. 2024, Fig. 8 and 15); one item is taken from each, so that the former are
    under-represented. Where the largest cluster is small, ``diffuse`` is close to a random choice.

    Args:
        data: The evaluation set.
        counts: Numbers of clusters; those that leave no two items together are dropped.
        pair: Two models; all pairs unless given.
        embedding: What the outputs are embedded by, as in ``diffuse``.
        linkage: How vectors are clustered, as in ``diffuse``.
        most_pairs: How many pairs are clustered, drawn by their names; as many as take seconds unless given.
        most: How many clusters are kept in the result, drawn at random; None for all.
        seed: Settles what is drawn.

    Examples:
        >>> import sparingly
        >>> from sparingly.data.synthetic import load_invented
        >>> data = load_invented()
        >>> cluster_norms(data, [25], pair=("Juniper", "Rowan"))
        ClusterNorms(largest cluster of a pair: 82% at 25 clusters)
    """
    outputs = outputs_of(of_pair(data, pair), embedding)
    wanted = tuple(sorted({int(count) for count in counts if count < len(data)}))
    if not wanted or wanted[0] < 1:
        raise UsageError(f"The numbers of clusters lie between 1 and {len(data) - 1}, not {list(counts)}.")
    pairs = _drawn_pairs(outputs, most_pairs or _affordable(len(data)), seed)
    found = list(_clusters(outputs, pairs, wanted, linkage))
    if not found:
        raise UsageError(f"No pair of models has more than {wanted[0]} items with outputs of both.")
    largest = tuple(_mean_largest(found, count) for count in wanted)
    keys = rng.keys_of([f"{one.first}\x1f{one.second}\x1f{place}" for place, one in enumerate(found)])
    shown = thinned(keys, most, seed)
    return ClusterNorms(
        notes=(
            *thinning_note(len(pairs), len(outputs.pairs), "pairs of models"),
            *thinning_note(len(shown), len(found), "clusters"),
        ),
        embedding=embedding,
        linkage=linkage,
        items=len(data),
        pairs=len(pairs),
        counts=wanted,
        largest=largest,
        clusters=tuple(found[place] for place in shown),
    )


def _affordable(items: int) -> int:
    return max(1, min(_MOST_PAIRS, _MOST_STEPS // items**2))


def _drawn_pairs(outputs: Outputs, most: int, seed: int) -> list[tuple[int, int]]:
    names = [f"{outputs.models[first]}\x1f{outputs.models[second]}" for first, second in outputs.pairs]
    return [outputs.pairs[place] for place in thinned(rng.keys_of(names), most, seed)]


def _clusters(
    outputs: Outputs,
    pairs: list[tuple[int, int]],
    counts: tuple[int, ...],
    linkage: Literal["ward", "cosine"],
) -> Iterator[Cluster]:
    for first, second in pairs:
        rows = outputs.rows(first, second)
        if len(rows) <= counts[0]:
            continue
        vectors = stacked_differences(*outputs.two(first, second))
        norms = np.linalg.norm(vectors, axis=1)
        points = unit_rows(vectors) if linkage == "cosine" else vectors
        tree = linkage_of(points, outputs.keys[rows], linkage)
        names = outputs.models[first], outputs.models[second]
        for count in counts:
            if count < len(rows):
                yield from _of_cut(tree.cut(count), norms, names, count)


def _of_cut(labels: Ints, norms: Floats, names: Pair, count: int) -> Iterator[Cluster]:
    sizes = np.bincount(labels)
    means = np.bincount(labels, norms) / sizes
    for size, mean in zip(sizes.tolist(), means.tolist(), strict=True):
        yield Cluster(*names, count, size, size / len(norms), mean)


def _mean_largest(clusters: list[Cluster], count: int) -> float:
    largest: dict[Pair, float] = {}
    for cluster in clusters:
        if cluster.clusters == count:
            pair = cluster.first, cluster.second
            largest[pair] = max(largest.get(pair, 0.0), cluster.share)
    return float(np.mean(list(largest.values()))) if largest else float("nan")


# --- the picture -----------------------------------------------------------------------------------------


_GAP = 40
_HEIGHT = 220
_LINKAGES = {"ward": "Ward's linkage", "cosine": "average linkage by cosine"}
_FEW_DECADES = 1e-3


def draw_clusters(norms: ClusterNorms) -> VConcatChart:
    """Draw every cluster as a point: the share of the items that it holds, and their mean norm."""
    import altair as alt

    rows = rows_of(norms.table())
    smallest = min(row["share"] for row in rows)
    highest = max(row["norm"] for row in rows)
    columns = 1 if len(norms.counts) == 1 else 2
    width = WIDTH if columns == 1 else (WIDTH - _GAP) // 2
    panels = []
    for count, largest in zip(norms.counts, norms.largest, strict=True):
        title = f"{count} clusters: the largest holds {largest:.0%} of the items"
        own = [row for row in rows if row["clusters"] == count]
        panel = (
            alt.Chart(inline(own), title=alt.Title(title, fontSize=12, fontWeight="normal", anchor="start"))
            .mark_circle(color=BLUE, size=28, opacity=0.3 if norms.pairs > 1 else 0.7)
            .encode(
                x=alt.X("share:Q")
                .title("share of the items in the cluster")
                .scale(type="log", domain=[smallest * 0.8, 1.0])
                .axis(format="~%", values=_ticks(smallest), labelFlush=False),
                y=alt.Y("norm:Q").title("mean norm inside").scale(domain=[0.0, highest * 1.05]),
                tooltip=[
                    "first:N",
                    "second:N",
                    "items:Q",
                    alt.Tooltip("share:Q", format=".1%"),
                    alt.Tooltip("norm:Q", format=".3f"),
                ],
            )
            .properties(width=width, height=_HEIGHT)
        )
        panels.append(panel)
    chart = alt.concat(*panels, columns=columns, spacing=_GAP // 2)
    first = norms.clusters[0]
    pairs = name_list((first.first, first.second)) if norms.pairs == 1 else f"{norms.pairs} pairs of models"
    return framed(
        chart,
        "Size of the clusters of items, and how far apart the outputs in them are",
        f"{pairs}; a point is a cluster of the difference vectors of one pair",
        [
            f"{counted(norms.items, 'item')}; {_LINKAGES[norms.linkage]} of differences of embeddings "
            f"({norms.embedding}), pair by pair. Norm 0: the same outputs.",
            *norms.notes,
        ],
    )


def _ticks(smallest: float) -> list[float]:
    """Return round shares from the smallest cluster to all items, not too many of them."""
    steps = (1, 2, 5) if smallest > _FEW_DECADES else (1,)
    ticks = [step * 10.0**power for power in range(-9, 0) for step in steps]
    return [*(tick for tick in ticks if tick >= smallest), 1.0]
