"""Tables 1 to 6 as Markdown: what was published, and what is computed here beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.papers.markdown import table
from benchmarks.papers.saldias.published import TABLE_5, Bound, Line, Lines, ratio

Figures = Mapping[str, Any]

_HEAD = (
    "method",
    "paper: error",
    "sd",
    "win %",
    "ratio",
    "here: error",
    "sd",
    "win %",
    "ratio",
    "95 % interval",
)
_NONE = "–"


def error_text(computed: Figures, published: Lines, why: str) -> str:
    """Return a table for every set, how it was made, and why the figures differ."""
    parts = [_made(computed)]
    for one in computed["sets"]:
        parts += [f"**{one['direction']}, here {one['title']}**: {_about(one)}", _errors(one, published)]
    return "\n\n".join([*parts, why])


def _made(computed: Figures) -> str:
    return (
        f"{computed['draws']} draws of each share of 5, 10, … 50 % (the paper: 100). *Error* is the mean of "
        "the distance from the mean of all judgements, *sd* its deviation between draws, *win %* how many "
        "simulations and shares have a mean error below that of the baseline, *ratio* the error over it."
    )


def _about(one: Figures) -> str:
    low, high = one["items"]
    items = str(low) if low == high else f"{low}–{high}"
    systems, raters = f"{one['systems']} systems", one["raters"]
    by_rater = f"{raters} rater{'s' if raters > 1 else ''} × {systems}"
    who = by_rater if raters else f"{systems} by their mean judgement"
    return f"{who}, {items} items each; metrics {', '.join(one['shown'])}."


def _errors(one: Figures, published: Lines) -> str:
    lines = {line["method"]: line for line in one["lines"]}
    rows = []
    for method in published:
        there, here = published[method].get(one["direction"]), lines.get(method)
        if there is None and here is None:
            continue
        share = ratio(published, method, one["direction"])
        rows.append([method, *_there(there), _NONE if share is None else f"{share:.2f}", *_here(here)])
    return table(_HEAD, rows)


def _there(line: Line | None) -> list[str]:
    if line is None:
        return [_NONE] * 3
    return [f"{line.error:.3f}", f"{line.sd:.3f}", _NONE if line.win is None else f"{line.win:.1f}"]


def _here(line: Figures | None) -> list[str]:
    if line is None:
        return [_NONE] * 5
    win = _NONE if line["win"] is None else f"{100 * line['win']:.1f}"
    ends = f"{line['low']:.2f}–{line['high']:.2f}"
    return [f"{line['error']:.3f}", f"{line['sd']:.3f}", win, f"{line['ratio']:.2f}", ends]


def bound_text(computed: Figures, why: str) -> str:
    """Return Table 5 for every set: the bounds with the paper's range and with the range of the scores."""
    parts = [
        f"{computed['draws']} draws of each share (the paper: 100). *Cal* is the share of draws, in percent, "
        "whose error kept to the 95 % bound, *slack* the mean of bound minus error, *t* the bound."
    ]
    for one in computed["sets"]:
        parts += [f"**{one['direction']}, here {one['title']}**: {_about(one)}", _bounds(one)]
    return "\n\n".join([*parts, why])


def _bounds(one: Figures) -> str:
    names = list(dict.fromkeys(line["bound"] for line in one["bounds"]))
    chosen = next((name for name in names if "R =" in name), None)
    lines = {(line["share"], line["method"], line["bound"]): line for line in one["bounds"]}
    rows = []
    for share, methods in TABLE_5.items():
        for method, by_direction in methods.items():
            own = [lines.get((share, method, name)) for name in (chosen, "Hoeffding", "Bernstein")]
            cells = [*_bound_there(by_direction[one["direction"]]), *_bound_here(own[0])]
            cells += [part for line in own[1:] for part in _bound_here(line)[::2]]
            rows.append([f"{share:.0%}", method, *cells])
    head = ["share", "method", "paper: cal %", "slack", "t", "here, the paper's R: cal %", "slack", "t"]
    head += ["Hoeffding, own R: cal %", "t", "Bernstein, own R: cal %", "t"]
    return table(head, rows, texts=2)


def _bound_there(one: Bound) -> list[str]:
    return [str(one.calibration), f"{one.slack:.2f}", f"{one.width:.2f}"]


def _bound_here(line: Figures | None) -> list[str]:
    if line is None:
        return [_NONE] * 3
    return [f"{100 * line['calibration']:.0f}", f"{line['slack']:.2f}", f"{line['width']:.2f}"]
