"""The norms of chosen items against those of all items, as histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparingly.infer.analysis.chosen_norms import ChosenNorms, NormGroup
from sparingly.show.figures.look import (
    COLOURS,
    GREY,
    HEIGHT,
    PALE,
    WIDTH,
    framed,
    inline,
    legend_below,
    named,
    percent_axis,
)

if TYPE_CHECKING:
    from altair import VConcatChart

NORM = "norm of the difference between outputs (0 the same, embeddings of length 1)"


def draw_norms(found: ChosenNorms) -> VConcatChart:
    """Draw all items as bars, every selection as a stepped line, and their means as dashed lines."""
    import altair as alt

    labels = [_label(one) for one in found.groups]
    colours = [GREY, *(COLOURS[place % len(COLOURS)] for place in range(len(labels) - 1))]
    scale = alt.Scale(domain=labels, range=colours)
    colour = alt.Color("group:N").scale(scale).legend(legend_below(labels))
    bars = (
        alt.Chart(inline(_bins(found, found.groups[0])))
        .mark_bar(binSpacing=1, fill=PALE)
        .encode(
            x=alt.X("low:Q").bin("binned").title(NORM).scale(zero=False, nice=False),
            x2="high:Q",
            y=alt.Y("share:Q").title("share of the items").axis(percent_axis()),
            tooltip=_tooltips(),
        )
    )
    steps = [row for one in found.groups[1:] for row in _steps(found, one)]
    lines = (
        alt.Chart(inline(steps))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(x="low:Q", y="share:Q", color=colour)
    )
    means = (
        alt.Chart(inline({"group": _label(one), "mean": one.mean} for one in found.groups))
        .mark_rule(strokeDash=[5, 4], strokeWidth=1.5)
        .encode(x="mean:Q", color=colour, tooltip=["group:N", alt.Tooltip("mean:Q", format=".3f")])
    )
    chart = alt.layer(bars, lines, means).properties(width=WIDTH, height=HEIGHT)
    what = "of a pair of models" if len(found.models) == 2 else "root mean square over pairs of models"
    return framed(
        chart,
        "How far apart the outputs of the chosen items are",
        f"{named(found.models)}; dashed: means",
        [
            f"Norm of the difference of embeddings ({found.embedding}), {what}. "
            f"n: {'; '.join(f'{one.name} {one.items}' for one in found.groups)}.",
            *found.notes,
        ],
    )


def _label(group: NormGroup) -> str:
    return f"{group.name} (mean {group.mean:.2f})"


def _tooltips() -> list[object]:
    import altair as alt

    return [
        alt.Tooltip("low:Q", format=".3f"),
        alt.Tooltip("high:Q", format=".3f"),
        alt.Tooltip("share:Q", format=".1%"),
    ]


def _bins(found: ChosenNorms, group: NormGroup) -> list[dict[str, float]]:
    edges = zip(found.edges[:-1], found.edges[1:], group.shares, strict=True)
    return [{"low": low, "high": high, "share": share} for low, high, share in edges]


def _steps(found: ChosenNorms, group: NormGroup) -> list[dict[str, object]]:
    """Return the outline of a histogram: up from 0 at the first edge, down to 0 at the last."""
    outline = [(found.edges[0], 0.0), *zip(found.edges, (*group.shares, 0.0), strict=True)]
    return [{"group": _label(group), "low": low, "share": share} for low, share in outline]
