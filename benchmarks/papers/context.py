"""Whether it matters where in a document a snippet lies, and what reading its context costs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.pages import table
from benchmarks.papers.catalogue import PaperTable
from benchmarks.papers.lo_knowles import (
    BUDGETED,
    LONG,
    SEGMENTS,
    SHORT,
    Set,
    draws,
    means_of,
    seeds_of,
    sets_of,
)
from benchmarks.papers.work import Work, rounded
from sparingly.base.arrays import Floats, Ints
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.measures import kendall_b

PLACES = ("start", "middle", "end")
PRICES = (0.0, 0.25, 0.5, 1.0)
DRAWS, SHARE = 65, 0.3
# Sets whose raters' times are known.
TIMED = ("wmt24_encs", "wmt24_enhi", "wmt24_enzh", "wmt23_ende_esa")
_LONGEST_SECONDS = 600.0


def figures(work: Work) -> dict[str, Any]:
    """Return Kendall's tau by the place of snippets and by the price of reading, and the times of raters."""
    sets = [
        {
            "title": one.title,
            **work.cell(one.file, {"what": "context", "human": one.human}, partial(_of, work, one)),
        }
        for one in sets_of(work, (*LONG, *SHORT))
    ]
    timed = () if work.is_demo else TIMED
    times = {file: work.cell(file, {"what": "times by place"}, partial(_times, work, file)) for file in timed}
    return {"sets": sets, "times": times}


def _of(work: Work, one: Set) -> dict[str, Any]:
    data = work.load(one.file)
    scores, place, length = data.truth(one.human), *_places(data)
    full = scores.mean(axis=0)
    half = length / 2
    inside = {
        "start": place < half,
        "middle": (place >= half / 2) & (place < 1.5 * half),
        "end": place >= length - half,
    }
    centred = scores - full
    spread = float(centred.std())
    return {
        "tau": {
            name: rounded(float(kendall_b(scores[rows].mean(axis=0), full))) for name, rows in inside.items()
        },
        "score": {name: rounded(float(centred[rows].mean()) / spread) for name, rows in inside.items()},
        "paid": {
            name: [_tau(data, scores, f"{text},reading={price:g}") for price in PRICES]
            for name, text in (("segments", SEGMENTS), ("budgeted snippets", BUDGETED))
        },
    }


def _places(data: EvalSet) -> tuple[Ints, Ints]:
    """Return the place of every item in its document, and how many items the document has."""
    names = data.columns["document"].astype(str)
    position = np.asarray(data.columns["position"], np.float64)
    order = np.lexsort((position, names))
    _, first, counts = np.unique(names[order], return_index=True, return_counts=True)
    place, length = np.empty(len(data), np.int64), np.empty(len(data), np.int64)
    place[order] = np.arange(len(data)) - np.repeat(first, counts)
    length[order] = np.repeat(counts, counts)
    return place, length


def _tau(data: EvalSet, scores: Floats, text: str) -> float | None:
    found = [means_of(draw, scores, weighted=False) for draw in draws(data, text, SHARE, seeds_of(DRAWS))]
    return rounded(float(kendall_b(np.array(found), scores.mean(axis=0)).mean()))


def _times(work: Work, file: str) -> dict[str, Any]:
    """Return the median seconds for the first output of a document's segment and for later ones."""
    data = work.load(file)
    place, _ = _places(data)
    ratings = data.ratings
    seconds = np.asarray(ratings.seconds, np.float64)
    known = (seconds > 0) & (seconds < _LONGEST_SECONDS) & (ratings.model < len(data.models))
    at = place[ratings.item]
    bands = {"first": at == 0, "second": at == 1, "third and later": at >= 2}
    return {
        name: [int((rows & known).sum()), rounded(float(np.median(seconds[rows & known])))]
        for name, rows in bands.items()
    }


def text(computed: dict[str, Any]) -> str:
    """Return the three tables."""
    sets = computed["sets"]
    places = [
        [
            one["title"],
            *(f"{one['tau'][name]:.2f}" for name in PLACES),
            *(f"{one['score'][name]:+.2f}" for name in PLACES),
        ]
        for one in sets
    ]
    means = [np.mean([one[part][name] for one in sets]) for part in ("tau", "score") for name in PLACES]
    places.append(["**mean**", *(f"**{mean:.2f}**" for mean in means)])
    paid = [
        [name, *(f"{np.mean([one['paid'][name][at] for one in sets]):.3f}" for at in range(len(PRICES)))]
        for name in ("segments", "budgeted snippets")
    ]
    times = [
        [file, *(f"{seconds:.0f} s ({count})" for count, seconds in found.values())]
        for file, found in computed["times"].items()
    ]
    heads = [f"τ, {name}" for name in PLACES] + [f"score, {name}" for name in PLACES]
    prices = [f"reading costs {price:g}" for price in PRICES]
    parts = [
        "**Place.** Kendall's τ with the full set by the first half, the middle half and the last half of "
        "every document, and how much higher scores are there, in standard deviations:",
        table(["set", *heads], places),
        f"**Price.** τ at {SHARE:.0%} of the effort, means over sets and {DRAWS} draws, when reading a "
        "segment of context (ten before a snippet at most) costs a share of judging one "
        "(`snippets:reading=…`):",
        table(["draw", *prices], paid),
    ]
    if times:
        parts += [
            "**Time.** Median seconds for an output (number of outputs), by the place of its segment:",
            table(["set", "first of its document", "second", "third and later"], times),
        ]
    return "\n\n".join(
        [
            *parts,
            "Lo and Knowles expect that context matters and that reading it takes time (section 6), and have "
            "neither judgements nor times. None of these sets was judged twice, with context and without, so "
            "that what context does to scores cannot be told from them.",
        ]
    )


CONTEXT = PaperTable(
    "s2-context",
    "Lo and Knowles 2023, section 6: where snippets lie, and what reading context costs",
    tuple(dict.fromkeys([*(one.file for one in (*LONG, *SHORT)), *TIMED])),
    figures,
    text,
)
