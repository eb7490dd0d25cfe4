"""Cells of the coverage grid: a design and an estimator on made scores, over and over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from _coverage_scores import PAIRS, Cell, Family, Floats, made_scores
from sparingly.choose.design.draw.cube import draw_cube
from sparingly.choose.design.draw.local_pivotal import draw_local_pivotal
from sparingly.choose.design.draw.pivotal import draw_pivotal
from sparingly.choose.design.probability import inclusion_probabilities
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.arrays import estimate_scores
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.intervals import Interval

Target = Literal["set", "population"]
Design = Callable[[Family, int, Target, np.random.Generator, Cell], None]
# Items of a set for each that is judged; items of a document; strata.
SET_FACTOR, LENGTH, STRATA = 4, 5, 5


def run_cell(
    design: Design, family: Family, n: int, target: Target, arrays: int, interval: Interval = "auto"
) -> Cell:
    """Return what intervals did over so many arrays of models."""
    cell = Cell(interval)
    drawn = np.random.default_rng(n)
    for _ in range(arrays):
        design(family, n, target, drawn, cell)
    return cell


def _seen(scores: Floats, taken: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    return np.where(taken[:, None], scores, np.nan)


def _asked(cell: Cell, target: Target, drawn: np.random.Generator) -> dict[str, Any]:
    return {"target": target, "interval": cell.interval, "seed": int(drawn.integers(2**31))}


def _truth(scores: Floats, means: Floats, target: Target) -> Floats:
    return np.asarray(scores.mean(axis=0)) if target == "set" else means


def uniform(family: Family, n: int, target: Target, drawn: np.random.Generator, cell: Cell) -> None:
    """A simple random sample and its mean."""
    scores, means = made_scores(family, SET_FACTOR * n, drawn)
    taken = drawn.permutation(len(scores)) < n
    found = estimate_scores(_seen(scores, taken), **_asked(cell, target, drawn))
    cell.count(found, _truth(scores, means, target))


def pivotal(family: Family, n: int, target: Target, drawn: np.random.Generator, cell: Cell) -> None:
    """Unequal probabilities by a size that knows where scores vary, and the weighted mean."""
    size = np.exp(0.7 * drawn.normal(size=SET_FACTOR * n))
    scores, means = made_scores(family, SET_FACTOR * n, drawn)
    spread = size / np.sqrt(np.exp(2 * 0.7**2))
    scores = means + (scores - means) * spread[:, None]
    chances = inclusion_probabilities(size, n, tau=0.5)
    taken = draw_pivotal(chances, drawn)
    found = estimate_scores(_seen(scores, taken), chances, **_asked(cell, target, drawn))
    cell.count(found, _truth(scores, means, target))


def documents(family: Family, n: int, target: Target, drawn: np.random.Generator, cell: Cell) -> None:
    """Whole documents, whose items are alike; n counts the drawn documents."""
    scores, means = made_scores(family, SET_FACTOR * n * LENGTH, drawn)
    level = np.repeat(drawn.normal(size=(SET_FACTOR * n, 2 * PAIRS)), LENGTH, axis=0) * 0.6
    scores, document = scores + level, np.arange(len(scores)) // LENGTH
    taken = np.isin(document, drawn.permutation(SET_FACTOR * n)[:n])
    found = estimate_scores(
        _seen(scores, taken),
        1 / SET_FACTOR,
        units=document,
        documents=document,
        **_asked(cell, target, drawn),
    )
    cell.count(found, _truth(scores, means, target))


def stratified(family: Family, n: int, target: Target, drawn: np.random.Generator, cell: Cell) -> None:
    """Equal strata with levels of their own, the same share of each."""
    scores, means = made_scores(family, SET_FACTOR * n, drawn)
    strata = drawn.integers(STRATA, size=len(scores))
    scores = scores + (strata - (STRATA - 1) / 2)[:, None] * 0.6 * _signs(drawn)
    chances = np.empty(len(scores))
    taken = np.zeros(len(scores), bool)
    for code in range(STRATA):
        inside = drawn.permutation(np.flatnonzero(strata == code))
        count = round(len(inside) / SET_FACTOR)
        chances[inside] = count / len(inside)
        taken[inside[:count]] = True
    found = estimate_scores(_seen(scores, taken), chances, strata=strata, **_asked(cell, target, drawn))
    cell.count(found, _truth(scores, means, target))


def _smooth(family: Family, n: int, drawn: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Scores that hang on two coordinates, smoothly, and on noise."""
    scores, means = made_scores(family, SET_FACTOR * n, drawn)
    places = drawn.random((len(scores), 2))
    trend = np.sin(3 * places[:, 0]) - (1 - np.cos(3.0)) / 3.0 + places[:, 1] - 0.5
    return scores + trend[:, None] * _signs(drawn), means, places


