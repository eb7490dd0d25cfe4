"""Shares of a set and of a selection, kind by kind: whom the selection over-represents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sparingly.data.describe.representation import Representation
from sparingly.show.figures.look import (
    BLUE,
    GREY,
    WIDTH,
    framed,
    inline,
    model_axis,
    percent_axis,
    step_height,
)

if TYPE_CHECKING:
    from altair import VConcatChart

_MOST_GROUPS, _MOST_KINDS = 8, 5
KINDS_IN_WORDS = {"document of": "items in its document", "source": "length of the source"}
# Where a quarter ends stands in the table.
_ENDS = re.compile(r" \((?:up to|over) [^()]*\)$")
_SET, _CHOSEN = "the set", "the selection"


def draw_shares(found: Representation) -> VConcatChart:
    """Draw the share of every group in the set and in the selection, joined by a line."""
    import altair as alt

    rows = _rows(found)
    groups = list(dict.fromkeys(row["group"] for row in rows))
    base = alt.Chart(inline(rows)).encode(y=model_axis("group", groups))
    colour = (
        alt.Color("of:N")
        .scale(domain=[_SET, _CHOSEN], range=[GREY, BLUE])
        .legend(orient="bottom", title=None, symbolType="circle")
    )
    x = alt.X("share:Q").title("share of the items").axis(percent_axis())
    lines = base.mark_line(color=GREY, strokeWidth=1.5).encode(x=x, detail="group:N")
    points = base.mark_point(filled=True, size=65, opacity=1).encode(x=x, color=colour)
    chart = alt.layer(lines, points).properties(width=WIDTH - 230, height=step_height(groups))
    title = "Whom the selection represents"
    return framed(chart, title, f"{found.n} of {found.of} items, by group", [])


def _rows(found: Representation) -> list[dict[str, Any]]:
    several = [(kind, shares) for kind, shares in found.kinds.items() if len(shares) > 1]
    lean = {one.by for one in found.leanings}
    # What leans most stands in the picture, whatever else has to be left to the table.
    first = sorted(several, key=lambda one: one[0] not in lean)[:_MOST_KINDS]
    kinds = [one for one in several if one in first]
    return [
        {"group": f"{KINDS_IN_WORDS.get(kind, kind)}: {_ENDS.sub('', share.group)}", "of": of, "share": value}
        for kind, shares in kinds
        for share in shares[:_MOST_GROUPS]
        for of, value in ((_SET, share.full_share), (_CHOSEN, share.selected_share))
    ]
