"""A histogram of the winning distances between all pairs of models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparingly.base.format import counted
from sparingly.infer.analysis.winning_distances import WinningDistances
from sparingly.show.figures.look import BLUE, HEIGHT, VERMILION, WIDTH, framed, inline

if TYPE_CHECKING:
    from altair import VConcatChart


def draw_distances(found: WinningDistances) -> VConcatChart:
    """Draw how many pairs of models are how far apart, with the median."""
    import altair as alt

    edges = zip(found.edges[:-1], found.edges[1:], found.counts, strict=True)
    rows = [{"low": low, "high": high, "pairs": count} for low, high, count in edges]
    most = max(found.counts)
    bars = (
        alt.Chart(inline(rows))
        .mark_bar(color=BLUE, binSpacing=1)
        .encode(
            x=alt.X("low:Q")
            .bin("binned")
            .title("winning distance |P(A preferred) − P(B preferred)|, share of the items")
            .scale(domain=[0.0, found.edges[-1]], nice=False)
            .axis(format="~%", values=list(found.edges)),
            x2="high:Q",
            y=alt.Y("pairs:Q").title("pairs of models").axis(format="d", tickCount=min(most, 8)),
            tooltip=[alt.Tooltip("low:Q", format=".0%"), alt.Tooltip("high:Q", format=".0%"), "pairs:Q"],
        )
    )
    middle = alt.Chart(inline([{"median": found.median, "text": f"median {found.median:.1%}"}]))
    rule = middle.mark_rule(color=VERMILION, strokeWidth=2, strokeDash=[5, 4]).encode(x="median:Q")
    label = middle.mark_text(
        color=VERMILION, align="left", baseline="bottom", dx=0, dy=-4, fontSize=12
    ).encode(x="median:Q", y=alt.value(0), text="text:N")
    chart = alt.layer(bars, rule, label).properties(width=WIDTH, height=HEIGHT)
    ties = f"; {found.tied} at distance 0" if found.tied else ""
    return framed(
        chart,
        "How far apart the models are",
        f"{counted(len(found.pairs), 'pair')} of {found.models} models, by {found.by}{ties}",
        [
            f"{counted(found.items, 'item')}. P is the share of items on which a model is preferred, ties in "
            "the denominator. Pairs at small distances need many labels.",
            *found.notes,
        ],
    )
