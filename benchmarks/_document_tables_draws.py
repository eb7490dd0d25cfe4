"""Draws of segments, documents and snippets, many of them: rankings, Kendall's tau, and who is drawn.

The draws are those that ``sparingly.select`` makes; only digests, signatures and notes are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly import EvalSet
from sparingly.base.errors import UsageError
from sparingly.base.rng import seed_list
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import as_selector
from sparingly.infer.rank.measures import kendall_b, rank_changes

Floats = NDArray[np.float64]

HUMAN = "human score"
# Draws of which best, median and worst are told, as published, and the seed that goes with them.
RUNS, SEED = 13, 13
SHARES = (0.2, 0.4, 0.6, 0.8)
# Segments of a document: where the bands begin, as published.
BANDS = (1, 10, 20, 30, 40, 50)


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


COMPUTED = (("chrF", "chrF"), ("BLEU", "BLEU"), ("consensus chrF", "consensus_chrF"))
SETS = (
    Set(
        "wmt20_ende_notext",
        "WMT20 en–de",
        "mqm",
        (("chrF", "chrF"), ("BLEU", "parbleu"), ("YiSi-2", "YiSi-2[QE]"), ("BLEURT", "bleurt-combi")),
    ),
    Set("wmt21_ende", "WMT21 en–de", "mqm", COMPUTED),
    Set("ted21_ende", "TED21 en–de", "mqm", COMPUTED),
    Set("biomqm_deen", "bio de–en", "mqm", COMPUTED),
    Set("biomqm_ende", "bio en–de", "mqm", COMPUTED),
    Set("biomqm_enes", "bio en–es", "mqm", COMPUTED),
    Set("biomqm_enfr", "bio en–fr", "mqm", COMPUTED),
    Set("biomqm_enru", "bio en–ru", "mqm", COMPUTED),
)


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
METHODS = (
    *(
        Method(f"{title}, {'one draw for all' if same else 'a draw for each model'}", text + how)
        for title, text in (
            ("segments", SEGMENTS),
            ("whole documents", DOCUMENTS),
            ("fixed snippets", FIXED),
            ("budgeted snippets", BUDGETED),
        )
        for same, how in ((True, ""), (False, ",matching=false"))
    ),
    Method("fixed snippets, weighted", FIXED, weighted=True),
    Method("budgeted snippets, weighted", BUDGETED, weighted=True),
    Method("budgeted snippets, wrapped", f"{BUDGETED},wrap=true"),
)


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
        assert chosen.probability is not None
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


def ranking_figures(data: EvalSet, one: Set, method: Method, share: float, count: int) -> Any:
    """Return, by truth, models of another rank in the first runs, the share of changed rankings, and tau."""
    text = without_context(method.text)
    if not can_be_drawn(data, text, share):
        return None
    truths = {name: data.truth(truth) for name, truth in one.columns.items()}
    means: dict[str, list[Floats]] = {name: [] for name in truths}
    for draw in draws(data, text, share, seed_list(SEED, count, "document tables")):
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
        for draw in draws(data, without_context(text), budget, seed_list(SEED, count, "document tables")):
            held = np.bincount(bands[draw.asked[:, 0]], minlength=len(BANDS))
            parts, counts = parts + held / held.sum(), counts + held.sum()
        found[text] = _shares(parts)
        found["items"] = round(counts / count, 1)
    return found


def _shares(counts: Floats | NDArray[np.int64]) -> list[float]:
    return [round(float(part), 4) for part in counts / counts.sum()]
