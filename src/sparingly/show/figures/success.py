"""How often items of small and of large norm agree with the winner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparingly.base.format import counted
from sparingly.infer.analysis.success_by_norm import SuccessByNorm
from sparingly.show.figures.look import (
    BLACK,
    BLUE,
    GREY,
    HEIGHT,
    VERMILION,
    WIDTH,
    framed,
    inline,
    legend_below,
    named,
    percent_axis,
    short,
)

if TYPE_CHECKING:
    from altair import VConcatChart

_AXIS = "share of the pairs (black) or of the items"
_SUCCESS = "pairs whose winner the bin names"
_RANDOM = "the same for random bins"
_WINNER, _LOSER, _TIE = "items that prefer the winner", "items that prefer the loser", "ties"


def draw_success(found: SuccessByNorm) -> VConcatChart:
    """Draw, over bins of growing norm, the shares of items for the winner, and whose winner a bin names."""
    import altair as alt

    rows = _rows(found)
    domain = [name for name in _COLOURS if any(row["what"] == name for row in rows)]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("norm:Q").title("mean norm of the difference between outputs, per bin").scale(zero=False),
        y=alt.Y("share:Q")
        .title(_AXIS if found.pairs > 1 else "share of the items")
        .axis(percent_axis())
        .scale(domain=[0.0, 1.0]),
        color=alt.Color("what:N")
        .scale(domain=domain, range=[_COLOURS[name] for name in domain])
        .legend(legend_below(domain)),
        strokeDash=alt.StrokeDash("what:N")
        .scale(domain=domain, range=[[5, 4] if name == _RANDOM else [1, 0] for name in domain])
        .legend(legend_below(domain)),
    )
    points = (
        base.transform_filter(alt.datum.what != _RANDOM)
        .mark_circle(size=45, opacity=1.0)
        .encode(tooltip=["what:N", alt.Tooltip("norm:Q", format=".3f"), alt.Tooltip("share:Q", format=".1%")])
    )
    chart = alt.layer(base.mark_line(strokeWidth=2), points).properties(width=WIDTH, height=HEIGHT)
    pairs = f"won by {short(found.winner)}" if found.winner else f"{found.pairs} pairs with a winner"
    each = counted(found.bins[0].items // found.pairs, "item")
    return framed(
        chart,
        "Do items on which the outputs differ more name the winner more often?",
        f"{named(found.models)}, {pairs}, by {found.by}",
        [
            f"{len(found.bins)} bins of equal count by the norm of the difference of embeddings "
            f"({found.embedding}), about {each} of a pair in each; winners are those on the full set.",
            *found.notes,
        ],
    )


_COLOURS = {_SUCCESS: BLACK, _RANDOM: BLACK, _WINNER: BLUE, _LOSER: VERMILION, _TIE: GREY}


def _rows(found: SuccessByNorm) -> list[dict[str, Any]]:
    shares = {_WINNER: "winner", _LOSER: "loser", _TIE: "tie"}
    # One pair's bin is right or wrong: a share of pairs means something only where there are several.
    if found.pairs > 1:
        shares = {_SUCCESS: "success", **shares}
    rows = [
        {"what": name, "norm": one.norm, "share": getattr(one, field)}
        for name, field in shares.items()
        for one in found.bins
    ]
    if found.pairs > 1:
        rows += [{"what": _RANDOM, "norm": one.norm, "share": found.random} for one in found.bins]
    return rows
