"""DiffUse and random samples on pairs of models of a set: curves over budgets, and how iterative runs end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

import numpy as np

from benchmarks.papers.ashury.sets import MOST_PAIRS, SHARE, Source, drawn_pairs, outputs
from benchmarks.papers.ashury.stops import LEAST, MOST, RISKS, Voters, by_lead, by_test
from benchmarks.papers.work import Work
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.choose.design.linkage import ward_linkage
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.winners import subsample
from sparingly.published.diffuse_iterative import SplitTree
from sparingly.signals.embed.differences import stacked_differences

Figures = dict[str, Any]

BUDGETS = tuple(range(5, 201, 5))
HUMAN, METRICS = "human", "metrics"
METHODS = ("random", "diffuse")
RULES = ("diffuse hypergeometric", "random hypergeometric", "random group-sequential", "random anytime")


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
    data, embedded = work.load(source.file), outputs(work, source.file).embedded
    rows = subsample(data.keys, seed, SHARE)
    rows = rows[embedded.present[rows].all(axis=1)]
    known = truths(data, source.truth, rows)
    keys = data.keys[rows]
    order = np.argsort(rng.stream(keys, seed, "random order"), kind="stable")[:MOST]
    tally = Tally()
    for one, other in pairs:
        told = [(name, np.sign(scores[:, one] - scores[:, other])) for name, scores in known]
        points = stacked_differences(embedded.vectors[rows][:, [one, other]], np.ones((len(rows), 2), bool))
        tree = SplitTree(ward_linkage(points), points, keys, seed)
        _run_pair(tally, tree, told, order)
    return tally


def truths(data: EvalSet, truth: str, rows: Ints) -> list[tuple[str, Floats]]:
    """Return the human scores and every metric without a gap."""
    found = [(HUMAN, data.truth(truth)[rows])]
    for name in data.metrics:
        scores = data.metrics[name][rows]
        if not np.isnan(scores).any() and not math.isclose(float(np.ptp(scores)), 0.0):
            found.append((name, scores))
    return found


def _run_pair(tally: Tally, tree: SplitTree, told: list[tuple[str, Floats]], order: Ints) -> None:
    clusters = Voters.of(tree.representatives(MOST))
    steps = Voters.of(tree.steps(LEAST, MOST))
    size, count = len(tree), np.arange(min(LEAST, len(order)), len(order) + 1, dtype=np.float64)
    spent, judged = steps.spent, steps.running(np.ones(size))
    for truth, outcome in told:
        margin = float(outcome.mean())
        if margin == 0.0:
            tally.tied += 1
            continue
        ahead = outcome[order]
        tally.curve(truth, "diffuse").add(clusters.running(outcome), margin)
        tally.curve(truth, "random").add(np.cumsum(ahead), margin)
        votes = steps.running(outcome > 0), steps.running(outcome < 0)
        tally.end(RULES[0], truth).add(*by_lead(size, spent, judged, *votes), margin)
        drawn = (np.cumsum(sign * ahead > 0)[-len(count) :].astype(np.float64) for sign in (1, -1))
        tally.end(RULES[1], truth).add(*by_lead(size, count, count, *drawn), margin)
        tally.end(RULES[2], truth).add(*by_test(size, ahead, "group"), margin)
        tally.end(RULES[3], truth).add(*by_test(size, ahead, "anytime"), margin)


def metric_curves(found: Figures) -> dict[str, Figures] | None:
    """Return the curves of both methods over all metrics together; None where there is no metric."""
    parts = [curves for truth, curves in found["curves"].items() if truth != HUMAN]
    together: dict[str, Figures] | None = reduce(added, parts) if parts else None
    return together
