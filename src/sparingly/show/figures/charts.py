"""The pictures: scores with intervals, possible ranks, agreement over budgets, growth, shares."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.format import counted, p_text
from sparingly.base.summary import Tabular
from sparingly.data.describe.description import Description
from sparingly.data.describe.representation import Representation
from sparingly.data.selection import Selection
from sparingly.infer.changes import Changes
from sparingly.infer.compare.head_to_head import HeadToHead
from sparingly.infer.compare.strengths import WinMatrix
from sparingly.infer.estimate.assemble import target_text
from sparingly.infer.estimate.bradley_terry import BradleyTerry
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.expect.expect import Expected
from sparingly.infer.judge.audit import JudgeAudit
from sparingly.infer.plan.outlook import Growth
from sparingly.infer.plan.plan import Plan
from sparingly.infer.plan.sample_size import SampleSize
from sparingly.infer.rank.compare import Comparison, CurveComparison
from sparingly.infer.rank.curve import Parity
from sparingly.infer.rank.ranking import Ranking
from sparingly.infer.rank.winners import Winners
from sparingly.run.raters.assignment import Assignment
from sparingly.run.raters.report import RaterReport
from sparingly.show.figures.look import (
    BLUE,
    COLOURS,
    DASHES,
    GREY,
    HEIGHT,
    VERMILION,
    WIDTH,
    framed,
    inline,
    legend_below,
    model_axis,
    need_report,
    step_height,
)

if TYPE_CHECKING:
    from altair import FacetChart, LayerChart, VConcatChart


# Written on coloured cells, these stay as they are on a dark page.
_ON_PALE, _ON_DEEP = "#1A1A1A", "#FDFDFD"
# With more models, figures do not fit into the cells.
_MOST_WRITTEN = 20
_BAND = "Band: 90 % interval of the mean of random selection, not of one draw."
_MEASURES = {
    "soft_pairwise_accuracy": "soft pairwise accuracy",
    "pairwise_accuracy": "pairwise accuracy",
    "winner_success": "share of pairs whose winner is found",
    "winner_bias": "bias of the winning distance",
}
_OBSERVED, _AHEAD = "as found", "as the errors would shrink"
_MOST_GROUPS, _MOST_KINDS = 8, 5
_MOST_RATER_PAIRS = 15
KINDS_IN_WORDS = {"document of": "items in its document", "source": "length of the source"}
# Where a quarter ends stands in the table.
_ENDS = re.compile(r" \((?:up to|over) [^()]*\)$")
_SET, _CHOSEN = "the set", "the selection"


def draw_scores(estimate: Estimate) -> VConcatChart:
    """Draw every model's score as a point on its interval; a hollow point has none."""
    rows = _score_rows(estimate)
    level = f"{100 * estimate.level:g} % intervals"
    missing = sum(row["low"] is None for row in rows)
    foot = [f"{counted(missing, 'interval')} could not be told."] if missing else []
    # Vega's own format: rates in percent, other scores as they are.
    chart = _points_on_lines(rows, estimate.aspect, "~%" if estimate.is_rate else "")
    return framed(chart, f"Scores ({estimate.aspect})", f"over {estimate.target_text}; {level}", foot)


def _score_rows(estimate: Estimate) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for place in estimate.order:
        low, score, high = (float(part[place]) for part in (estimate.low, estimate.scores, estimate.high))
        if np.isfinite(score):
            ends = (low, high) if np.isfinite([low, high]).all() else (None, None)
            rows.append({"name": estimate.models[place], "value": score, "low": ends[0], "high": ends[1]})
    return rows


def draw_strengths(strengths: BradleyTerry) -> VConcatChart:
    """Draw every model's strength as a point on its interval."""
    rows = _lines_of(strengths, "strength", "low", "high")
    foot = [f"{row['model']}: {row['status']}." for row in strengths.rows() if row["status"]]
    title = f"from {counted(strengths.comparisons, 'comparison')}; {100 * strengths.level:g} % intervals"
    return framed(_points_on_lines(rows, "strength, log-odds"), "Strengths of models", title, foot)


