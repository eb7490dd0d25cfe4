"""The picture: do claims about models hold, from the top of a list, from random draws, and from ours?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks._honesty_coverage import OURS, RANDOM, TOP
from benchmarks._honesty_tables import of_way
from sparingly.show.figures.look import BLACK, BLUE, GREY, VERMILION, framed, inline, legend_below

if TYPE_CHECKING:
    from altair import FacetChart, LayerChart, VConcatChart

Figures = Mapping[str, Any]
LABELS = {
    TOP: "top of metric_cons's list",
    RANDOM: "random draw, plain means",
    OURS: "ours: local_pivotal draw, greg",
}
_COLOURS = {TOP: VERMILION, RANDOM: GREY, OURS: BLUE}
_SHAPES = {TOP: "triangle-down", RANDOM: "square", OURS: "circle"}
# The figure of each way that a panel shows; groups by Algorithm 1, and ours all at once.
_DIFFERENCES = dict.fromkeys(LABELS, "difference coverage")
_SCORES = dict.fromkeys(LABELS, "score coverage")
_WRONG = {TOP: "grouped wrong", RANDOM: "grouped wrong", OURS: "together wrong"}
_WIDTH, _ROW, _GAP = 215, 36, 22
_PROMISED, _ALLOWED = 0.95, 0.01
# The budget at which marks stand; lines go from the least to the most over all budgets.
_SHOWN = 1


def draw(sets: Sequence[Figures]) -> VConcatChart:
    """Draw coverage on the left and wrong claims on the right, a line of marks for every set."""
    import altair as alt

    panels = [
        _panel(sets, _DIFFERENCES, "intervals of differences that hold", _PROMISED, named=True),
        _panel(sets, _SCORES, "intervals of scores that hold", _PROMISED),
        _panel(sets, _WRONG, "pairs of models told apart wrongly", _ALLOWED),
    ]
    chart = alt.hconcat(*panels, spacing=_GAP).resolve_scale(color="shared", shape="shared", y="shared")
    budgets = [f"{100 * share:.0f}" for share in sets[0]["budgets"]]
    return framed(
        chart,
        f"“95 %” intervals of differences hold {_range(sets, TOP)} of the time from the top of a list, "
        f"{_range(sets, OURS)} from a draw with an estimate",
        f"Marks: {budgets[_SHOWN]} % of the items are judged. Lines: from the least to the most over "
        f"{', '.join(budgets[:-1])} and {budgets[-1]} %. Dashed: the promised 95 %, and 1 % of all pairs.",
        [
            "In brackets: the metric behind the list. The truth are the scores of all items. List and random "
            "draw: t intervals, and groups by Algorithm 1 of Zouhar et al. 2025, as of a sample. Ours: "
            "intervals as estimate prints them, and pairs that rank tells apart all at once (fewer of them).",
        ],
        width=3 * _WIDTH + 2 * _GAP + 100,
    )


def _range(sets: Sequence[Figures], way: str) -> str:
    """Return the least and the most coverage of differences over the sets, at the shown budget."""
    rows = [row for one in sets if (row := of_way(one, way)) is not None]
    told = [row[_DIFFERENCES[way]][_SHOWN] for row in rows]
    return "–".join(f"{100 * end:.0f}" for end in (min(told), max(told))) + " %"


def _panel(
    sets: Sequence[Figures], figures: Mapping[str, str], title: str, line: float, *, named: bool = False
) -> LayerChart | FacetChart:
    """Return one part of the picture, with a dashed line at what is promised."""
    import altair as alt

    placed, looks = _placed(sets, title, named), _looks()
    marks = alt.Chart(inline(_marks(sets, figures)))
    rule = alt.Chart(inline([{"line": line}])).mark_rule(color=BLACK, strokeDash=[5, 4], strokeWidth=1.2)
    return alt.layer(
        rule.encode(x="line:Q"),
        marks.mark_rule(strokeWidth=2, opacity=0.55).encode(
            x=placed["x"], x2="most:Q", color=looks["color"], y=placed["y"], yOffset=placed["yOffset"]
        ),
        marks.mark_point(filled=True, size=75, opacity=1.0).encode(
            **{**placed, "x": alt.X("value:Q")}, **looks
        ),
    ).properties(width=_WIDTH, height=_ROW * len(sets))


def _placed(sets: Sequence[Figures], title: str, named: bool) -> dict[str, Any]:
    """Return where marks stand: a row for every set, in it one line for every way."""
    import altair as alt

    axis = alt.Axis(grid=False, ticks=False, domain=False, labelPadding=8, labelLimit=300, labels=named)
    return {
        "x": alt.X("least:Q").title(title).axis(format=".0%", tickCount=5).scale(zero=True),
        "y": alt.Y("set:N", sort=[_name(one) for one in sets]).title(None).axis(axis),
        "yOffset": alt.YOffset("way:N", sort=list(LABELS.values())).scale(paddingOuter=0.6),
    }


def _looks() -> dict[str, Any]:
    """Return colours and shapes, and what is said under the pointer."""
    import altair as alt

    names = list(LABELS.values())
    legend = legend_below(names, lines=False, width=3 * _WIDTH)
    colours, shapes = [_COLOURS[way] for way in LABELS], [_SHAPES[way] for way in LABELS]
    percents = [alt.Tooltip(f"{name}:Q", format=".1%") for name in ("value", "least", "most")]
    return {
        "color": alt.Color("way:N").scale(domain=names, range=colours).legend(legend),
        "shape": alt.Shape("way:N").scale(domain=names, range=shapes).legend(legend),
        "tooltip": ["set:N", "way:N", *percents],
    }


def _name(one: Figures) -> str:
    return f"{one['title']} ({one['metric']})"


def _marks(sets: Sequence[Figures], figures: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return for every set and way what holds at the shown budget, and the range over all budgets."""
    rows = []
    for one in sets:
        for way, figure in figures.items():
            found = of_way(one, way)
            if found is None or found[figure][_SHOWN] is None:
                continue
            told = [value for value in found[figure] if value is not None]
            place = {"set": _name(one), "way": LABELS[way], "value": found[figure][_SHOWN]}
            rows.append({**place, "least": min(told), "most": max(told)})
    return rows
