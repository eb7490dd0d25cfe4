"""Scores with their intervals: one line per model, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly.base.format import counted
from sparingly.infer.estimate.result import Estimate
from sparingly.show.figures.look import BLUE, WIDTH, framed, inline, model_axis, step_height

if TYPE_CHECKING:
    from altair import VConcatChart


def draw_scores(found: Estimate) -> VConcatChart:
    """Draw every model's score as a point on its interval; a hollow point has none."""
    import altair as alt

    names = [found.models[place] for place in found.order if np.isfinite(found.scores[place])]
    rows = [_row(found, found.models.index(name)) for name in names]
    # Vega's own format: rates in percent, other scores as they are.
    axis = alt.Axis(format="~%") if found.is_rate else alt.Axis()
    x = alt.X("score:Q").title(found.aspect).scale(zero=False).axis(axis)
    base = alt.Chart(inline(rows)).encode(y=model_axis("model", names))
    known = base.transform_filter("isValid(datum.low)")
    lines = known.mark_rule(color=BLUE, strokeWidth=2.5).encode(
        x=alt.X("low:Q").title(found.aspect).scale(zero=False).axis(axis), x2="high:Q"
    )
    points = base.mark_point(color=BLUE, filled=True, size=70, opacity=1).encode(x=x)
    hollow = base.transform_filter("!isValid(datum.low)").mark_point(color=BLUE, size=70, filled=False)
    chart = alt.layer(lines, points, hollow.encode(x=x)).properties(
        width=WIDTH - 180, height=step_height(names)
    )
    level = f"{100 * found.level:g} % intervals"
    missing = len(names) - sum(row["low"] is not None for row in rows)
    foot = [f"{counted(missing, 'interval')} could not be told."] if missing else []
    return framed(chart, f"Scores by {found.aspect}", f"over {found.target_text}; {level}", foot)


def _row(found: Estimate, place: int) -> dict[str, Any]:
    low, high = float(found.low[place]), float(found.high[place])
    told = np.isfinite(low) and np.isfinite(high)
    return {
        "model": found.models[place],
        "score": float(found.scores[place]),
        "low": low if told else None,
        "high": high if told else None,
    }