def draw_difference(pair: HeadToHead) -> VConcatChart:
    """Draw the difference of two models, or the first's share of wins, as a point on its interval."""
    (row,) = pair.rows()
    ends = {"low": row["low"], "high": row["high"]}
    title = f"wins of {pair.first}" if pair.tally is not None else f"{pair.first} less {pair.second}"
    points = [{"name": f"{pair.first}, {pair.second}", "value": row["estimate"], **ends}]
    chart = _points_on_lines(points, title, "~%" if pair.is_rate or pair.tally is not None else "")
    subtitle = f"{100 * (1 - pair.alpha):g} % interval; {pair.headline}"
    return framed(chart, "Two models compared", subtitle, [pair.sentence])


def draw_audit(audit: JudgeAudit) -> VConcatChart:
    """Draw the true scores on their intervals, and below each what the judge says."""
    if audit.estimate is not None:
        true, judged = _score_rows(audit.estimate), audit.judge_means
    else:
        rates = [] if audit.corrected is None else [audit.corrected.score]
        true, judged = [{"name": "", **rate._asdict()} for rate in rates], {"": audit.judge_mean}
    import altair as alt

    chart = _points_on_lines(true, audit.aspect, "~%" if audit.is_rate else "")
    rows = [{"name": row["name"], "value": judged[row["name"]]} for row in true if row["name"] in judged]
    names = [row["name"] for row in true]
    points = alt.Chart(inline(rows)).mark_point(
        color=VERMILION, shape="diamond", filled=True, size=90, opacity=1
    )
    of_judge = points.encode(x=alt.X("value:Q"), y=model_axis("name", names))
    subtitle = (
        f"blue: people, {100 * audit.level:g} % intervals; orange: the mean of {audit.judge} on everything"
    )
    layers = alt.layer(chart, of_judge).properties(width=WIDTH - 180, height=step_height(names))
    return framed(layers, f"{audit.aspect}: people and {audit.judge}", subtitle, [])


def draw_raters(report: RaterReport) -> VConcatChart:
    """Draw how well every two raters agree, and every rater's severity with two standard errors."""
    import altair as alt

    rows = [
        {
            "name": row["rater"],
            "value": row["severity"],
            "low": row["severity"] - 2 * row["standard_error"],
            "high": row["severity"] + 2 * row["standard_error"],
        }
        for row in report.rows()
        if row["severity"] is not None and row["standard_error"] is not None
    ]
    alpha = report.agreement.alpha
    pairs = [
        {"name": f"{pair.first} and {pair.second} ({pair.n})", "value": pair.pearson}
        for pair in sorted(report.agreement.pairs, key=lambda pair: -pair.n)[:_MOST_RATER_PAIRS]
        if np.isfinite(pair.pearson)
    ]
    severity = _points_on_lines(rows, "severity: points above or below the others")
    parts = [severity]
    if pairs:
        names = [str(row["name"]) for row in pairs]
        bars = alt.Chart(inline(pairs)).mark_bar(color=BLUE, size=14)
        x = alt.X("value:Q").title("correlation of two raters (outputs in common)").scale(domain=[0, 1])
        agreement = bars.encode(x=x, y=model_axis("name", names))
        parts.insert(0, agreement.properties(width=WIDTH - 180, height=step_height(names)))
    title = f"by {report.severity.aspect}; severity with two standard errors to either side"
    if alpha.units:
        title = f"Krippendorff's α {alpha.alpha:.2f} [{alpha.low:.2f}, {alpha.high:.2f}]; {title}"
    return framed(alt.vconcat(*parts), "How raters agree", title, [])


def draw_agreement(comparison: Comparison) -> VConcatChart:
    """Draw every model's score on the chosen items beside its score on all of them."""
    rows = _lines_of(comparison, "mean", "mean", "full_mean")
    title = "point: on the chosen items; the line ends at the score on all items"
    return framed(_points_on_lines(rows, comparison.truth), f"Scores ({comparison.truth})", title, [])


