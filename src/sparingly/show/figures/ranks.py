"""Possible ranks of models, and which of two models is significantly better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.infer.estimate.assemble import target_text
from sparingly.infer.rank.best import chance_of_better
from sparingly.infer.rank.ranking import Ranking
from sparingly.show.figures.look import (
    BLUE,
    COLOURS,
    VERMILION,
    WIDTH,
    framed,
    inline,
    model_axis,
    step_height,
)

if TYPE_CHECKING:
    from altair import VConcatChart

# Written on coloured cells, these stay as they are on a dark page.
_ON_PALE, _ON_DEEP = "#1A1A1A", "#FDFDFD"
# With more models, figures do not fit into the cells.
_MOST_WRITTEN = 20


def draw_ranks(found: Ranking) -> VConcatChart:
    """Draw the ranks that are not ruled out as a line per model, and the place by score as a point."""
    import altair as alt

    rows = [
        {
            "model": one.model,
            "best": one.best_rank,
            "worst": one.worst_rank,
            "rank": one.rank,
            "group": one.group or 0,
        }
        for one in found.models
    ]
    names, count = [one.model for one in found.models], len(found.models)
    groups = sorted({one.group or 0 for one in found.models})
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(groups))]
    ticks = list(range(1, count + 1, max(1, count // 20)))
    scale = alt.Scale(domain=[0.6, count + 0.4], nice=False, zero=False)
    axis = alt.Axis(values=ticks, format="d", labelOverlap=False, title="rank")
    base = alt.Chart(inline(rows)).encode(
        y=model_axis("model", names),
        color=alt.Color("group:N").scale(domain=groups, range=colours).legend(None),
    )
    lines = base.mark_rule(strokeWidth=7, opacity=0.45, strokeCap="round").encode(
        x=alt.X("best:Q").axis(axis).scale(scale), x2="worst:Q"
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("rank:Q").axis(axis).scale(scale)
    )
    chart = alt.layer(lines, points).properties(width=WIDTH - 180, height=step_height(names))
    colour = "; a colour is a group" if len(found.groups) > 1 else ""
    holds = (
        f"on {target_text(found.target)}, at {100 * (1 - found.alpha):g} % confidence for all models at once"
    )
    return framed(chart, f"Possible ranks by {found.aspect}", f"{holds}{colour}", [])


def chances_of_better(found: Ranking) -> Floats:
    """Return models × models in the order of the ranking: the chance that the row's model is better.

    ``chance_of_better`` of the scores: it helps to choose between two; for claims there are the p-values. NaN
    where some error is unknown.
    """
    scores = np.array([np.nan if one.score is None else one.score for one in found.models], np.float64)
    scored = ~np.isnan(scores)
    if not np.isfinite(found.covariance[np.ix_(scored, scored)]).all():
        return np.full(found.covariance.shape, np.nan)
    return chance_of_better(scores, found.covariance, degrees=found.freedom)


def draw_chances(found: Ranking) -> VConcatChart:
    """Draw the chance that the model of a row is better than that of a column, all pairs."""
    import altair as alt

    chance = chances_of_better(found)
    names = [one.model for one in found.models]
    rows = [
        {"model": names[one], "other": other + 1, "chance": value, "text": _in_percent(value)}
        for one in range(len(names))
        for other in range(len(names))
        if one != other and np.isfinite(value := float(chance[one, other]))
    ]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("other:O").title("than the model of rank").axis(labelAngle=0, orient="top"),
        y=model_axis("model", names, grid=False),
    )
    cells = base.mark_rect().encode(
        color=alt.Color("chance:Q")
        .title("chance to be better")
        .scale(domain=[0, 0.5, 1], range=[VERMILION, "#F4F1EC", BLUE], interpolate="lab")
        .legend(format=".0%", orient="bottom", gradientLength=260)
    )
    deep = alt.condition("abs(datum.chance - 0.5) > 0.38", alt.value(_ON_DEEP), alt.value(_ON_PALE))
    figures = base.mark_text(fontSize=9 if len(names) > 12 else 10).encode(text="text:N", color=deep)
    layers = [cells, figures] if len(names) <= _MOST_WRITTEN else [cells]
    chart = alt.layer(*layers).properties(width=WIDTH - 200, height=step_height(names, 24))
    return framed(
        chart, "Which model is better", "chance that a row's model beats a column's, in percent", []
    )


def _in_percent(chance: float) -> str:
    if chance > 0.99:
        return ">99"
    return "<1" if chance < 0.01 else f"{100 * chance:.0f}"
