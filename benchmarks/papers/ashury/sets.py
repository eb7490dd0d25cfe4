"""The data sets on which pairs of models are compared, and what is known of each before anyone judges it.

The paper's sets (six scenarios of HELM, whose oracles are automatic metrics) are not in the collection. These
have human scores, or those of a judge, and metrics, each of which can stand for the oracle as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial, reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.analyses.pairs import Outputs, outputs_of
from benchmarks.minilm import EMBEDDING, with_minilm
from benchmarks.papers.work import DEMO, Work
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.pairs import chance_of_lead
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.winners import subsample
from sparingly.published.diffuse_iterative import SplitTree
from sparingly.published.linkage import ward_linkage
from sparingly.run.rounds.stop.sequential import anytime, group_sequential
from sparingly.signals.embed.differences import stacked_differences

TFIDF = "tfidf"
# Pairs of models that are compared at most, drawn by their names: enough for a percent, in minutes.
MOST_PAIRS = 150
SHARE = 0.8


@dataclass(frozen=True)
class Source:
    """A data set, the scores that preferences are taken from, and its title."""

    file: str
    truth: str
    title: str


SUMMEVAL = Source("summeval_llm12", "sum", "SummEval")
SOURCES = (
    Source("alpacaeval2_llmjudge", "pref_vs_gpt4turbo_JUDGE_gpt4turbo", "AlpacaEval 2 (LLM judge)"),
    Source("wmt23_zhen", "mqm", "WMT23 zh–en"),
    Source("wmt23_ende", "mqm", "WMT23 en–de"),
    Source("wmt23_ende_esa", "esa1", "WMT23 en–de, ESA"),
    Source("wmt23_zhen_mqm3", "mqm3", "WMT23 zh–en, three raters"),
    Source("wmt23_ende_mqm3", "mqm3", "WMT23 en–de, three raters"),
    SUMMEVAL,
)
FILES = tuple(one.file for one in SOURCES)
DEMO_SOURCE = Source(DEMO, "overall", "demo")


def sources(work: Work, usual: tuple[Source, ...] = SOURCES) -> tuple[Source, ...]:
    """Return the sets to compute on: the usual ones, or the demo set in their place."""
    return (DEMO_SOURCE,) if work.is_demo else usual


@lru_cache(maxsize=2)
def outputs(work: Work, file: str, embedding: str = TFIDF) -> Outputs:
    """Return the embedded outputs of a set; kept, because many cells in a row use the same."""
    return outputs_of(*embedded_set(work, file, embedding))


def embedded_set(work: Work, file: str, embedding: str) -> tuple[EvalSet, str]:
    """Return a set with the vectors that an embedding names, and the embedding's name in it."""
    data, seen = work.load(file), work.embedding(embedding)
    return (with_minilm(data) if seen == EMBEDDING else data), seen


def drawn_pairs(models: tuple[str, ...], most: int | None) -> list[tuple[int, int]]:
    """Return the places of the two models of every pair, or of ``most`` of them, drawn by their names."""
    pairs = [(one, other) for one in range(len(models)) for other in range(one + 1, len(models))]
    if most is None or most >= len(pairs):
        return pairs
    keys = rng.keys_of([f"{models[one]}\x1f{models[other]}" for one, other in pairs])
    order = rng.stream(keys, 0, "pairs of a table").argsort(kind="stable")
    return [pairs[place] for place in sorted(order[:most].tolist())]


# --- when a comparison of two models stops ---------------------------------------------------------------


Test = Literal["group", "anytime"]

# At least so many labels, at most so many, and as many between the looks of the group-sequential test.
LEAST, MOST, STEP = 5, 200, 20
RISKS = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01)


