"""Lo and Knowles 2023: ranks from documents and snippets, and which documents are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import table
from benchmarks.papers.catalogue import Figures, PaperTable
from benchmarks.papers.work import DEMO, Work
from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.rng import seed_list
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import as_selector
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.measures import kendall_b, rank_changes

# --- what Lo and Knowles 2023 published ------------------------------------------------------------------


# The truths of Tables 1 to 3 and the columns here that stand for them.
METRICS = {"COMET-20": "COMET", "YiSi-1": "YiSi-1", "sentBLEU": "BLEU", "chrF": "chrF"}


class Runs(NamedTuple):
    """Directions with another ranking in the best, median and worst of 13 runs, of so many directions."""

    best: int
    median: int
    worst: int
    of: int


class Once(NamedTuple):
    """Directions with another ranking in the one sample that was drawn at WMT, of so many directions."""

    changed: int
    of: int


Row = tuple[Runs, Runs, Runs, Runs]

# The share of every direction that was judged at WMT, by table (Tables 6 to 8 there).
COVERAGES: dict[int, tuple[float, ...]] = {
    1: (0.7693, 0.3581, 0.7921, 0.2352, 0.8483, 0.6733, 0.3702, 0.4100, 0.4375),
    2: (
        0.9984, 0.8680, 0.6710, 0.6308, 0.8209, 0.7482, 0.7269, 0.8141, 0.9453, 0.9200, 0.8567,
        0.4748, 0.3054, 0.8707, 0.7553, 0.6232, 0.5261, 0.8687, 0.9003, 0.8436, 0.9101, 0.5429,
        0.8602, 0.9053, 0.9689, 0.9176, 0.7723, 0.9853, 0.9904, 0.9327, 0.7793, 0.9436, 0.8903,
        0.9006, 0.8926, 0.8058, 0.9213, 0.8671, 0.8298, 0.7048, 0.9313, 0.9068, 0.8542,
    ),
    3: (
        0.6007, 0.5916, 0.5989, 0.6926, 0.5798, 0.6990, 0.5871, 0.5935, 0.5798, 0.9555, 0.1249,
        0.5963,
    ),
}  # fmt: skip
SAMPLED: dict[int, tuple[Once, ...]] = {
    1: (Once(2, 3), Once(6, 9), Once(6, 9), Once(6, 9)),
    2: (Once(26, 35), Once(34, 43), Once(37, 43), Once(34, 43)),
    3: (Once(8, 12), Once(8, 12), Once(9, 12), Once(8, 12)),
}
# Simulated as at WMT: segments and whole documents with a draw for each model, fixed snippets with one.
AS_AT_WMT: dict[int, Row] = {
    1: (Runs(1, 1, 2, 3), Runs(3, 5, 7, 9), Runs(3, 6, 7, 9), Runs(3, 6, 8, 9)),
    2: (Runs(25, 27, 29, 35), Runs(28, 34, 36, 43), Runs(32, 35, 37, 43), Runs(31, 33, 37, 43)),
    3: (Runs(7, 10, 11, 12), Runs(6, 8, 10, 12), Runs(8, 9, 10, 12), Runs(5, 8, 10, 12)),
}
# Budgeted snippets, one draw for all.
PUBLISHED_BUDGETED: dict[int, Row] = {
    1: (Runs(1, 1, 2, 3), Runs(5, 6, 7, 9), Runs(4, 6, 7, 9), Runs(4, 7, 9, 9)),
    2: (Runs(13, 18, 21, 35), Runs(15, 18, 21, 43), Runs(25, 27, 32, 43), Runs(16, 20, 23, 43)),
    3: (Runs(4, 7, 10, 12), Runs(7, 8, 11, 12), Runs(6, 9, 11, 12), Runs(6, 8, 9, 12)),
}
# Percent of the segments by length of document (1–9, 10–19, … 50 and more): the full set, fixed, budgeted.
PUBLISHED_BANDS: dict[str, tuple[tuple[int | None, ...], ...]] = {
    "en–de": ((18, 44, 26, 8, 2, 3), (19, 48, 24, 7, 1, 1), (18, 44, 26, 8, 2, 3)),
    "en–ru": ((18, 44, 26, 8, 2, 3), (20, 43, 26, 8, 2, 2), (18, 44, 26, 8, 2, 3)),
    "zh–en": ((25, 26, 46, 3, None, None), (31, 28, 39, 2, None, None), (25, 26, 46, 3, None, None)),
    "sah–ru": ((7, 18, 14, 6, 15, 40), (7, 19, 13, 7, 15, 40), (7, 18, 14, 6, 15, 40)),
    "uk–cs": ((56, 11, 7, 5, 3, 19), (43, 35, 11, 4, 4, 4), (59, 11, 7, 5, 3, 19)),
}


# --- the fully judged sets with documents, and what stands for the truth in each -------------------------


HUMAN = "human score"


@dataclass(frozen=True)
class Set:
    """A fully judged set, its human score, and the metrics that are truths too.

    Attributes:
        file: The data set, without its ending.
        title: How it is called in the tables.
        human: The aspect that people judged.
        truths: Columns of the tables by the metric that stands in each.
    """

    file: str
    title: str
    human: str
    truths: tuple[tuple[str, str], ...]

    @property
    def columns(self) -> dict[str, str]:
        """The truth of every column of the tables."""
        return {HUMAN: self.human, **dict(self.truths)}


_COMPUTED = (("chrF", "chrF"), ("BLEU", "BLEU"), ("consensus chrF", "consensus_chrF"))
# Documents that are long enough for snippets to differ from them.
LONG = (
    Set(
        "wmt20_ende_notext",
        "WMT20 en–de",
        "mqm",
        (("chrF", "chrF"), ("BLEU", "parbleu"), ("YiSi-2", "YiSi-2[QE]"), ("BLEURT", "bleurt-combi")),
    ),
    Set("wmt21_ende", "WMT21 en–de", "mqm", _COMPUTED),
    Set("ted21_ende", "TED21 en–de", "mqm", _COMPUTED),
    Set("biomqm_deen", "bio de–en", "mqm", _COMPUTED),
    Set("biomqm_ende", "bio en–de", "mqm", _COMPUTED),
    Set("biomqm_enes", "bio en–es", "mqm", _COMPUTED),
    Set("biomqm_enfr", "bio en–fr", "mqm", _COMPUTED),
    Set("biomqm_enru", "bio en–ru", "mqm", _COMPUTED),
)
_PUBLISHED = (("COMET", "COMET"), ("YiSi-1", "YiSi-1"), ("BLEU", "BLEU"), ("chrF", "chrF"))
# Documents of ten segments at most; the first two have the paper's metrics.
SHORT = (
    Set("wmt23_ende", "WMT23 en–de", "mqm", _PUBLISHED),
    Set("wmt23_zhen", "WMT23 zh–en", "mqm", _PUBLISHED),
    Set("wmt24_encs", "WMT24 en–cs", "esa", _COMPUTED),
    Set("wmt24_enhi", "WMT24 en–hi", "esa", _COMPUTED),
    Set("wmt24_enzh", "WMT24 en–zh", "esa", _COMPUTED),
)
DEMO_SET = Set(DEMO, "the demo set", "overall", (("chrF", "learned"),))


def sets_of(work: Work, usual: tuple[Set, ...]) -> tuple[Set, ...]:
    """Return the sets to compute: the usual ones, or the demo set in their place."""
    return (DEMO_SET,) if work.is_demo else usual


# --- draws of segments, documents and snippets, many of them, and the means of the models over each ------
# The draws are those that ``sparingly.select`` makes; only digests, signatures and notes are left out.


# Draws of which best, median and worst are told, as published, and the seed that goes with them.
RUNS, SEED = 13, 13


@dataclass(frozen=True)
class Method:
    """A way to draw: what it is called, its text, and whether plain means are told (as there) or weighted."""

    title: str
    text: str
    weighted: bool = False

    @property
    def name(self) -> str:
        """What the method is called in files."""
        return f"{self.text}|{'weighted' if self.weighted else 'plain'}"


SEGMENTS, DOCUMENTS, FIXED, BUDGETED = (
    f"snippets:kind={kind}" for kind in ("segment", "document", "fixed", "budgeted")
)


def same_for_all(title: str, text: str) -> Method:
    """Return a draw that is the same for all models (the paper's matching subsets)."""
    return Method(f"{title}, one draw for all", text)


def for_each_model(title: str, text: str) -> Method:
    """Return a draw for each model by itself (non-matching subsets)."""
    return Method(f"{title}, a draw for each model", f"{text},matching=false")


def seeds_of(count: int) -> list[int]:
    """Return the seeds of so many draws."""
    return seed_list(SEED, count, "document tables")


class Draw(NamedTuple):
    """Which item is judged for which model (items × models), and the weight of every item's judgement."""

    asked: NDArray[np.bool_]
    weight: Floats


def draws(data: EvalSet, text: str, share: float | int, seeds: list[int]) -> Iterator[Draw]:
    """Draw once for every seed; a budget that the method cannot spend is an error."""
    budget = Budget("share", share) if share < 1 else Budget("count", share)
    chooser = as_selector(text).resolve(data, budget)
    seen = data.only(chooser.reads(data))
    everything = np.arange(len(data))
    columns = {name: place for place, name in enumerate(data.models)}
    for seed in seeds:
        chosen = chooser.choose(seen, budget, everything, seed)
        asked, weight = np.zeros((len(data), len(columns)), bool), np.zeros(len(data))
        if chosen.models is None:
            asked[chosen.rows] = True
        else:
            asked[chosen.rows, [columns[names[0]] for names in chosen.models]] = True
        if chosen.probability is not None:
            weight[chosen.rows] = 1.0 / chosen.probability
        yield Draw(asked, weight)


def can_be_drawn(data: EvalSet, text: str, share: float | int) -> bool:
    """Say whether a method can spend a budget: fixed snippets of a few long documents may be too few."""
    try:
        next(draws(data, text, share, [0]))
    except UsageError:
        return False
    return True


def without_context(text: str) -> str:
    """Return a method without the context that travels with its rows, which decides nothing here."""
    return f"{text},context=0"


def means_of(draw: Draw, values: Floats, *, weighted: bool) -> Floats:
    """Return every model's mean over the items on which it is judged."""
    weight = draw.asked * (draw.weight[:, None] if weighted else 1.0)
    return np.asarray((weight * values).sum(axis=0) / weight.sum(axis=0))


# --- how rankings by a draw differ from those of the full set, by every truth of a set -------------------


def ranking_figures(
    data: EvalSet, data_set: Set, method: Method, share: float | Sequence[float], count: int
) -> Any:
    """Return, by truth, models of another rank in the first runs, the share of changed rankings, and tau.

    Of several shares every draw takes the next; fixed snippets that cannot be of so many items are of as many
    as they can.
    """
    text = without_context(method.text)
    if isinstance(share, float) and not can_be_drawn(data, text, share):
        return None
    sizes = np.unique(data.columns["document"].astype(str), return_counts=True)[1]
    most = int(np.minimum(sizes, 10).sum())
    shares = [share] * count if isinstance(share, float) else list(share)
    budgets = {one: one if can_be_drawn(data, text, one) else most for one in set(shares)}
    truths = {name: data.truth(truth) for name, truth in data_set.columns.items()}
    means: dict[str, list[Floats]] = {name: [] for name in truths}
    for one, seed in zip(shares, seeds_of(count), strict=True):
        (draw,) = draws(data, text, budgets[one], [seed])
        for name, values in truths.items():
            means[name].append(means_of(draw, values, weighted=method.weighted))
    found = {}
    for name, values in truths.items():
        drawn, whole = np.array(means[name]), values.mean(axis=0)
        changes = rank_changes(drawn, whole)
        found[name] = {
            "changes": changes[:RUNS].astype(int).tolist(),
            "changed": round(float((changes > 0).mean()), 4),
            "kendall": round(float(kendall_b(drawn, whole).mean()), 4),
        }
    return found


# --- Shares of a set and of draws by the length of the documents that items come from --------------------


# Segments of a document: where the bands begin, as published.
BANDS = (1, 10, 20, 30, 40, 50)


def bands_of(data: EvalSet) -> NDArray[np.int64]:
    """Return the band of document lengths in which every item lies."""
    _, codes, sizes = np.unique(data.columns["document"].astype(str), return_inverse=True, return_counts=True)
    return np.asarray(np.searchsorted(BANDS, sizes, side="right") - 1)[codes]


def band_figures(data: EvalSet, share: float, count: int) -> dict[str, Any]:
    """Return the shares of the set and of draws by length of document, and of how many items draws were.

    Where fixed snippets cannot spend the budget, all draws are of as many items as they can.
    """
    bands = bands_of(data)
    sizes = np.unique(data.columns["document"].astype(str), return_counts=True)[1]
    budget: float | int = share
    if not can_be_drawn(data, without_context(FIXED), share):
        budget = int(np.minimum(sizes, 10).sum())
    found: dict[str, Any] = {"full": _shares(np.bincount(bands, minlength=len(BANDS))), "budget": budget}
    for text in (FIXED, BUDGETED):
        parts, counts = np.zeros(len(BANDS)), 0.0
        for draw in draws(data, without_context(text), budget, seeds_of(count)):
            held = np.bincount(bands[draw.asked[:, 0]], minlength=len(BANDS))
            parts, counts = parts + held / held.sum(), counts + held.sum()
        found[text] = _shares(parts)
        found["items"] = round(counts / count, 1)
    return found


def _shares(counts: Floats | NDArray[np.int64]) -> list[float]:
    return [round(float(part), 4) for part in counts / counts.sum()]


# --- tables 1 to 4 of Lo and Knowles 2023 ----------------------------------------------------------------


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
        Kind(for_each_model("segments", SEGMENTS), AS_AT_WMT[1]),
        Kind(same_for_all("segments", SEGMENTS), None),
        Kind(same_for_all(_SNIPPETS, BUDGETED), PUBLISHED_BUDGETED[1]),
    ),
    2: (
        Kind(for_each_model("whole documents", DOCUMENTS), AS_AT_WMT[2]),
        Kind(same_for_all("whole documents", DOCUMENTS), None),
        Kind(for_each_model(_SNIPPETS, BUDGETED), None),
        Kind(same_for_all(_SNIPPETS, BUDGETED), PUBLISHED_BUDGETED[2]),
    ),
    3: (
        Kind(same_for_all("fixed snippets", FIXED), AS_AT_WMT[3]),
        Kind(same_for_all(_SNIPPETS, BUDGETED), PUBLISHED_BUDGETED[3]),
    ),
}


