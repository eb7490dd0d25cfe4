"""DiffUse and random samples on all pairs of models of a set: curves, iterative selection, valid stops."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sparingly
from sparingly import EvalSet
from sparingly.base import rng
from sparingly.base.stats.hypergeometric import chance_of_lead
from sparingly.base.stats.pairs import pair_indices
from sparingly.choose.design.linkage import ward_linkage
from sparingly.choose.design.split_tree import SplitTree
from sparingly.infer.rank.winners import subsample
from sparingly.run.rounds.stop.spending import anytime, group_sequential
from sparingly.signals.embed.differences import stacked_differences
from sparingly.signals.embed.evalset import embed_outputs

Floats = NDArray[np.float64]
BUDGETS = tuple(range(5, 201, 5))
LEAST, MOST, STEP = 5, 200, 20
RISKS = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01)
HUMAN, METRIC = "human", "metrics"
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


@dataclass
class Tally:
    """What a seed of a set gave: hits on curves, and how iterative runs ended."""

    hits: dict[str, Floats] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    ends: dict[str, Ends] = field(default_factory=dict)
    tied: int = 0

    def curve(self, kind: str, hits: Floats) -> None:
        """Add where on a curve the winner was found."""
        self.hits[kind] = self.hits.get(kind, np.zeros(len(BUDGETS))) + hits
        self.runs[kind] = self.runs.get(kind, 0) + 1

    def end(self, kind: str) -> Ends:
        """Return the count of a rule."""
        return self.ends.setdefault(kind, Ends())

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        ends = {
            kind: {
                "runs": one.runs,
                **{name: getattr(one, name).tolist() for name in ("labels", "ended", "distance")},
            }
            for kind, one in self.ends.items()
        }
        return {
            "hits": {kind: hits.tolist() for kind, hits in self.hits.items()},
            "runs": self.runs,
            "ends": ends,
            "tied": self.tied,
        }


def run_seed(folder: Path, file: str, aspect: str, seed: int) -> dict[str, Any]:
    """Return what all pairs of models of a set give on an 80 % subsample."""
    data = _loaded(folder, file)
    vectors, there = _embedded(folder, file)
    rows = subsample(data.keys, seed, 0.8)
    rows = rows[there[rows].all(axis=1)]
    truths = _truths(data, aspect, rows)
    order = np.argsort(rng.stream(data.keys[rows], seed, "random order"), kind="stable")[:MOST]
    first, second = pair_indices(len(data.models))
    tally = Tally()
    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        told = [(kind, np.sign(scores[:, one] - scores[:, other])) for kind, scores in truths]
        points = stacked_differences(vectors[rows][:, [one, other]], np.ones((len(rows), 2), bool))
        tree = SplitTree(ward_linkage(points), points, data.keys[rows], seed)
        _run_pair(tally, tree, told, order)
    return tally.to_dict()


def _run_pair(
    tally: Tally, tree: SplitTree, told: list[tuple[str, Floats]], order: NDArray[np.int64]
) -> None:
    splits = list(tree.representatives(MOST))
    steps = tree.steps(LEAST, MOST)
    for kind, outcome in told:
        margin = float(outcome.mean())
        if margin == 0.0:
            tally.tied += 1
            continue
        sign = np.sign(margin)
        tally.curve(f"diffuse {kind}", _hits(np.cumsum([_change(outcome, *one) for one in splits]), sign))
        tally.curve(f"random {kind}", _hits(np.cumsum(outcome[order]), sign))
        spent, judged, wins, losses = _votes(outcome, steps)
        size = len(outcome)
        found = _by_lead(size, spent, judged, wins, losses)
        tally.end(f"{RULES[0]} {kind}").add(*found, margin)
        ahead = outcome[order]
        one, other = np.cumsum(ahead > 0)[LEAST - 1 :], np.cumsum(ahead < 0)[LEAST - 1 :]
        count = np.arange(LEAST, len(ahead) + 1)
        tally.end(f"{RULES[1]} {kind}").add(*_by_lead(size, count, count, one, other), margin)
        tally.end(f"{RULES[2]} {kind}").add(*_by_test(size, ahead, "group"), margin)
        tally.end(f"{RULES[3]} {kind}").add(*_by_test(size, ahead, "anytime"), margin)


def _change(outcome: Floats, left: int | None, joined: tuple[int, ...]) -> float:
    return float(outcome[list(joined)].sum() - (0.0 if left is None else outcome[left]))


def _hits(totals: Floats, sign: float) -> Floats:
    """Return where on the curve the winner was found; a set that is used up keeps its answer."""
    places = np.minimum(np.array(BUDGETS), len(totals)) - 1
    return np.asarray(np.sign(totals[places]) == sign, np.float64)


def _votes(outcome: Floats, steps: list[Any]) -> tuple[Floats, Floats, Floats, Floats]:
    """Return labels spent, labels that count, and votes of both models after every step."""
    spent = np.cumsum([len(step.asked) for step in steps])
    gone = [step.dropped for step in steps]
    judged = spent - np.cumsum([place is not None for place in gone])
    values = [[outcome[at] for at in step.asked] for step in steps]
    left = [None if place is None else outcome[place] for place in gone]
    wins = np.cumsum(
        [
            sum(v > 0 for v in some) - int(out is not None and out > 0)
            for some, out in zip(values, left, strict=True)
        ]
    )
    losses = np.cumsum(
        [
            sum(v < 0 for v in some) - int(out is not None and out < 0)
            for some, out in zip(values, left, strict=True)
        ]
    )
    return spent, judged, wins, losses


def _by_lead(size: int, spent: Any, judged: Any, wins: Any, losses: Any) -> tuple[Floats, Floats]:
    """Return labels and answer of the hypergeometric stop at every risk."""
    chance = np.where(wins == losses, 1.0, _leads(size)[judged, np.maximum(wins, losses)])
    labels, sign = np.empty(len(RISKS)), np.zeros(len(RISKS))
    for place, risk in enumerate(RISKS):
        where = np.flatnonzero(chance <= risk)
        at = int(where[0]) if len(where) else len(chance) - 1
        labels[place] = spent[at]
        if len(where):
            sign[place] = np.sign(wins[at] - losses[at])
    return labels, sign


@lru_cache(maxsize=4)
def _leads(size: int) -> Floats:
    count, votes = np.meshgrid(np.arange(MOST + 2), np.arange(MOST + 2), indexing="ij")
    return chance_of_lead(size, np.minimum(count, size), votes)


def _by_test(size: int, ahead: Floats, kind: str) -> tuple[Floats, Floats]:
    """Return labels and answer of a valid test of the mean preference, at every error rate."""
    most = len(ahead)
    counts = (
        np.unique(np.append(np.arange(STEP, most + 1, STEP), most))
        if kind == "group"
        else np.arange(LEAST, most + 1)
    )
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


@lru_cache(maxsize=256)
def _criticals(size: int, most: int, kind: str, risk: float) -> Floats:
    counts = (
        np.unique(np.append(np.arange(STEP, most + 1, STEP), most))
        if kind == "group"
        else np.arange(LEAST, most + 1)
    )
    known = [1.0 / (1.0 / count - 1.0 / (size + 1)) for count in counts.tolist()]
    if kind == "anytime":
        return np.array([anytime(one / known[-1], risk) for one in known])
    clock = tuple(count / most for count in counts.tolist())
    return np.array(
        [group_sequential(clock[: at + 1], tuple(known[: at + 1]), risk) for at in range(len(clock))]
    )


def _truths(data: EvalSet, aspect: str, rows: NDArray[np.int64]) -> list[tuple[str, Floats]]:
    """Return the human scores and every metric without a gap."""
    found = [(HUMAN, data.aspects[aspect][rows])]
    for name in data.metrics:
        scores = data.metrics[name][rows]
        if not np.isnan(scores).any() and not math.isclose(float(np.ptp(scores)), 0.0):
            found.append((METRIC, scores))
    return found


@lru_cache(maxsize=1)
def _loaded(folder: Path, file: str) -> EvalSet:
    return sparingly.load(folder / f"{file}.jsonl.gz")


@lru_cache(maxsize=1)
def _embedded(folder: Path, file: str) -> tuple[Floats, NDArray[np.bool_]]:
    vectors, there = embed_outputs(_loaded(folder, file), "tfidf")
    return vectors, there
