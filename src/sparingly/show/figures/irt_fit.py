"""How well item response theory fits: predicted against observed, and the abilities of the models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparingly.base.format import counted
from sparingly.infer.analysis.base import columns_of
from sparingly.infer.analysis.irt_check import IrtCheck, ModelAbility, PredictedBin, PredictedPoint
from sparingly.show.figures.look import BLACK, BLUE, GREY, SKY, framed, inline, rows_of

if TYPE_CHECKING:
    from altair import FacetChart, LayerChart, VConcatChart

_SIDE = 330
_ROW = 16
_WIDE = 760


def draw_irt_fit(found: IrtCheck) -> VConcatChart:
    """Draw predictions against observations on the left, and abilities with their intervals on the right."""
    import altair as alt

    chart = alt.hconcat(_predicted(found), _abilities(found), spacing=40).resolve_scale(color="independent")
    left = "means of bins" if found.binary else "means of bins (black), single responses (blue)"
    known = found.abilities[0].low is not None
    right = f"abilities with {found.level:.0%} intervals" if known else "abilities"
    return framed(
        chart,
        "How well item response theory fits",
        f"left: {left}; right: {right}",
        [
            f"{found.method}: {counted(found.responses, 'response')} of "
            f"{counted(len(found.abilities), 'model')} to "
            f"{counted(found.items, 'item')}. On what was fitted: {found.fits}. Response: {found.response}.",
            *found.notes,
        ],
        width=_WIDE,
    )


def _predicted(found: IrtCheck) -> LayerChart | FacetChart:
    import altair as alt

    scale = alt.Scale(domain=[0.0, 1.0])
    bins = alt.Chart(inline(rows_of(columns_of(PredictedBin, found.bins)))).encode(
        x=alt.X("predicted:Q").title("predicted response").scale(scale)
    )
    even = alt.Chart(inline([{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}]))
    layers = [even.mark_line(color=GREY, strokeDash=[5, 4]).encode(x="x:Q", y="y:Q")]
    if not found.binary:
        points = alt.Chart(inline(rows_of(columns_of(PredictedPoint, found.points))))
        layers.append(
            points.mark_circle(color=SKY, size=14, opacity=0.4).encode(
                x=alt.X("predicted:Q").scale(scale),
                y=alt.Y("observed:Q").scale(scale),
                tooltip=["item:N", "model:N", "predicted:Q", "observed:Q"],
            )
        )
    observed = alt.Y("observed:Q").title("observed response").scale(scale)
    layers.append(
        bins.mark_rule(color=BLACK, strokeWidth=1.5).encode(y=alt.Y("low:Q").scale(scale), y2="high:Q")
    )
    layers.append(
        bins.mark_point(filled=True, color=BLACK, size=60, opacity=1.0).encode(
            y=observed, tooltip=["predicted:Q", "observed:Q", "responses:Q"]
        )
    )
    return alt.layer(*layers).properties(width=_SIDE, height=_SIDE)


def _abilities(found: IrtCheck) -> LayerChart | FacetChart:
    import altair as alt

    order = [one.model for one in found.abilities]
    base = alt.Chart(inline(rows_of(columns_of(ModelAbility, found.abilities)))).encode(
        y=alt.Y("model:N").sort(order).title(None)
    )
    points = base.mark_point(filled=True, color=BLUE, size=70, opacity=1.0).encode(
        x=alt.X("ability:Q").title("ability θ").scale(zero=False),
        tooltip=["model:N", alt.Tooltip("ability:Q", format=".2f"), alt.Tooltip("mean:Q", format=".3f")],
    )
    layers = [points]
    if found.abilities[0].low is not None:
        rules = base.mark_rule(color=BLUE, strokeWidth=2).encode(
            x=alt.X("low:Q").scale(zero=False), x2="high:Q"
        )
        layers.insert(0, rules)
    height = max(_SIDE, _ROW * len(order))
    return alt.layer(*layers).properties(width=_SIDE - 80, height=height)