def change_figures(work: Work, number: int) -> Figures:
    """Return, by set and draw, how many models changed their rank in each of the 13 runs."""
    found = {
        one.file: _of_set(work, one, number, place)
        for place, one in enumerate(sets_of(work, (*LONG, *SHORT)))
    }
    return {"runs": RUNS, "number": number, "sets": found}


def _of_set(work: Work, data_set: Set, number: int, place: int) -> Figures:
    # Every run takes the coverage of another direction of WMT, and so does every set in a run.
    known = COVERAGES[number]
    shares = [known[(place + run * len(LONG)) % len(known)] for run in range(RUNS)]
    drawn = {kind.method.title: _changes(work, data_set, kind.method, shares) for kind in KINDS[number]}
    return {"title": data_set.title, "drawn": drawn}


def _changes(work: Work, data_set: Set, method: Method, share: list[float]) -> Any:
    """Return the changes by truth."""
    key = {"what": "changed rankings", "method": method.name, "share": share, "truths": data_set.columns}

    def make() -> Any:
        found = ranking_figures(work.load(data_set.file), data_set, method, share, RUNS)
        return {truth: figures["changes"] for truth, figures in found.items()}

    return work.cell(data_set.file, key, make)


def change_text(computed: Figures, why: str) -> str:
    """Return the table: what was published, and what is computed here beside it."""
    number, there = computed["number"], list(computed["sets"].values())
    head = ["draw"]
    for metric in METRICS:
        head += [f"{metric}: paper", "here"]
    rows = [_sampled(number), *(_row(kind, there) for kind in KINDS[number])]
    made = (
        f"Sets whose ranking is another than that of the full set, in the best / median / worst of "
        f"{computed['runs']} runs. As much is drawn as was judged at WMT: every set has the coverage of "
        f"another direction in every run, {min(COVERAGES[number]):.0%} to {max(COVERAGES[number]):.0%} of "
        "the segments (fixed snippets: as many as they can be of)."
    )
    return "\n\n".join([made, table([*head, HUMAN], rows), why])


def _sampled(number: int) -> list[str]:
    cells = [part for once in SAMPLED[number] for part in (_published(once), _NONE)]
    return ["as sampled at WMT", *cells, _NONE]


def _row(kind: Kind, sets: list[Any]) -> list[str]:
    row = [kind.method.title]
    for place, truth in enumerate(METRICS.values()):
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
        for direction, lines in PUBLISHED_BANDS.items()
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
