"""Cells of the coverage grid: a design and an estimator on scores of one shape, over and over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple
from zlib import crc32

import numpy as np

from benchmarks._coverage_scores import PAIRS, Family, Scores
from benchmarks._coverage_tally import Cell
from sparingly.base.arrays import Floats
from sparingly.choose.design.draws import draw_cube, draw_local_pivotal, draw_pivotal
from sparingly.choose.design.probability import inclusion_probabilities
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.assemble import EstimateRequest, assemble
from sparingly.infer.estimate.draw import sample_from
from sparingly.infer.estimate.estimate import estimate_scores
from sparingly.infer.estimate.estimators import as_estimator
from sparingly.infer.estimate.intervals import Interval
from sparingly.infer.estimate.result import Estimate

Target = Literal["set", "population"]
TARGETS: tuple[Target, ...] = ("set", "population")


class Drawn(NamedTuple):
    """A drawn set, and what makes the estimate for a target out of a drawn sample."""

    whole: Scores
    found: Callable[[EstimateRequest], Estimate]


Design = Callable[[Family, int, np.random.Generator], Drawn]
# Items of a set for each that is judged; items of a document; strata.
SET_FACTOR, LENGTH, STRATA = 4, 5, 5


def run_cell(
    name: str,
    family: Family,
    n: int,
    count: int,
    interval: Interval = "auto",
    targets: Iterable[Target] = TARGETS,
) -> dict[Target, Cell]:
    """Return what intervals did over so many models or more; targets share sets and samples."""
    cells: dict[Target, Cell] = {target: Cell() for target in targets}
    drawn = np.random.default_rng([n, crc32(name.encode()), crc32(family.name.encode())])
    while any(cell.scores.asked < count for cell in cells.values()):
        made = DESIGNS[name](family, n, drawn)
        seed = int(drawn.integers(2**31))
        for target, cell in cells.items():
            found = made.found(EstimateRequest(target=target, interval=interval, seed=seed))
            scores, means, skew = made.whole
            cell.count(found, np.asarray(scores.mean(axis=0)) if target == "set" else means, skew)
    return cells


def _plain(whole: Scores, taken: np.ndarray[Any, np.dtype[np.bool_]], *chances: Any, **how: Any) -> Drawn:
    """Return a drawn sample for the weighted mean."""
    seen = np.where(taken[:, None], whole.scores, np.nan)

    def found(asked: EstimateRequest) -> Estimate:
        return estimate_scores(
            seen, *chances, target=asked.target, interval=asked.interval, seed=asked.seed, **how
        )

    return Drawn(whole, found)


def uniform(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
    """A simple random sample and its mean."""
    whole = family.scores(SET_FACTOR * n, drawn)
    return _plain(whole, drawn.permutation(len(whole.scores)) < n)


def pivotal(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
    """Unequal probabilities by a size that knows where scores vary, and the weighted mean."""
    size = np.exp(0.7 * drawn.normal(size=SET_FACTOR * n))
    scores, means, skew = family.scores(SET_FACTOR * n, drawn)
    spread = size / np.sqrt(np.exp(2 * 0.7**2))
    scores = means + (scores - means) * spread[:, None]
    chances = inclusion_probabilities(size, n, tau=0.5)
    return _plain(Scores(scores, means, skew), draw_pivotal(chances, drawn), chances)


def documents(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
    """Whole documents, whose items are alike; n counts the drawn documents."""
    scores, means, skew = family.scores(SET_FACTOR * n * LENGTH, drawn)
    level = np.repeat(drawn.normal(size=(SET_FACTOR * n, 2 * PAIRS)), LENGTH, axis=0) * 0.6
    document = np.arange(len(scores)) // LENGTH
    taken = np.isin(document, drawn.permutation(SET_FACTOR * n)[:n])
    whole = Scores(scores + level, means, skew)
    return _plain(whole, taken, 1 / SET_FACTOR, units=document, documents=document)


def stratified(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
    """Equal strata with levels of their own, the same share of each."""
    scores, means, skew = family.scores(SET_FACTOR * n, drawn)
    strata = drawn.integers(STRATA, size=len(scores))
    scores = scores + (strata - (STRATA - 1) / 2)[:, None] * 0.6 * _signs(drawn)
    chances = np.empty(len(scores))
    taken = np.zeros(len(scores), bool)
    for code in range(STRATA):
        inside = drawn.permutation(np.flatnonzero(strata == code))
        count = round(len(inside) / SET_FACTOR)
        chances[inside] = count / len(inside)
        taken[inside[:count]] = True
    return _plain(Scores(scores, means, skew), taken, chances, strata=strata)


def _smooth(family: Family, n: int, drawn: np.random.Generator) -> tuple[Scores, Floats]:
    """Scores that hang on two coordinates, smoothly, and on noise."""
    scores, means, skew = family.scores(SET_FACTOR * n, drawn)
    places = drawn.random((len(scores), 2))
    trend = np.sin(3 * places[:, 0]) - (1 - np.cos(3.0)) / 3.0 + places[:, 1] - 0.5
    return Scores(scores + trend[:, None] * _signs(drawn), means, skew), places


def _signs(drawn: np.random.Generator) -> Floats:
    """A sign for each model: what all share must not make all replicates go up and down together."""
    return drawn.choice([-1.0, 1.0], 2 * PAIRS)


def local_pivotal(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
    """A sample spread over a space in which near items have like scores."""
    whole, places = _smooth(family, n, drawn)
    taken = draw_local_pivotal(np.full(len(places), 1 / SET_FACTOR), places, drawn)
    return _plain(whole, taken, coordinates=places)


def cube(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
    """A sample balanced on variables on which the scores hang."""
    whole, places = _smooth(family, n, drawn)
    variables = np.column_stack([np.ones(len(places)), places])
    taken = draw_cube(np.full(len(places), 1 / SET_FACTOR), variables, drawn)
    return _plain(whole, taken, balance=variables)


def by_metrics(estimator: str, design: str = "uniform") -> Design:
    """A sample drawn by a design, and an estimator with two metrics, of which one follows the scores."""

    def run(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
        whole, good, weak = family.metrics(SET_FACTOR * n, drawn, estimator != "greg")
        items, models = whole.scores.shape
        data = EvalSet.from_arrays(
            [f"i{place:05d}" for place in range(items)],
            [f"m{place:02d}" for place in range(models)],
            metrics={"good": good, "weak": weak},
            aspects={"truth": whole.scores},
        )
        chosen = select(data, design, n, seed=int(drawn.integers(2**31)))
        # What ``estimate`` does, but once for both targets: predictions take most of the time.
        sample = sample_from(data, whole.scores, chosen)
        linear = as_estimator(estimator).resolve(data).linear(sample, data, int(drawn.integers(2**31)))

        def found(asked: EstimateRequest) -> Estimate:
            return assemble(sample, linear, data.models, asked, aspect="truth", estimator=estimator)

        return Drawn(whole, found)

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
WITH_METRICS = tuple(name for name in DESIGNS if name.startswith(("control", "ppi", "greg")))
