"""Simulated evaluations for ``stopping.py``: scores whose truth is known, and what stops claim of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.stats.pairs import chance_of_lead
from sparingly.run.rounds.stop.base import information, two_valued_step
from sparingly.run.rounds.stop.rules import MarginSettled
from sparingly.run.rounds.stop.sequential import Look, Valid, critical_value, no_settled_pairs, settle_next
from sparingly.run.rounds.stop.spending import Spending

Stop = Literal["best", "best of equals", "all", "non-inferior", "equivalent", "not equivalent", "all pairs"]
Scores = Literal["normal", "two-valued", "MQM-like"]
Rule = Literal["group_sequential", "even spending", "anytime", "fixed", "every look"]
SCORES: tuple[Scores, ...] = ("normal", "two-valued", "MQM-like")
VALID: tuple[Rule, ...] = ("group_sequential", "even spending", "anytime", "fixed")
RULES: tuple[Rule, ...] = (*VALID, "every look")
CASES: tuple[tuple[Stop, int], ...] = (
    ("best", 2), ("best", 3), ("best", 8), ("best of equals", 3), ("best of equals", 8),
    ("all", 2), ("all", 3), ("all", 8),
    ("non-inferior", 2), ("equivalent", 2), ("not equivalent", 2), ("all pairs", 3), ("all pairs", 8),
)  # fmt: skip
MARGINS = ("non-inferior", "equivalent", "not equivalent", "all pairs")
LOOKS = (5, 10)
ITEMS, ALPHA = 100, 0.05
# In standard deviations of a score: how far the others lie below the best, and the margins.
BELOW, MARGIN, SMALL, WIDE = 0.4, 0.4, 0.02, 0.6


@dataclass(frozen=True)
class Cell:
    """What is simulated: a claim, how many models, how many looks, and what scores look like."""

    stop: Stop
    models: int
    looks: int
    scores: Scores


def cells() -> list[Cell]:
    """Return every cell of the table."""
    return [Cell(stop, models, looks, kind) for stop, models in CASES for looks in LOOKS for kind in SCORES]


def shifts(cell: Cell) -> Floats:
    """Return how far the models' means lie from the first one's, in standard deviations of a score."""
    found = np.zeros(cell.models)
    if cell.stop == "best":
        found[2:] = -BELOW
    if cell.stop in ("non-inferior", "equivalent"):
        found[1] = MARGIN
    return found


def made(cell: Cell, draw: np.random.Generator) -> tuple[Floats, float]:
    """Return scores of items × models, and their standard deviation."""
    shape = (ITEMS, cell.models)
    apart = shifts(cell)
    if cell.scores == "normal":
        values = 0.6 * draw.standard_normal((ITEMS, 1)) + 0.8 * draw.standard_normal(shape)
        return values + apart, 1.0
    # What makes an item hard for all models: with probability .4 it fails them together.
    own, shared = draw.random(shape), draw.random((ITEMS, 1))
    place = np.where(draw.random((ITEMS, 1)) < 0.4, shared, own)
    if cell.scores == "two-valued":
        spread = 0.4
        return (place < 0.8 + spread * apart).astype(np.float64), spread
    large = np.where(draw.random(shape) < 0.1, 25.0, np.where(draw.random(shape) < 0.4, 5.0, 1.0))
    spread = float(np.sqrt(0.2 * (0.1 * 625 + 0.9 * (0.4 * 25 + 0.6)) - (0.2 * (2.5 + 0.9 * 2.6)) ** 2))
    return np.where(place < 0.8, 0.0, -large) + spread * apart, spread


def looks_of(scores: Floats, count: int) -> list[Look]:
    """Return the looks at a uniform sample that grows to all of the budget, for inputs like these."""
    found = []
    for size in np.linspace(ITEMS // count, ITEMS, count).astype(int):
        seen = scores[:size]
        found.append(
            Look(
                scores=seen.mean(axis=0),
                covariance=np.cov(seen.T) / size,
                freedom=size - 1.0,
                clock=size / ITEMS,
                information=information(int(size), ITEMS, "population"),
                planned=float(ITEMS),
                exact=np.zeros(scores.shape[1], bool),
                step=two_valued_step(seen),
                judged=np.full(scores.shape[1], float(size)),
            )
        )
    return found


def tests(rule: Rule) -> Valid:
    """Return by which critical values a rule tests."""
    if rule == "even spending":
        return "group_sequential"
    return "fixed" if rule == "every look" else rule


def spends(rule: Rule) -> Spending:
    """Return how a rule spreads the error over the looks."""
    return "even" if rule == "even spending" else "obrien_fleming"


def errs(cell: Cell, rule: Rule, seed: int) -> bool:
    """Say whether one evaluation makes a wrong claim at any of its looks."""
    scores, spread = _scores_of(cell, seed)
    looks = looks_of(scores, cell.looks)
    if cell.stop in ("best", "best of equals", "all"):
        return _settles(cell, rule, looks)
    stop = _margin_stop(cell, rule, spread)
    return any(_claims(cell, stop, looks[:count]) for count in _looked(rule, len(looks)))


def _scores_of(cell: Cell, seed: int) -> tuple[Floats, float]:
    return made(cell, np.random.default_rng([seed, cells().index(cell)]))


def _looked(rule: Rule, count: int) -> range:
    """Return after which looks a rule tests."""
    return range(count, count + 1) if rule == "fixed" else range(1, count + 1)


def _settles(cell: Cell, rule: Rule, looks: list[Look]) -> bool:
    """Say whether a pair is told apart (``all``), or one model named the best."""
    found = no_settled_pairs(cell.models, ALPHA)
    for count in _looked(rule, len(looks)):
        found = settle_next(
            found,
            looks[:count],
            ALPHA,
            tests(rule),
            "all" if cell.stop == "all" else "best",
            spending=spends(rule),
        )
        if found.above.any() if cell.stop == "all" else found.candidates.sum() == 1:
            return True
    return False


def _margin_stop(cell: Cell, rule: Rule, spread: float) -> MarginSettled:
    first, second = (None, None) if cell.stop == "all pairs" else ("first", "second")
    return MarginSettled(
        margin=margin_of(cell) * spread,
        question="non-inferior" if cell.stop == "non-inferior" else "equivalent",
        model=first,
        against=second,
        alpha=ALPHA,
        valid=tests(rule),
        spending=spends(rule),
    )


def _claims(cell: Cell, stop: MarginSettled, looks: list[Look]) -> bool:
    """Say whether the stop makes the claim that is wrong here."""
    if cell.stop != "all pairs":
        return stop.answer(looks, 0, 1) == cell.stop
    apart, same = stop.differ_or_equivalent(looks)
    return bool((apart | same)[np.triu_indices(cell.models, 1)].all() and apart.any())


def heuristic_errs(p: float, seed: int) -> bool:
    """Say whether the hypergeometric rule names one of two equal models the better one."""
    draw = np.random.default_rng([seed, 99])
    scores, _ = made(Cell("all", 2, 5, "normal"), draw)
    apart = np.sign(scores[:, 0] - scores[:, 1])
    counts = np.arange(1, ITEMS + 1)
    wins = np.cumsum(apart > 0)
    lead = np.maximum(wins, counts - wins)
    looked = counts[counts % 10 == 0]
    return bool((chance_of_lead(ITEMS, looked, lead[looked - 1]) <= p).any())


def wrong_claims(cell: Cell, rule: Rule, seeds: range) -> Mask:
    """Return for every seed what ``errs`` says, computed for all of them at once."""
    given = [_scores_of(cell, seed) for seed in seeds]
    scores, spread = np.stack([values for values, _ in given]), given[0][1]
    path = looks_of(scores[0], cell.looks)
    wrong = np.zeros(len(scores), bool)
    above = np.zeros((len(scores), cell.models, cell.models), bool)
    margin = margin_of(cell) * spread
    for count in _looked(rule, cell.looks):
        now, size = path[:count], int(path[count - 1].freedom) + 1
        apart, errors = _pairs_at(scores[:, :size])
        if cell.scores == "two-valued" and cell.stop in MARGINS:
            there = np.ptp(scores[:, :size], axis=(1, 2))[:, None, None]
            more = np.maximum(margin - np.abs(apart), 0.0) * np.maximum(there - margin - np.abs(apart), 0.0)
            errors = np.where(errors > 0, np.sqrt(errors**2 + more / size), 0.0)

        def half(level: float, now: list[Look] = now, errors: Floats = errors) -> Floats:
            wide = critical_value(now, level, tests(rule), spends(rule)) * errors
            return np.where(errors > 0, wide, np.inf)

        if cell.stop in ("best", "best of equals"):
            above |= (apart > half(ALPHA / (cell.models - 1))) & ~above.transpose(0, 2, 1)
            wrong |= (~above.any(axis=1)).sum(axis=1) == 1
        elif cell.stop == "all":
            wrong |= (apart > half(2 * ALPHA / cell.models / (cell.models - 1))).any(axis=(1, 2))
        else:
            wrong |= _margin_claims(cell, apart, half, margin)
    return wrong


def margin_of(cell: Cell) -> float:
    """Return the margin in standard deviations of a score."""
    return {"not equivalent": SMALL, "all pairs": WIDE}.get(cell.stop, MARGIN)


def _margin_claims(cell: Cell, apart: Floats, half: Callable[[float], Floats], margin: float) -> Mask:
    """Return in which runs ``margin_settled`` makes the claim that is wrong."""
    if cell.stop == "all pairs":
        wide = half(2 * ALPHA / cell.models / (cell.models - 1))
        differs = np.abs(apart) > wide
        shown = differs | (np.abs(apart) + wide < margin) | np.eye(cell.models, dtype=bool)
        return np.asarray(shown.all(axis=(1, 2)) & differs.any(axis=(1, 2)))
    first = apart[:, 0, 1]
    if cell.stop == "non-inferior":
        return np.asarray(first - half(2 * ALPHA)[:, 0, 1] > -margin)
    if cell.stop == "equivalent":
        return np.asarray(np.abs(first) + half(2 * ALPHA)[:, 0, 1] < margin)
    return np.asarray(np.abs(first) - half(ALPHA)[:, 0, 1] > margin)


def _pairs_at(seen: Floats) -> tuple[Floats, Floats]:
    """Return differences of means and their standard errors, runs × models × models."""
    size = seen.shape[1]
    means = seen.mean(axis=1)
    away = seen - means[:, None]
    covariance = np.einsum("rij,rik->rjk", away, away) / (size - 1.0) / size
    variance = np.einsum("rjj->rj", covariance)
    squared = np.maximum(variance[:, :, None] + variance[:, None] - 2 * covariance, 0.0)
    least = 1e-7 * np.sqrt(variance.max(axis=1))[:, None, None]
    errors = np.sqrt(squared)
    return means[:, :, None] - means[:, None], np.where(errors > least, errors, 0.0)