def _signs(drawn: np.random.Generator) -> Floats:
    """A sign for each model: what all share must not make all replicates go up and down together."""
    return drawn.choice([-1.0, 1.0], 2 * PAIRS)


def local_pivotal(family: Family, n: int, target: Target, drawn: np.random.Generator, cell: Cell) -> None:
    """A sample spread over a space in which near items have like scores."""
    scores, means, places = _smooth(family, n, drawn)
    taken = draw_local_pivotal(np.full(len(scores), 1 / SET_FACTOR), places, drawn)
    found = estimate_scores(_seen(scores, taken), coordinates=places, **_asked(cell, target, drawn))
    cell.count(found, _truth(scores, means, target))


def cube(family: Family, n: int, target: Target, drawn: np.random.Generator, cell: Cell) -> None:
    """A sample balanced on variables on which the scores hang."""
    scores, means, places = _smooth(family, n, drawn)
    variables = np.column_stack([np.ones(len(scores)), places])
    taken = draw_cube(np.full(len(scores), 1 / SET_FACTOR), variables, drawn)
    found = estimate_scores(_seen(scores, taken), balance=variables, **_asked(cell, target, drawn))
    cell.count(found, _truth(scores, means, target))


def by_metrics(estimator: str, design: str = "uniform", follows: float = 0.6) -> Design:
    """A sample drawn by a design, and an estimator with two metrics, of which one follows the scores."""

    def run(family: Family, n: int, target: Target, drawn: np.random.Generator, cell: Cell) -> None:
        scores, means = made_scores(family, SET_FACTOR * n, drawn)
        scores, means = scores[:, :10], means[:10]
        good = follows * scores + np.sqrt(1 - follows**2) * drawn.normal(size=scores.shape)
        data = EvalSet.from_arrays(
            [f"i{place}" for place in range(len(scores))],
            [f"m{place}" for place in range(10)],
            metrics={"good": good, "weak": drawn.normal(size=scores.shape) + 0.1 * good},
            aspects={"truth": scores},
        )
        chosen = select(data, design, n, seed=int(drawn.integers(2**31)))
        asked = _asked(cell, target, drawn)
        found = estimate(data, chosen, "truth", estimator=estimator, **asked)
        cell.count(found, _truth(scores, means, target))

    return run


DESIGNS: dict[str, Design] = {
    "uniform": uniform,
    "pivotal": pivotal,
    "documents": documents,
    "stratified": stratified,
    "local_pivotal": local_pivotal,
    "cube": cube,
    "control_variate": by_metrics("control_variate:metric=good"),
    "control_variate, several": by_metrics("control_variate:variate=several"),
    "control_variate, knn": by_metrics("control_variate:variate=knn"),
    "ppi": by_metrics("ppi:metric=good"),
    "greg": by_metrics("greg"),
    "greg, pivotal": by_metrics("greg", "pivotal:utility=(metric_var:metric=good)"),
}
# In these a cell is four arrays of ten models in the place of one of forty.
WITH_METRICS = tuple(name for name in DESIGNS if name.startswith(("control", "ppi", "greg")))