@dataclass(frozen=True, eq=False)
class Voters:
    """Which items have a vote after every step: they come, and may leave again.

    Attributes:
        step: When an item comes or leaves.
        item: The item.
        sign: 1 where it comes, −1 where it leaves.
        steps: The number of steps.
    """

    step: Ints
    item: Ints
    sign: Floats
    steps: int

    @classmethod
    def of(cls, changes: Iterable[tuple[int | None, tuple[int, ...]]]) -> Voters:
        """Return the votes of steps that drop an item, or none, and ask for others."""
        rows = [
            (step, item, sign)
            for step, (dropped, asked) in enumerate(changes)
            for item, sign in [
                *((one, 1.0) for one in asked),
                *([] if dropped is None else [(dropped, -1.0)]),
            ]
        ]
        step, item, sign = (np.array(part) for part in zip(*rows, strict=True))
        return cls(step.astype(np.int64), item.astype(np.int64), sign, int(step[-1]) + 1)

    def running(self, values: Floats | NDArray[np.bool_]) -> Floats:
        """Return the sum of a value per item over those who have a vote, after every step."""
        return np.cumsum(np.bincount(self.step, self.sign * values[self.item], self.steps))

    @property
    def spent(self) -> Floats:
        """How many labels were asked for up to every step, those that left included."""
        return np.cumsum(np.bincount(self.step, self.sign > 0.0, self.steps))


