"""Item response curves, as lines over abilities, with what was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparingly.base.format import counted
from sparingly.infer.analysis.item_curves import ItemCurve, ItemCurves
from sparingly.show.figures.look import (
    BLACK,
    COLOURS,
    DASHES,
    HEIGHT,
    WIDTH,
    framed,
    inline,
    legend_below,
)

if TYPE_CHECKING:
    from altair import VConcatChart


def draw_item_curves(found: ItemCurves) -> VConcatChart:
    """Draw a line for every item, a point for every response, and a tick below for every model's ability."""
    import altair as alt

    labels = [_label(one) for one in found.curves]
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(labels))]
    dashes = [list(DASHES[place // len(COLOURS) % len(DASHES)]) for place in range(len(labels))]
    colour = alt.Color("curve:N").scale(domain=labels, range=colours).legend(legend_below(labels))
    dash = alt.StrokeDash("curve:N").scale(domain=labels, range=dashes).legend(legend_below(labels))
    x = (
        alt.X("ability:Q")
        .title("ability θ of a model (ticks: the models)")
        .scale(domain=[found.grid[0], found.grid[-1]], nice=False)
    )
    y = alt.Y("response:Q").title("response").scale(domain=[-0.04, 1.04], nice=False)
    curves = (
        alt.Chart(inline(row for one in found.curves for row in _line(found, one)))
        .mark_line(strokeWidth=2)
        .encode(x=x, y=y, color=colour, strokeDash=dash)
    )
    observed = (
        alt.Chart(inline(row for one in found.curves for row in _observed(found, one)))
        .mark_circle(size=36, opacity=0.75)
        .encode(x=x, y=y, color=colour, tooltip=["model:N", "curve:N", "response:Q"])
    )
    models = [
        {"model": model, "ability": ability, "response": -0.025}
        for model, ability in zip(found.models, found.abilities, strict=True)
    ]
    ticks = (
        alt.Chart(inline(models))
        .mark_tick(color=BLACK, thickness=1.5, height=10, orient="vertical")
        .encode(x=x, y=y, tooltip=["model:N", alt.Tooltip("ability:Q", format=".2f")])
    )
    chart = alt.layer(curves, observed, ticks).properties(width=WIDTH, height=HEIGHT)
    return framed(
        chart,
        "What models of growing ability reach on an item",
        f"{counted(len(found.curves), 'item')}; lines: fitted, points: observed",
        [
            f"{found.method}, fitted to {counted(found.items, 'item')} and {counted(len(models), 'model')}. "
            f"Response: {found.response}. Expected: c·σ(a(θ − b)), with a the steepness, b the difficulty, "
            "c the highest response.",
            *found.notes,
        ],
    )


def _label(one: ItemCurve) -> str:
    numbers = f"a {one.discrimination:.2f}, b {one.difficulty:.2f}, c {one.feasibility:.2f}"
    return f"{numbers.replace('-', '−')}: {one.item}"


def _line(found: ItemCurves, one: ItemCurve) -> list[dict[str, Any]]:
    places = zip(found.grid, one.expected, strict=True)
    return [{"curve": _label(one), "ability": ability, "response": value} for ability, value in places]


def _observed(found: ItemCurves, one: ItemCurve) -> list[dict[str, Any]]:
    return [
        {"curve": _label(one), "model": model, "ability": ability, "response": value}
        for model, ability, value in zip(found.models, found.abilities, one.observed, strict=True)
        if value == value
    ]
