"""Cluster size against mean norm, a panel for every number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparingly.base.format import counted
from sparingly.infer.analysis.cluster_norms import ClusterNorms
from sparingly.show.figures.look import BLUE, WIDTH, framed, inline, named, rows_of

if TYPE_CHECKING:
    from altair import VConcatChart

_GAP = 40
_HEIGHT = 220
_LINKAGES = {"ward": "Ward's linkage", "cosine": "average linkage by cosine"}
_FEW_DECADES = 1e-3


def draw_clusters(found: ClusterNorms) -> VConcatChart:
    """Draw every cluster as a point: the share of the items that it holds, and their mean norm."""
    import altair as alt

    rows = rows_of(found.table())
    smallest = min(row["share"] for row in rows)
    highest = max(row["norm"] for row in rows)
    columns = 1 if len(found.counts) == 1 else 2
    width = WIDTH if columns == 1 else (WIDTH - _GAP) // 2
    panels = []
    for count, largest in zip(found.counts, found.largest, strict=True):
        title = f"{count} clusters: the largest holds {largest:.0%} of the items"
        own = [row for row in rows if row["clusters"] == count]
        panel = (
            alt.Chart(inline(own), title=alt.Title(title, fontSize=12, fontWeight="normal", anchor="start"))
            .mark_circle(color=BLUE, size=28, opacity=0.3 if found.pairs > 1 else 0.7)
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
    first = found.clusters[0]
    pairs = named((first.first, first.second)) if found.pairs == 1 else f"{found.pairs} pairs of models"
    return framed(
        chart,
        "Size of the clusters of items, and how far apart the outputs in them are",
        f"{pairs}; a point is a cluster of the difference vectors of one pair",
        [
            f"{counted(found.items, 'item')}; {_LINKAGES[found.linkage]} of differences of embeddings "
            f"({found.embedding}), pair by pair. Norm 0: the same outputs.",
            *found.notes,
        ],
    )


def _ticks(smallest: float) -> list[float]:
    """Return round shares from the smallest cluster to all items, not too many of them."""
    steps = (1, 2, 5) if smallest > _FEW_DECADES else (1,)
    ticks = [step * 10.0**power for power in range(-9, 0) for step in steps]
    return [*(tick for tick in ticks if tick >= smallest), 1.0]