def by_lead(size: int, spent: Floats, judged: Floats, wins: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """Return labels and answer of the hypergeometric stop at every risk (App. A.3); 0 is no answer."""
    leading = np.round(np.maximum(wins, losses)).astype(np.int64)
    chance = np.where(wins == losses, 1.0, _leads(size)[np.round(judged).astype(np.int64), leading])
    labels, sign = np.empty(len(RISKS)), np.zeros(len(RISKS))
    for place, risk in enumerate(RISKS):
        where = np.flatnonzero(chance <= risk)
        at = int(where[0]) if len(where) else len(chance) - 1
        labels[place] = spent[at]
        if len(where):
            sign[place] = np.sign(wins[at] - losses[at])
    return labels, sign


def by_test(size: int, ahead: Floats, kind: Test) -> tuple[Floats, Floats]:
    """Return labels and answer of a valid test of the mean preference, at every error rate."""
    most = len(ahead)
    counts = _counts(most, kind)
    total = np.cumsum(ahead)[counts - 1]
    # A vote for each side on top, so that a run of equal answers is not taken for certainty.
    square = (np.cumsum(ahead**2)[counts - 1] + 2.0) / (counts + 2.0)
    variance = (square - (total / (counts + 2.0)) ** 2) / counts * np.maximum(1.0 - counts / size, 1e-9)
    statistic = total / counts / np.sqrt(variance)
    labels, sign = np.full(len(RISKS), float(most)), np.zeros(len(RISKS))
    for place, risk in enumerate(RISKS):
        crossed = np.flatnonzero(np.abs(statistic) >= _criticals(size, most, kind, risk))
        if len(crossed):
            labels[place], sign[place] = counts[crossed[0]], np.sign(statistic[crossed[0]])
    return labels, sign


def _counts(most: int, kind: Test) -> Ints:
    if kind == "group":
        return np.unique(np.append(np.arange(STEP, most + 1, STEP), most))
    return np.arange(min(LEAST, most), most + 1)


@lru_cache(maxsize=4)
def _leads(size: int) -> Floats:
    count, votes = np.meshgrid(np.arange(MOST + 2), np.arange(MOST + 2), indexing="ij")
    return chance_of_lead(size, np.minimum(count, size), votes)


@lru_cache(maxsize=256)
def _criticals(size: int, most: int, kind: Test, risk: float) -> Floats:
    counts = _counts(most, kind)
    known = [1.0 / (1.0 / count - 1.0 / (size + 1)) for count in counts.tolist()]
    if kind == "anytime":
        return np.array([anytime(one / known[-1], risk) for one in known])
    clock = tuple(count / most for count in counts.tolist())
    return np.array(
        [group_sequential(clock[: at + 1], tuple(known[: at + 1]), risk) for at in range(len(clock))]
    )


# --- DiffUse and random samples on pairs of models of a set ----------------------------------------------


Figures = dict[str, Any]

BUDGETS = tuple(range(5, 201, 5))
HUMAN, METRICS = "human", "metrics"
# DiffUse by character n-grams, and by the paper's own encoder.
DIFFUSES = {"diffuse": TFIDF, "diffuse minilm": EMBEDDING}
METHODS = ("random", *DIFFUSES)
RULES = ("diffuse hypergeometric", "random hypergeometric", "random group-sequential", "random anytime")
MINILM_RULE = "diffuse minilm hypergeometric"


@dataclass
class Ends:
    """How runs ended at every risk: labels, outcomes, and the winning distances behind them."""

    runs: int = 0
    labels: Floats = field(default_factory=lambda: np.zeros(len(RISKS)))
    ended: Floats = field(default_factory=lambda: np.zeros((len(RISKS), 3)))
    distance: Floats = field(default_factory=lambda: np.zeros((len(RISKS), 3)))

    def add(self, labels: Floats, sign: Floats, truth: float) -> None:
        """Count a run: labels and the sign of the answer (0: none) at every risk, and the true margin."""
        self.runs += 1
        self.labels += labels
        place = np.where(sign == 0, 2, np.where(sign == np.sign(truth), 0, 1))
        rows = np.arange(len(RISKS))
        self.ended[rows, place] += 1
        self.distance[rows, place] += abs(truth)

    def figures(self) -> Figures:
        """Return plain values."""
        arrays = ("labels", "ended", "distance")
        return {"runs": self.runs, **{name: getattr(self, name).tolist() for name in arrays}}


@dataclass
class Curve:
    """How often a method names the winner at every budget, and by how much it exaggerates the lead."""

    runs: int = 0
    hits: Floats = field(default_factory=lambda: np.zeros(len(BUDGETS)))
    bias: Floats = field(default_factory=lambda: np.zeros(len(BUDGETS)))
    squares: Floats = field(default_factory=lambda: np.zeros(len(BUDGETS)))

    def add(self, totals: Floats, margin: float) -> None:
        """Count a run by its running vote; a set that is used up keeps its answer."""
        places = np.minimum(np.array(BUDGETS), len(totals))
        leads = totals[places - 1]
        self.runs += 1
        self.hits += np.sign(leads) == np.sign(margin)
        bias = np.sign(margin) * leads / places - abs(margin)
        self.bias += bias
        self.squares += bias**2

    def figures(self) -> Figures:
        """Return plain values."""
        arrays = ("hits", "bias", "squares")
        return {"runs": self.runs, **{name: getattr(self, name).tolist() for name in arrays}}


@dataclass
class Tally:
    """What a seed of a set gave, for every truth that may stand for the oracle."""

    curves: dict[str, dict[str, Curve]] = field(default_factory=dict)
    ends: dict[str, Ends] = field(default_factory=dict)
    tied: int = 0

    def curve(self, truth: str, method: str) -> Curve:
        """Return the curve of a method by a truth."""
        return self.curves.setdefault(truth, {}).setdefault(method, Curve())

    def end(self, rule: str, truth: str) -> Ends:
        """Return the count of a rule; all metrics count together."""
        return self.ends.setdefault(f"{rule} {HUMAN if truth == HUMAN else METRICS}", Ends())

    def figures(self) -> Figures:
        """Return plain values."""
        return {
            "curves": {
                truth: {method: one.figures() for method, one in some.items()}
                for truth, some in self.curves.items()
            },
            "ends": {rule: one.figures() for rule, one in self.ends.items()},
            "tied": self.tied,
        }


def pair_figures(
    work: Work,
    source: Source,
    *,
    seeds: Sequence[int],
    most_pairs: int | None = MOST_PAIRS,
    pairs: Sequence[tuple[str, str]] = (),
) -> Figures:
    """Return what all seeds of a set gave together; every seed takes 80 % of the items for the full set."""
    make = partial(_seed_figures, work, source, most_pairs, tuple(pairs))
    found: Figures = reduce(added, work.each(make, seeds))
    data = work.load(source.file)
    places = _places(data, most_pairs, tuple(pairs))
    return {
        "file": source.file,
        "title": source.title,
        "items": round(SHARE * len(data)),
        "pairs": len(places),
        "of_pairs": len(drawn_pairs(data.models, None)),
        "seeds": len(seeds),
        **found,
    }


def added(one: Any, other: Any) -> Any:
    """Return the sum of two nests of numbers; what only one of them has is taken over."""
    if isinstance(one, dict):
        names = [*one, *(name for name in other if name not in one)]
        return {name: _either(one.get(name), other.get(name)) for name in names}
    if isinstance(one, list):
        return [added(left, right) for left, right in zip(one, other, strict=True)]
    return one + other


def _either(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return added(one, other)


def _places(
    data: EvalSet, most_pairs: int | None, pairs: tuple[tuple[str, str], ...]
) -> list[tuple[int, int]]:
    if not pairs:
        return drawn_pairs(data.models, most_pairs)
    return [(data.models.index(one), data.models.index(other)) for one, other in pairs]


def _seed_figures(
    work: Work, source: Source, most_pairs: int | None, pairs: tuple[tuple[str, str], ...], seed: int
) -> Figures:
    key = {"what": "diffuse pairs", "truth": source.truth, "pairs": pairs or most_pairs, "seed": seed}

    def make() -> Figures:
        return run_seed(work, source, _places(work.load(source.file), most_pairs, pairs), seed).figures()

    found: Figures = work.cell(source.file, key, make)
    return found


def run_seed(work: Work, source: Source, pairs: Iterable[tuple[int, int]], seed: int) -> Tally:
    """Return what pairs of models of a set give on an 80 % subsample."""
    data = work.load(source.file)
    by_name = {name: outputs(work, source.file, embedding).embedded for name, embedding in DIFFUSES.items()}
    rows = subsample(data.keys, seed, SHARE)
    rows = rows[by_name["diffuse"].present[rows].all(axis=1)]
    known = truths(data, source.truth, rows)
    keys = data.keys[rows]
    order = np.argsort(rng.stream(keys, seed, "random order"), kind="stable")[:MOST]
    tally = Tally()
    for one, other in pairs:
        told = [(name, np.sign(scores[:, one] - scores[:, other])) for name, scores in known]
        trees = {}
        for name, embedded in by_name.items():
            points = stacked_differences(
                embedded.vectors[rows[:, None], np.array([one, other])], np.ones((len(rows), 2), bool)
            )
            trees[name] = SplitTree(ward_linkage(points), points, keys, seed)
        _run_pair(tally, trees, told, order)
    return tally


def truths(data: EvalSet, truth: str, rows: Ints) -> list[tuple[str, Floats]]:
    """Return the human scores and every metric without a gap."""
    found = [(HUMAN, data.truth(truth)[rows])]
    for name in data.metrics:
        scores = data.metrics[name][rows]
        if not np.isnan(scores).any() and not math.isclose(float(np.ptp(scores)), 0.0):
            found.append((name, scores))
    return found


def _run_pair(tally: Tally, trees: dict[str, SplitTree], told: list[tuple[str, Floats]], order: Ints) -> None:
    size = len(trees["diffuse"])
    count = np.arange(min(LEAST, len(order)), len(order) + 1, dtype=np.float64)
    voters = {
        name: (Voters.of(representatives(tree, MOST)), Voters.of(tree.steps(LEAST, MOST)))
        for name, tree in trees.items()
    }
    for truth, outcome in told:
        margin = float(outcome.mean())
        if margin == 0.0:
            tally.tied += 1
            continue
        ahead = outcome[order]
        tally.curve(truth, "random").add(np.cumsum(ahead), margin)
        for (name, (clusters, steps)), rule in zip(voters.items(), (RULES[0], MINILM_RULE), strict=True):
            tally.curve(truth, name).add(clusters.running(outcome), margin)
            votes = steps.running(np.ones(size)), steps.running(outcome > 0), steps.running(outcome < 0)
            tally.end(rule, truth).add(*by_lead(size, steps.spent, *votes), margin)
        drawn = (np.cumsum(sign * ahead > 0)[-len(count) :].astype(np.float64) for sign in (1, -1))
        tally.end(RULES[1], truth).add(*by_lead(size, count, count, *drawn), margin)
        tally.end(RULES[2], truth).add(*by_test(size, ahead, "group"), margin)
        tally.end(RULES[3], truth).add(*by_test(size, ahead, "anytime"), margin)


def metric_curves(figures: Figures) -> dict[str, Figures] | None:
    """Return the curves of both methods over all metrics together; None where there is no metric."""
    parts = [curves for truth, curves in figures["curves"].items() if truth != HUMAN]
    together: dict[str, Figures] | None = reduce(added, parts) if parts else None
    return together


def representatives(tree: SplitTree, count: int) -> Iterator[tuple[int | None, tuple[int, ...]]]:
    """Yield for 1, 2 … ``count`` clusters the point that stops representing, and those that begin."""
    points, free = len(tree), np.ones(len(tree), bool)
    root = tree.representative(2 * points - 2, free)
    yield None, (root,)
    point_of = {2 * points - 2: root}
    for merge in range(points - 2, points - 1 - min(count, points), -1):
        children = tree.linkage.merges[merge].tolist()
        for child in children:
            point_of[child] = tree.representative(child, free)
        yield point_of.pop(points + merge), tuple(point_of[child] for child in children)
