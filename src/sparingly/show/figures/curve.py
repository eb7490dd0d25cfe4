"""Agreement with the full set over budgets: methods as lines, random selection as a line with its band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import UsageError
from sparingly.base.format import counted
from sparingly.infer.rank.compare import CurveComparison
from sparingly.show.figures.look import (
    COLOURS,
    DASHES,
    GREY,
    HEIGHT,
    WIDTH,
    framed,
    inline,
    legend_below,
)

if TYPE_CHECKING:
    from altair import VConcatChart

_BAND = "Band: 90 % interval of the mean of random selection, not of one draw."
_MEASURES = {
    "soft_pairwise_accuracy": "soft pairwise accuracy",
    "pairwise_accuracy": "pairwise accuracy",
    "winner_success": "share of pairs whose winner is found",
    "winner_bias": "bias of the winning distance",
}


def draw_curves(found: Sequence[CurveComparison]) -> VConcatChart:
    """Draw every method's curve over the share of the items that are judged, beside random selection."""
    import altair as alt

    _check(found)
    random = found[0].random
    name = f"random, mean of {random.runs} draws ({random.average:.3f})"
    labels = [*(_label(one) for one in found), name]
    colours = [*(COLOURS[place % len(COLOURS)] for place in range(len(found))), GREY]
    dashes = [*(list(DASHES[place // len(COLOURS) % len(DASHES)]) for place in range(len(found))), [1, 0]]
    x = (
        alt.X("share:Q")
        .title("share of the items that are judged")
        .axis(format=".0%", values=random.shares.round(4).tolist())
        .scale(zero=False, nice=False, padding=12)
    )
    y = alt.Y("value:Q").title(_measure(found[0])).scale(zero=False)
    rows = [row for one in found for row in _rows(_label(one), one.curve)]
    lines = alt.Chart(inline([*rows, *_rows(name, random)])).encode(
        x=x,
        y=y,
        color=alt.Color("method:N").scale(domain=labels, range=colours).legend(legend_below(labels)),
        strokeDash=alt.StrokeDash("method:N").scale(domain=labels, range=dashes).legend(legend_below(labels)),
    )
    band = (
        alt.Chart(inline(_band(random)))
        .mark_area(color=GREY, opacity=0.25)
        .encode(x=x, y=alt.Y("low:Q").title(_measure(found[0])).scale(zero=False), y2="high:Q")
    )
    points = lines.mark_circle(size=36, opacity=1.0).encode(
        tooltip=[
            "method:N",
            "items:Q",
            alt.Tooltip("share:Q", format=".1%"),
            alt.Tooltip("value:Q", format=".4f"),
        ]
    )
    below = [band] if random.runs > 1 else []
    chart = alt.layer(*below, lines.mark_line(strokeWidth=2), points).properties(width=WIDTH, height=HEIGHT)
    return framed(
        chart,
        "How soon a part of the items ranks the models as all items do",
        f"by {found[0].truth}, {counted(random.items, 'item')}; in brackets: averages over the budgets",
        [
            f"Agreement of the judged items with all {random.items}. "
            + (_BAND if random.runs > 1 else "One random draw has no interval."),
        ],
    )


def _check(found: Sequence[CurveComparison]) -> None:
    if not found:
        raise UsageError("A picture of curves needs at least one of them.")
    first = found[0]
    for one in found[1:]:
        if (one.truth, one.curve.measure, one.random.items) != (
            first.truth,
            first.curve.measure,
            first.random.items,
        ):
            raise UsageError("Curves in one picture must be of one set, one truth and one measure.")
    if len({one.method for one in found}) < len(found):
        raise UsageError("A method is there twice: give every method once.")


def _measure(one: CurveComparison) -> str:
    name = one.curve.measure
    return _MEASURES.get(name, name.replace("_", " "))


def _label(one: CurveComparison) -> str:
    return f"{one.method} ({one.curve.average:.3f})"


def _rows(name: str, drawn: Any) -> list[dict[str, Any]]:
    places = zip(drawn.sizes.tolist(), drawn.shares.tolist(), drawn.values.tolist(), strict=True)
    return [{"method": name, "items": size, "share": share, "value": value} for size, share, value in places]


def _band(random: Any) -> list[dict[str, float]]:
    places = zip(random.shares.tolist(), random.low.tolist(), random.high.tolist(), strict=True)
    return [{"share": share, "low": low, "high": high} for share, low, high in places if low == low]
