"""Tables 1 to 4 of Lo and Knowles 2023."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from benchmarks.papers.base import Figures, PaperTable
from benchmarks.papers.knowles import published
from benchmarks.papers.knowles.bands import BANDS, band_figures
from benchmarks.papers.knowles.draws import (
    BUDGETED,
    DOCUMENTS,
    FIXED,
    RUNS,
    SEGMENTS,
    Method,
    for_each_model,
    same_for_all,
)
from benchmarks.papers.knowles.published import Once, Row, Runs
from benchmarks.papers.knowles.rankings import ranking_figures
from benchmarks.papers.knowles.sets import HUMAN, LONG, SHORT, Set, sets_of
from benchmarks.papers.markdown import table
from benchmarks.papers.work import Work

_PAPER = "Lo and Knowles 2023"
_NONE = "–"
_SNIPPETS = "budgeted snippets"
# What was judged at WMT22 of the first three directions of Table 4.
BAND_SHARE = 0.6


class Kind(NamedTuple):
    """A row of Tables 1 to 3: a draw, and what was published for it."""

    method: Method
    published: Row | None


KINDS: dict[int, tuple[Kind, ...]] = {
    1: (
        Kind(for_each_model("segments", SEGMENTS), published.AS_AT_WMT[1]),
        Kind(same_for_all("segments", SEGMENTS), None),
        Kind(same_for_all(_SNIPPETS, BUDGETED), published.BUDGETED[1]),
    ),
    2: (
        Kind(for_each_model("whole documents", DOCUMENTS), published.AS_AT_WMT[2]),
        Kind(same_for_all("whole documents", DOCUMENTS), None),
        Kind(for_each_model(_SNIPPETS, BUDGETED), None),
        Kind(same_for_all(_SNIPPETS, BUDGETED), published.BUDGETED[2]),
    ),
    3: (
        Kind(same_for_all("fixed snippets", FIXED), published.AS_AT_WMT[3]),
        Kind(same_for_all(_SNIPPETS, BUDGETED), published.BUDGETED[3]),
    ),
}


def change_figures(work: Work, number: int) -> Figures:
    """Return, by set and draw, how many models changed their rank in each of the 13 runs."""
    share = published.COVERAGE[number]
    found = {one.file: _of_set(work, one, number, share) for one in sets_of(work, (*LONG, *SHORT))}
    return {"share": share, "runs": RUNS, "number": number, "sets": found}


def _of_set(work: Work, one: Set, number: int, share: float) -> Figures:
    drawn = {kind.method.title: _changes(work, one, kind.method, share) for kind in KINDS[number]}
    return {"title": one.title, "drawn": drawn}


def _changes(work: Work, one: Set, method: Method, share: float) -> Any:
    """Return the changes by truth; None where the draw cannot spend the budget."""
    key = {"what": "changed rankings", "method": method.name, "share": share, "truths": one.columns}

    def make() -> Any:
        found = ranking_figures(work.load(one.file), one, method, share, RUNS)
        return None if found is None else {truth: figures["changes"] for truth, figures in found.items()}

    return work.cell(one.file, key, make)


def change_text(computed: Figures, why: str) -> str:
    """Return the table: what was published, and what is computed here beside it."""
    number, sets = computed["number"], computed["sets"].values()
    there = [one for one in sets if None not in one["drawn"].values()]
    head = ["draw"]
    for metric in published.METRICS:
        head += [f"{metric}: paper", "here"]
    rows = [_sampled(number), *(_row(kind, there) for kind in KINDS[number])]
    out = [one["title"] for one in sets if None in one["drawn"].values()]
    left = f" Without {', '.join(out)}: fixed snippets there cannot be of so many items." if out else ""
    made = (
        f"Sets whose ranking is another than that of the full set, in the best / median / worst of "
        f"{computed['runs']} runs. The paper draws as much of every direction as was judged at WMT, "
        f"{computed['share']:.0%} on average; here that share is drawn of every set.{left}"
    )
    return "\n\n".join([made, table([*head, HUMAN], rows), why])


def _sampled(number: int) -> list[str]:
    cells = [part for once in published.SAMPLED[number] for part in (_published(once), _NONE)]
    return ["as sampled at WMT", *cells, _NONE]


def _row(kind: Kind, sets: list[Any]) -> list[str]:
    row = [kind.method.title]
    for place, truth in enumerate(published.METRICS.values()):
        row.append(_NONE if kind.published is None else _published(kind.published[place]))
        row.append(changed(sets, kind.method.title, truth))
    return [*row, changed(sets, kind.method.title, HUMAN)]


def _published(one: Runs | Once) -> str:
    if isinstance(one, Once):
        return f"{one.changed} of {one.of}"
    return f"{one.best} / {one.median} / {one.worst} of {one.of}"


def changed(sets: list[Any], title: str, truth: str) -> str:
    """Return in how many sets the ranking changed, in the best, median and worst run."""
    held = [one["drawn"][title] for one in sets]
    changes = np.array([one[truth] for one in held if truth in one])
    if not changes.size:
        return _NONE
    runs = (changes > 0).sum(axis=0)
    return f"{runs.min()} / {np.median(runs):g} / {runs.max()} of {len(changes)}"


def shares_by_length(work: Work) -> Figures:
    """Return the shares of segments by length of document: the full set, fixed and budgeted snippets."""
    found = {}
    for one in sets_of(work, LONG):

        def make(file: str = one.file) -> Any:
            return band_figures(work.load(file), BAND_SHARE, RUNS)

        key = {"what": "shares by length", "share": BAND_SHARE, "runs": RUNS}
        found[one.file] = {"title": one.title, **work.cell(one.file, key, make)}
    return {"share": BAND_SHARE, "runs": RUNS, "sets": found}


def shares_text(computed: Figures, why: str) -> str:
    """Return the published shares, and those of the sets here."""
    bands = [*(f"{low}–{high - 1}" for low, high in pairwise(BANDS)), f"{BANDS[-1]}+"]
    samples = ("full set", "fixed", "budgeted")
    paper = [
        [direction if place == 0 else "", samples[place], *map(_percent, shares)]
        for direction, lines in published.BANDS.items()
        for place, shares in enumerate(lines)
    ]
    here = [row for one in computed["sets"].values() for row in _bands_of(one)]
    head = ["direction", "sample", *bands]
    made = (
        f"Percent of the segments by the length of their document, in segments. Here the mean of "
        f"{computed['runs']} draws of {computed['share']:.0%} of the segments, or of as many as fixed "
        "snippets can be of."
    )
    parts = ["**Paper** (WMT22)", table(head, paper, texts=2), f"**Here**: {made}"]
    return "\n\n".join([*parts, table(["set", *head[1:]], here, texts=2), why])


def _percent(value: int | None) -> str:
    return _NONE if value is None else str(value)


def _bands_of(one: Any) -> list[list[str]]:
    rows = []
    for title, name in (("full set", "full"), ("fixed", FIXED), ("budgeted", BUDGETED)):
        what = title if name == "full" else f"{title}, {one['items']:.0f} items"
        shares = [
            _NONE if not whole else f"{100 * part:.0f}"
            for part, whole in zip(one[name], one["full"], strict=True)
        ]
        rows.append([one["title"] if name == "full" else "", what, *shares])
    return rows


_OTHER_SETS = (
    "The sets are others: WMT19 to WMT22 with metrics alone there; here WMT20 to WMT24, TED talks and "
    "biomedical abstracts, with people's scores too. Only the two of WMT23 have COMET (of 2022) and YiSi-1, "
    "and BLEU of WMT20 is parbleu. What was drawn at WMT itself is not in the collection."
)
_WHY = {
    1: (
        f"{_OTHER_SETS} More rankings change here, where most sets are smaller. As in the paper, budgeted "
        "snippets do no worse than segments; but there snippets had one draw for all models and segments "
        "one for each. With one draw for all, segments and snippets come out alike."
    ),
    2: (
        f"{_OTHER_SETS} As in the paper, budgeted snippets change fewer rankings than whole documents as "
        "they were drawn at WMT. But the two differ in two ways at once, and the rows that were not "
        "published tell them apart: the gain is that all models have the same draw. With one draw for all, "
        "whole documents hold rankings at least as well as snippets."
    ),
    3: (
        f"{_OTHER_SETS} As in the paper, fixed and budgeted snippets change about as many rankings. "
        "Documents of WMT23 and WMT24 have ten segments at most, so that fixed snippets there are whole "
        "documents."
    ),
}
_WHY_SHARES = (
    "As in the paper, fixed snippets have more of the short documents than the set has, and budgeted ones "
    "have each length's share. The lean is larger here: every document is as likely and gives one snippet "
    "at most, while in the campaign of WMT22 longer documents may have been taken first (the paper's "
    "footnote 2). WMT22's test sets are not in the collection."
)


def _changes_table(number: int, shows: str) -> PaperTable:
    return PaperTable(
        name=f"s2-table{number}",
        title=f"{_PAPER}, Table {number}: {shows}",
        sets=tuple(one.file for one in (*LONG, *SHORT)),
        figures=partial(change_figures, number=number),
        text=partial(change_text, why=_WHY[number]),
    )


TABLE_1 = _changes_table(1, "rankings by segments and by budgeted snippets")
TABLE_2 = _changes_table(2, "rankings by whole documents and by budgeted snippets")
TABLE_3 = _changes_table(3, "rankings by fixed and by budgeted snippets")
TABLE_4 = PaperTable(
    name="s2-table4",
    title=f"{_PAPER}, Table 4: whose segments snippets are of, by length of document",
    sets=tuple(one.file for one in LONG),
    figures=shares_by_length,
    text=partial(shares_text, why=_WHY_SHARES),
)
