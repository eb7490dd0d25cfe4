"""The figures of honest scores as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.honesty_runs import BEST, CONS, FORMS, OURS, RANDOM, TOP, WAYS
from benchmarks.pages import bold, folded, points, signed, table
from sparingly.show.figures.look import BLACK, BLUE, GREY, VERMILION, framed, inline, legend_below

if TYPE_CHECKING:
    from altair import FacetChart, LayerChart, VConcatChart


Figures = Mapping[str, Any]
RANK, PREDICTED = FORMS[0], FORMS[2]
ALL_FORMS = "With t tests for this very set, and with predictions from shrunk differences"
# Zouhar et al. 2025, Table 9 (WMT23, MetricX-23 and DA+SQM): error of the scores, soft pairwise accuracy.
PUBLISHED = {
    "random": (0.008, 0.916),
    "metric_avg": (0.055, 0.926),
    "metric_var": (0.046, 0.930),
    "metric_cons": (0.031, 0.934),
    "diversity": (0.036, 0.930),
    "irt": (0.028, 0.926),
}
REACHED, MISSED, OPEN = "yes", "no", "cannot be told"


def error_blocks(main: Sequence[Figures], others: Sequence[Figures]) -> dict[str, str]:
    """Return the tables of errors and accuracies, by the names of their markers."""
    parts = {"honesty-others": _others(others)} if others else {}
    if not main:
        return parts
    return {
        "honesty-errors": _errors(main),
        "honesty-both": f"{_both(main, (RANK, PREDICTED))}\n\n{folded(ALL_FORMS, _both(main, FORMS))}",
        "honesty-budgets": _budgets(main),
        **parts,
    }


def _errors(sets: Sequence[Figures]) -> str:
    heads = [
        f"{data_set['title']}: {what}"
        for data_set in sets
        for what in ("error", "accuracy", "accuracy, predicted")
    ]
    rows = [["`random`", *_published("random"), *(_random_cells(sets))]]
    for place, row in enumerate(sets[0]["rows"]):
        cells = [cell for data_set in sets for cell in _cells(data_set, data_set["rows"][place])]
        rows.append([_named(row, sets[0]["metric"]), *_published(row["method"].split(":")[0]), *cells])
    return table(["chosen by", "published: error", "accuracy", *heads], rows)


def _published(name: str) -> tuple[str, str]:
    if name not in PUBLISHED:
        return "–", "–"
    error, accuracy = PUBLISHED[name]
    return f"{error / PUBLISHED['random'][0]:.2f}", points(accuracy)


def _random_cells(sets: Sequence[Figures]) -> list[str]:
    return [cell for data_set in sets for cell in ("1", _plus_minus(data_set["random"]["spa"]), "–")]


def _cells(figures: Figures, row: Figures) -> tuple[str, str, str]:
    error = bold(f"{row['ratio']['mean']:.2f}", row["ratio"]["mean"] < 1)
    if not row["ours"]:
        return error, _plus_minus(row["spa"]["plain"]), "–"
    bar = accuracy_of_cons(figures)
    own, predicted = (
        bold(_plus_minus(row["spa"][form]), row["spa"][form]["mean"] > bar) for form in (RANK, PREDICTED)
    )
    return error, own, predicted


def _plus_minus(figures: Figures) -> str:
    text = points(figures["mean"])
    return text if figures["low"] is None else f"{text} ± {points(figures['high'] - figures['mean'], 2)}"


def _named(row: Figures, metric: str) -> str:
    """Return the method without the metric, which is said elsewhere."""
    text = row["method"].replace(f":metric={metric}", "").replace(f"metric={metric}", "")
    return f"`{text}`" + (", `greg`" if row["ours"] else "")


def accuracy_of_cons(figures: Figures) -> float:
    """Return the soft pairwise accuracy of ``metric_cons`` with plain means on a set."""
    text = CONS.method.replace("{}", figures["metric"])
    return float(next(row for row in figures["rows"] if row["method"] == text)["spa"]["plain"]["mean"])


def verdict(figures: Figures, row: Figures, form: str) -> str:
    """Say whether the error is below random's and the accuracy above that of ``metric_cons``.

    Yes or no only where both intervals, over draws, say so; one list has no interval.
    """
    bar, spa = accuracy_of_cons(figures), row["spa"][form]
    low, high = (spa["mean"], spa["mean"]) if spa["low"] is None else (spa["low"], spa["high"])
    if row["ratio"]["high"] < 1 and low > bar:
        return REACHED
    return MISSED if row["ratio"]["low"] > 1 or high < bar else OPEN


def _both(sets: Sequence[Figures], forms: Sequence[str]) -> str:
    rows = []
    for place, row in enumerate(sets[0]["rows"]):
        if not row["ours"]:
            continue
        for form in forms:
            found = [verdict(data_set, data_set["rows"][place], form) for data_set in sets]
            cells = [
                cell for data_set in sets for cell in _against_cons(data_set, data_set["rows"][place], form)
            ]
            answer = REACHED if set(found) == {REACHED} else MISSED if MISSED in found else OPEN
            text = _named(row, sets[0]["metric"])
            rows.append([text, form, *cells, bold(answer, answer == REACHED)])
    heads = [
        f"{data_set['title']}: {what}"
        for data_set in sets
        for what in ("error", "accuracy less `metric_cons`'s", "draws above")
    ]
    return table(["configuration", "p-values", *heads, "both on both sets"], rows, texts=2)


def _against_cons(figures: Figures, row: Figures, form: str) -> tuple[str, str, str]:
    bar, spa, ratio = accuracy_of_cons(figures), row["spa"][form], row["ratio"]
    ends = "" if spa["low"] is None else f" [{signed(spa['low'] - bar)}, {signed(spa['high'] - bar)}]"
    error = f"{ratio['mean']:.2f} [{ratio['low']:.2f}, {ratio['high']:.2f}]"
    return error, f"{signed(spa['mean'] - bar)}{ends}", f"{100 * row['above'][form]:.0f} %"


def _budgets(sets: Sequence[Figures]) -> str:
    """Return the error and the accuracy of the best configuration at every budget."""
    rows = []
    for data_set in sets:
        text = BEST.method.replace("{}", data_set["metric"])
        by_budget = next(row for row in data_set["rows"] if row["method"] == text)["by_budget"]
        rows.append([f"{data_set['title']}: error", *(f"{value:.2f}" for value in by_budget["ratio"])])
        rows.append(
            [f"{data_set['title']}: accuracy, predicted", *(points(value) for value in by_budget["spa"])]
        )
    return table(["budget", *(f"{100 * share:.0f} %" for share in by_budget["share"])], rows)


def _others(sets: Sequence[Figures]) -> str:
    heads = (
        "set (metric; items × models)",
        "`random`: accuracy",
        "`metric_cons`: error",
        "accuracy",
        "`uniform`, `greg`: error",
        "accuracy, predicted",
        "`local_pivotal`, `greg`: error",
        "accuracy, predicted",
        "with `metric_avg`, tau 0.5: error",
        "accuracy, predicted",
    )
    return table(heads, [_other(data_set) for data_set in sets])


def _other(figures: Figures) -> list[str]:
    by_text = {row["method"]: row for row in figures["rows"]}
    name = f"{figures['title']} ({figures['metric']}; {figures['items']} × {figures['models']})"
    cells = [name, points(figures["random"]["spa"]["mean"])]
    for method, form in (
        (CONS.method, "plain"),
        ("uniform", PREDICTED),
        ("local_pivotal", PREDICTED),
        (BEST.method, PREDICTED),
    ):
        row = by_text.get(method.replace("{}", figures["metric"]))
        if row is None:
            cells += ["–", "–"]
            continue
        better = row["spa"][form]["mean"] > figures["random"]["spa"]["mean"]
        cells.append(bold(f"{row['ratio']['mean']:.2f}", row["ratio"]["mean"] < 1))
        cells.append(bold(points(row["spa"][form]["mean"]), better))
    return cells


def coverage_blocks(sets: Sequence[Figures]) -> dict[str, str]:
    """Return the tables of coverage and of wrong claims, by the names of their markers."""
    return {
        "honesty-coverage": _coverage(sets),
        "honesty-groups": _groups(sets),
        "honesty-sets": "\n\n".join(folded(_heading(data_set), _details(data_set)) for data_set in sets),
    }


def of_way(figures: Figures, way: str) -> Figures | None:
    """Return the figures of a way on a set; None where it was not asked for."""
    return next((row for row in figures["rows"] if row["way"] == way), None)


def over_sets(sets: Sequence[Figures], way: str, figure: str) -> list[float]:
    """Return the mean of a figure over the sets, at every budget; sets without it are left out."""
    rows = [row[figure] for data_set in sets if (row := of_way(data_set, way)) is not None]
    told = np.array([[np.nan if value is None else value for value in row] for row in rows], np.float64)
    known = ~np.isnan(told)
    return [float(v) for v in np.where(known, told, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)]


def _coverage(sets: Sequence[Figures]) -> str:
    shown = ("difference coverage", "score coverage", "significant", "wrong", "wrong of significant")
    heads = ("intervals of differences hold", "of scores", "pairs significant", "and wrong", "wrong of these")
    rows = []
    for way in WAYS:
        there = [data_set for data_set in sets if of_way(data_set, way.name) is not None]
        if not there:
            continue
        cells = [_triple(over_sets(there, way.name, figure)) for figure in shown]
        rows.append([way.name, f"{len(there)}", *cells])
    return table(["way", "sets", *heads], rows)


def _triple(values: Sequence[float | None]) -> str:
    return " / ".join(points(value) for value in values)


def _groups(sets: Sequence[Figures]) -> str:
    rows = []
    for way, figure, said in (
        (TOP, "grouped", "groups by Algorithm 1"),
        (RANDOM, "grouped", "groups by Algorithm 1"),
        (OURS, "grouped", "groups of rank sets"),
        (OURS, "together", "pairs, all at once"),
        (OURS, "significant", "pairs, one at a time"),
        (OURS, "over the set", "pairs, one at a time, on this very set"),
    ):
        wrong = "wrong" if figure == "significant" else f"{figure} wrong"
        cells = [_triple(over_sets(sets, way, name)) for name in (figure, wrong)]
        rows.append([way, said, *cells])
    return table(["way", "told apart by", "pairs told apart", "and wrong"], rows, texts=2)


def _heading(figures: Figures) -> str:
    counts = f"{figures['items']} items, {figures['models']} models"
    return f"{figures['title']}: {counts}; metric {figures['metric']}"


def _details(figures: Figures) -> str:
    shown = (
        "difference coverage",
        "score coverage",
        "withheld",
        "significant",
        "wrong",
        "grouped",
        "grouped wrong",
    )
    heads = (
        "differences hold",
        "scores hold",
        "withheld",
        "significant",
        "wrong",
        "in groups apart",
        "wrong",
    )
    rows = [[row["way"], *(_triple(row[figure]) for figure in shown)] for row in figures["rows"]]
    return table(["way", *heads], rows)


# --- the picture -----------------------------------------------------------------------------------------


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
    rows = [row for data_set in sets if (row := of_way(data_set, way)) is not None]
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
        "y": alt.Y("set:N", sort=[_name(data_set) for data_set in sets]).title(None).axis(axis),
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


def _name(figures: Figures) -> str:
    return f"{figures['title']} ({figures['metric']})"


def _marks(sets: Sequence[Figures], figures: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return for every set and way what holds at the shown budget, and the range over all budgets."""
    rows = []
    for data_set in sets:
        for way, figure in figures.items():
            found = of_way(data_set, way)
            if found is None or found[figure][_SHOWN] is None:
                continue
            told = [value for value in found[figure] if value is not None]
            place = {"set": _name(data_set), "way": LABELS[way], "value": found[figure][_SHOWN]}
            rows.append({**place, "least": min(told), "most": max(told)})
    return rows
