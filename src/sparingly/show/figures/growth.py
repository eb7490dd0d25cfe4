"""How wide intervals are with how many judged items: what was, and what more of them would bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparingly.infer.plan.growth import Growth
from sparingly.show.figures.look import BLUE, GREY, HEIGHT, WIDTH, framed, inline

if TYPE_CHECKING:
    from altair import VConcatChart

_SEEN, _AHEAD = "as found", "as the errors would shrink"


def draw_growth(found: Growth) -> VConcatChart:
    """Draw the mean half-width of the intervals against the number of judged items."""
    import altair as alt

    rows = [
        {"n": point.n, "width": point.half_width, "of": kind}
        for kind, points in ((_SEEN, found.seen), (_AHEAD, found.ahead))
        for point in points
    ]
    colour = alt.Color("of:N").scale(domain=[_SEEN, _AHEAD], range=[BLUE, GREY])
    x = alt.X("n:Q").title(f"judged {found.unit}").scale(zero=False)
    y = alt.Y("width:Q").title(f"half-width of a {100 * found.level:g} % interval").scale(zero=True)
    base = alt.Chart(inline(rows)).encode(
        x=x, y=y, color=colour.legend(orient="bottom", title=None, symbolType="stroke")
    )
    lines = base.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash("of:N").scale(domain=[_SEEN, _AHEAD], range=[[1, 0], [5, 4]]).legend(None)
    )
    points = base.transform_filter(f"datum.of === '{_SEEN}'").mark_point(filled=True, size=70, opacity=1)
    chart = alt.layer(lines, points).properties(width=WIDTH, height=HEIGHT * 0.7)
    return framed(chart, "Precision against labels", "mean over the models", [])