def draw_changes(changes: Changes) -> VConcatChart:
    """Draw every model's score after, on a line from its score before."""
    rows = _lines_of(changes, "after", "before", "after")
    return framed(_points_on_lines(rows, "score"), "What changed", "point: after; the line begins before", [])


def _lines_of(result: Tabular, value: str, low: str, high: str) -> list[dict[str, Any]]:
    """Return a point with its line for each model; where only one end is known, nothing is drawn."""
    rows = (
        {"name": row["model"], "value": row[value], "low": row[low], "high": row[high]}
        for row in result.rows()
    )
    return [row for row in rows if row["value"] is not None and (row["low"] is None) == (row["high"] is None)]


def _bars(title: str, subtitle: str, name: str, value: str) -> Callable[[Tabular], VConcatChart]:
    """Return what draws a bar for each row of a result."""

    def draw(result: Tabular) -> VConcatChart:
        import altair as alt

        rows = [
            {"name": " / ".join(str(row[part]) for part in name.split("/")), "value": row[value]}
            for row in result.rows()
        ]
        base = alt.Chart(inline(rows)).encode(y=model_axis("name", [row["name"] for row in rows]))
        return framed(base.mark_bar(color=BLUE).encode(x=alt.X("value:Q").title(subtitle)), title, "", [])

    return draw


def draw_probabilities(selection: Selection) -> VConcatChart:
    """Draw how many of the chosen items had which inclusion probability, or which utility."""
    import altair as alt

    name = "utility" if selection.probability is None and selection.utility is not None else "probability"
    values = [row[name] for row in selection.rows() if row.get(name) is not None]
    chart = alt.Chart(inline([{"value": value} for value in values])).mark_bar(color=BLUE)
    x = alt.X("value:Q").bin(maxbins=20).title(f"{name} of a chosen item")
    bars = chart.encode(x=x, y=alt.Y("count()").title("items"))
    return framed(bars, f"{len(selection)} of {selection.signature.of} items chosen", selection.meaning, [])


def _points_on_lines(rows: list[dict[str, Any]], title: str, format: str = "") -> LayerChart | FacetChart:
    """Return a point on a line for each name; a hollow point has no line."""
    import altair as alt

    axis = alt.Axis(format=format) if format else alt.Axis()
    names = [row["name"] for row in rows]
    base = alt.Chart(inline(rows)).encode(y=model_axis("name", names))
    x, start = (alt.X(f"{name}:Q").title(title).scale(zero=False).axis(axis) for name in ("value", "low"))
    lines = base.transform_filter("isValid(datum.low)").mark_rule(color=BLUE, strokeWidth=2.5)
    points = base.mark_point(color=BLUE, filled=True, size=70, opacity=1)
    hollow = base.transform_filter("!isValid(datum.low)").mark_point(color=BLUE, size=70, filled=False)
    layers = lines.encode(x=start, x2="high:Q"), points.encode(x=x), hollow.encode(x=x)
    return alt.layer(*layers).properties(width=WIDTH - 180, height=step_height(names))


def draw_plan(plan: Plan) -> VConcatChart:
    """Draw the half-width of a score's interval against the number of judged items."""
    import altair as alt

    rows = [{"n": row.n, "width": row.half_width} for row in plan.table if np.isfinite(row.half_width)]
    axis = alt.Axis(format="~%") if plan.is_rate else alt.Axis()
    chart = (
        alt.Chart(inline(rows))
        .mark_line(color=BLUE, strokeWidth=2, point=alt.OverlayMarkDef(color=BLUE, size=60))
        .encode(
            x=alt.X("n:Q").title("judged items"),
            y=alt.Y("width:Q").title("half-width of a score's interval").axis(axis),
        )
        .properties(width=WIDTH, height=HEIGHT * 0.7)
    )
    return framed(chart, "What more labels buy", plan.headline, [])


