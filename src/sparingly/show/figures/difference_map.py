"""The map of difference vectors: whom people prefer where, and which items were chosen."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, pi, sin
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sparingly.base.format import counted
from sparingly.infer.analysis.difference_map import DifferenceMap, MapPoint
from sparingly.show.figures.look import (
    BLACK,
    BLUE,
    GREY,
    PALE,
    VERMILION,
    framed,
    inline,
    legend_below,
    named,
)

if TYPE_CHECKING:
    from altair import Chart, VConcatChart

_SIDE, _WIDE = 460, 540
_COLOURS: Mapping[str | None, str] = MappingProxyType(
    {"first": BLUE, "second": VERMILION, "tie": GREY, None: PALE}
)
# Distances between the circles, the number of corners that one is drawn with, and the angle between two.
_STEPS = (0.05, 0.1, 0.25, 0.5)
_MOST_CIRCLES = 6
_TURNS = 90
_TURN = 2.0 * pi / _TURNS
_SAME = 1e-9


def draw_map(found: DifferenceMap) -> VConcatChart:
    """Draw every item as a point, coloured by preference; chosen ones have a ring, sized by their weight."""
    import altair as alt

    labels = _labels(found)
    used = [key for key in labels if any(point.preference == key for point in found.points)]
    names = [labels[key] for key in used]
    reach = 1.06 * max(max(point.norm for point in found.points), _STEPS[0])
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    at: dict[str, Any] = {
        "x": alt.X("x:Q").axis(None).scale(scale),
        "y": alt.Y("y:Q").axis(None).scale(scale),
    }
    base = alt.Chart(inline(_row(point, labels) for point in found.points)).encode(
        **at,
        tooltip=["item:N", "preference:N", alt.Tooltip("norm:Q", format=".3f")],
    )
    points = base.mark_circle(size=38, opacity=0.65).encode(
        color=alt.Color("preference:N")
        .scale(domain=names, range=[_COLOURS[key] for key in used])
        .legend(legend_below(names, lines=False, width=_WIDE))
    )
    circles, *distances = _guides(reach, at)
    layers = [circles, points, *([_rings(base, found)] if found.chosen else []), *distances]
    chart = alt.layer(*layers).properties(width=_SIDE, height=_SIDE)
    ringed = f"; ringed: {found.chosen} chosen" if found.chosen else ""
    by = f", coloured by {found.by}" if found.by else ""
    same = sum(point.norm < _SAME for point in found.points)
    return framed(
        chart,
        f"{named((found.first, found.second))}: where their outputs differ",
        f"a point is an item{by}; further out they differ more{ringed}",
        [
            f"{counted(found.items, 'item')}; circles: norm of the difference of embeddings "
            f"({found.embedding}). The distance from the middle is exact; the angle shows "
            f"{found.explained:.0%} of the directions.",
            *([f"In the middle: {counted(same, 'item')} with the same output from both."] if same else []),
            *found.notes,
        ],
        width=_WIDE,
    )


def _guides(reach: float, at: Mapping[str, Any]) -> list[Chart]:
    """Return circles at round distances from the middle, with their distances."""
    import altair as alt

    step = next((step for step in _STEPS if reach / step <= _MOST_CIRCLES), _STEPS[-1])
    radii = [step * place for place in range(1, int(reach / step) + 1)]
    circles = [
        {"radius": radius, "turn": turn, "x": radius * cos(turn * _TURN), "y": radius * sin(turn * _TURN)}
        for radius in radii
        for turn in range(_TURNS + 1)
    ]
    lines = (
        alt.Chart(inline(circles))
        .mark_line(color="#DDDDDD", strokeWidth=1)
        .encode(**at, detail="radius:N", order="turn:Q")
    )
    texts = alt.Chart(inline({"x": 0.0, "y": radius, "text": f"{radius:g}"} for radius in radii))
    # White below, so that a distance can be read among points.
    halo, text = (
        texts.mark_text(fontSize=10, baseline="bottom", dy=-1, **look).encode(**at, text="text:N")
        for look in ({"stroke": "white", "strokeWidth": 3}, {"color": "#555555"})
    )
    return [lines, halo, text]


def _rings(base: Chart, found: DifferenceMap) -> Chart:
    import altair as alt

    rings: Chart = base.transform_filter(alt.datum.chosen).mark_point(
        filled=False, color=BLACK, strokeWidth=1.4
    )
    if not found.weighted:
        return rings.encode(size=alt.value(90))
    heaviest = max(point.weight or 0.0 for point in found.points)
    return rings.encode(
        size=alt.Size("stands for:Q")
        .scale(domain=[1.0, max(heaviest, 2.0)], range=[60, 900])
        .legend(orient="right", title=["items that a", "chosen one", "stands for"], tickCount=4)
    )


def _labels(found: DifferenceMap) -> dict[str | None, str]:
    return {
        "first": f"preferred: {found.first}",
        "second": f"preferred: {found.second}",
        "tie": "tie",
        None: "not judged",
    }


def _row(point: MapPoint, labels: dict[str | None, str]) -> dict[str, Any]:
    row: dict[str, Any] = {"item": point.item, "x": point.x, "y": point.y, "norm": point.norm}
    row |= {"preference": labels[point.preference], "chosen": point.chosen}
    return row if point.weight is None else {**row, "stands for": point.weight}