def draw_ranks(ranking: Ranking) -> VConcatChart:
    """Draw the ranks that are not ruled out as a line per model, and the place by score as a point."""
    import altair as alt

    rows = [
        {
            "model": model.model,
            "best": model.best_rank,
            "worst": model.worst_rank,
            "rank": model.rank,
            "group": model.group or 0,
        }
        for model in ranking.models
    ]
    names, count = [model.model for model in ranking.models], len(ranking.models)
    groups = sorted({model.group or 0 for model in ranking.models})
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
    colour = "; a colour is a group" if len(ranking.groups) > 1 else ""
    level = f"{100 * (1 - ranking.alpha):g} %"
    holds = f"on {target_text(ranking.target)}, at {level} confidence for all models at once"
    return framed(chart, f"Possible ranks ({ranking.aspect})", f"{holds}{colour}", [])


def draw_decisions(ranking: Ranking) -> VConcatChart:
    """Draw which model is significantly better than which, all pairs, with the corrected p-values."""
    names, better = [model.model for model in ranking.models], ranking.decisions.better
    values = 0.5 + 0.5 * better - 0.5 * better.T
    chart = _matrix(names, values, "the model of rank", [list(map(p_sign, row)) for row in ranking.corrected])
    about = f"blue: the row's model is significantly better, orange: worse; on {target_text(ranking.target)}"
    foot = ["In the cells: p-values, corrected for all pairs."] if len(names) <= _MOST_WRITTEN else []
    return framed(chart, "Who beats whom", about, foot)


def draw_wins(matrix: WinMatrix) -> VConcatChart:
    """Draw how often the model of a row won against that of a column, of decided comparisons."""
    names = matrix.models
    rates = np.array([[matrix.rate(winner, loser) for loser in names] for winner in names])
    texts = [[f"{100 * rate:.0f}" for rate in row] for row in rates.tolist()]
    subtitle = "how often a row's model wins against a column's, ties left out, in percent"
    return framed(_matrix(names, rates, "the model of rank", texts), "Who wins against whom", subtitle, [])


def p_sign(p_value: float) -> str:
    """Return a p-value short enough for a cell."""
    return (
        "" if p_value != p_value else p_text(p_value).removeprefix("p ").removeprefix("= ").replace(" ", "")
    )


def _matrix(
    names: Sequence[str], values: Floats, title: str, texts: Sequence[Sequence[str]]
) -> LayerChart | FacetChart:
    """Return a cell for every two names, from one colour for 0 over pale to another for 1."""
    import altair as alt

    pairs = np.argwhere(np.isfinite(values) & ~np.eye(len(names), dtype=bool)).tolist()
    rows = [
        {
            "model": names[row],
            "other": column + 1,
            "value": float(values[row, column]),
            "text": texts[row][column],
        }
        for row, column in pairs
    ]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("other:O").title(title).axis(labelAngle=0, orient="top"),
        y=model_axis("model", names, grid=False),
    )
    colours = alt.Scale(domain=[0, 0.5, 1], range=[VERMILION, "#F4F1EC", BLUE], interpolate="lab")
    cells = base.mark_rect().encode(color=alt.Color("value:Q").scale(colours).legend(None))
    deep = alt.condition("abs(datum.value - 0.5) > 0.38", alt.value(_ON_DEEP), alt.value(_ON_PALE))
    figures = base.mark_text(fontSize=9 if len(names) > 12 else 10).encode(text="text:N", color=deep)
    layers = [cells, figures] if len(names) <= _MOST_WRITTEN else [cells]
    return alt.layer(*layers).properties(width=WIDTH - 200, height=step_height(names, 24))


def draw_curves(comparisons: Sequence[CurveComparison]) -> VConcatChart:
    """Draw every method's curve over the share of the items that are judged, beside random selection."""
    import altair as alt

    if not comparisons:
        raise UsageError("A picture of curves needs at least one of them.")
    first = comparisons[0]
    if len({(entry.truth, entry.curve.measure, entry.random.items) for entry in comparisons}) > 1:
        raise UsageError("Curves in one picture must be of one set, one truth and one measure.")
    if len({entry.method for entry in comparisons}) < len(comparisons):
        raise UsageError("A method is there twice: give every method once.")
    random, count = first.random, len(comparisons)
    curves: dict[str, Any] = {
        f"{entry.method} ({entry.curve.average:.3f})": entry.curve for entry in comparisons
    }
    curves[f"random, mean of {random.runs} draws ({random.average:.3f})"] = random
    labels = list(curves)
    colours = [*(COLOURS[place % len(COLOURS)] for place in range(count)), GREY]
    dashes = [*(list(DASHES[place // len(COLOURS) % len(DASHES)]) for place in range(count)), [1, 0]]
    x = (
        alt.X("share:Q")
        .title("share of the items that are judged")
        .axis(format=".0%", values=random.shares.round(4).tolist())
        .scale(zero=False, nice=False, padding=12)
    )
    measure = _MEASURES.get(first.curve.measure, first.curve.measure.replace("_", " "))
    rows = [
        {"method": label, "items": size, "share": share, "value": value}
        for label, curve in curves.items()
        for size, share, value in zip(
            curve.sizes.tolist(), curve.shares.tolist(), curve.values.tolist(), strict=True
        )
    ]
    lines = alt.Chart(inline(rows)).encode(
        x=x,
        y=alt.Y("value:Q").title(measure).scale(zero=False),
        color=alt.Color("method:N").scale(domain=labels, range=colours).legend(legend_below(labels)),
        strokeDash=alt.StrokeDash("method:N").scale(domain=labels, range=dashes).legend(legend_below(labels)),
    )
    numbers = [alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("value:Q", format=".4f")]
    points = lines.mark_circle(size=36, opacity=1.0).encode(tooltip=["method:N", "items:Q", *numbers])
    layers = [lines.mark_line(strokeWidth=2), points]
    if random.runs > 1:
        ends = zip(random.shares.tolist(), random.low.tolist(), random.high.tolist(), strict=True)
        band = [{"share": share, "low": low, "high": high} for share, low, high in ends if low == low]
        low_ends = alt.Y("low:Q").title(measure).scale(zero=False)
        area = alt.Chart(inline(band)).mark_area(color=GREY, opacity=0.25)
        layers.insert(0, area.encode(x=x, y=low_ends, y2="high:Q"))
    interval = _BAND if random.runs > 1 else "One random draw has no interval."
    return framed(
        alt.layer(*layers).properties(width=WIDTH, height=HEIGHT),
        "How soon a part of the items ranks the models as all items do",
        f"by {first.truth}, {counted(random.items, 'item')}; in brackets: averages over the budgets",
        [f"Agreement of the judged items with all {random.items}. {interval}"],
    )


def draw_growth(growth: Growth) -> VConcatChart:
    """Draw the mean half-width of the intervals against the number of judged items."""
    import altair as alt

    rows = [
        {"n": point.n, "width": point.half_width, "of": kind}
        for kind, points in ((_OBSERVED, growth.seen), (_AHEAD, growth.ahead))
        for point in points
    ]
    colour = alt.Color("of:N").scale(domain=[_OBSERVED, _AHEAD], range=[BLUE, GREY])
    x = alt.X("n:Q").title(f"judged {growth.unit}").scale(zero=False)
    y = alt.Y("width:Q").title(f"half-width of a {100 * growth.level:g} % interval").scale(zero=True)
    base = alt.Chart(inline(rows)).encode(
        x=x, y=y, color=colour.legend(orient="bottom", title=None, symbolType="stroke")
    )
    lines = base.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash("of:N")
        .scale(domain=[_OBSERVED, _AHEAD], range=[[1, 0], [5, 4]])
        .legend(None)
    )
    points = base.transform_filter(f"datum.of === '{_OBSERVED}'").mark_point(filled=True, size=70, opacity=1)
    chart = alt.layer(lines, points).properties(width=WIDTH, height=HEIGHT * 0.7)
    return framed(chart, "Precision against labels", "mean over the models", [])


def draw_shares(representation: Representation) -> VConcatChart:
    """Draw the share of every group in the set and in the selection, joined by a line."""
    import altair as alt

    several = [(kind, shares) for kind, shares in representation.kinds.items() if len(shares) > 1]
    lean = {leaning.by for leaning in representation.leanings}
    # What leans most stands in the picture, whatever else has to be left to the table.
    first = {kind for kind, _ in sorted(several, key=lambda part: part[0] not in lean)[:_MOST_KINDS]}
    rows: list[dict[str, Any]] = [
        {
            "group": f"{KINDS_IN_WORDS.get(kind, kind)}: {_ENDS.sub('', share.group)}",
            "of": group,
            "share": value,
        }
        for kind, shares in several
        if kind in first
        for share in shares[:_MOST_GROUPS]
        for group, value in ((_SET, share.full_share), (_CHOSEN, share.selected_share))
    ]
    groups = list(dict.fromkeys(row["group"] for row in rows))
    base = alt.Chart(inline(rows)).encode(y=model_axis("group", groups))
    colour = (
        alt.Color("of:N")
        .scale(domain=[_SET, _CHOSEN], range=[GREY, BLUE])
        .legend(orient="bottom", title=None, symbolType="circle")
    )
    x = alt.X("share:Q").title("share of the items").axis(format=".0%")
    lines = base.mark_line(color=GREY, strokeWidth=1.5).encode(x=x, detail="group:N")
    points = base.mark_point(filled=True, size=65, opacity=1).encode(x=x, color=colour)
    chart = alt.layer(lines, points).properties(width=WIDTH - 230, height=step_height(groups))
    title = "Whom the selection represents"
    return framed(chart, title, f"{representation.n:,} of {representation.of:,} items, by group", [])


_PICTURES: Mapping[type, Callable[[Any], VConcatChart]] = MappingProxyType(
    {
        Estimate: draw_scores,
        Ranking: draw_ranks,
        BradleyTerry: draw_strengths,
        Plan: draw_plan,
        RaterReport: draw_raters,
        Representation: draw_shares,
        Growth: draw_growth,
        Comparison: draw_agreement,
        Changes: draw_changes,
        Selection: draw_probabilities,
        SampleSize: _bars("How many labels a question needs", "labels", "goal", "n"),
        Expected: _bars("What judging everything is expected to show", "expected score", "model", "score"),
        Winners: _bars("How far apart two models are", "distance", "first/second", "distance"),
        Parity: _bars("What a method needs for random's agreement", "items", "random_items", "items"),
        Assignment: _bars("Who judges how much", "items", "rater", "items"),
        HeadToHead: draw_difference,
        WinMatrix: draw_wins,
        JudgeAudit: draw_audit,
        Description: _bars("How complete the data is", "values that are there", "field", "present"),
    }
)
Pictured = Tabular | Growth


def figure(result: Pictured | Sequence[CurveComparison]) -> VConcatChart:
    """Return the picture of a result, as an Altair chart that notebooks show.

    Args:
        result: A result (an estimate, a ranking, a plan, a selection …), or what ``growth`` returned; or one
            or several results of ``curve``, which are drawn together.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> scores = sparingly.estimate(data, sparingly.select(data, "uniform", 60), "mqm")
        >>> sparingly.save_figure(sparingly.figure(scores), "scores.svg")
    """
    if isinstance(result, CurveComparison):
        result = [result]
    if type(result) in _PICTURES:
        draw = _PICTURES[type(result)]
    elif isinstance(result, Sequence) and all(isinstance(part, CurveComparison) for part in result):
        draw = draw_curves
    else:
        raise UsageError(f"There is no picture of {type(result).__name__}.")
    need_report()
    return draw(result)
