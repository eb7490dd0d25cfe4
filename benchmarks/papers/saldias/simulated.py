"""The simulations behind Tables 1 to 6, one cell for every set and method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.saldias.cases import NEIGHBOURS, Case, Cases, Neighbours, cases_of
from benchmarks.papers.saldias.draws import count_of
from benchmarks.papers.saldias.errors import (
    BOUND_SHARES,
    SHARES,
    Errors,
    Summary,
    bound_figures,
    measured,
    method_figures,
)
from benchmarks.papers.saldias.methods import BASE, BEST_PUBLISHED, PUBLISHED, Published
from benchmarks.papers.saldias.published import EN_DE
from benchmarks.papers.work import DEMO, Work
from sparingly.base.arrays import Floats
from sparingly.base.rng import seed_list
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.stratified import Stratified
from sparingly.choose.design.units import Groups
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.estimators import variates_of
from sparingly.published.incremental_strata import IncrementalStrata, deviations_in
from sparingly.run.rounds.strategy import Finished, State

# --- strata whose numbers of items follow the ratings ----------------------------------------------------
# The rounds are those of the package's strategy ``incremental_strata`` with ``update=rating``; selections,
# signatures and notes are left out, strata are made once, and the neighbours of all items are sorted once.
# A path serves all shares: what is judged at 10 % is judged at 15 %, too.


Spread = Literal["ratings", "knn"]
# The paper's names, and where the spread of a document's scores comes from.
INCREMENTAL: dict[str, Spread] = {"docs-incr-metrics": "knn", "docs-incr-human": "ratings"}
_STRATA = "document"
_JUDGED = "judged"


@dataclass(frozen=True, eq=False, kw_only=True)
class Path(State):
    """Where one system stands: what was asked is held as a mask, so that no selection need be made.

    Attributes:
        taken: Which items were judged.
        truth: What the rater says of every item.
        passed: How many rounds there were.
        predicted: What kNN predicts for every item so far; None where ratings alone count.
    """

    taken: NDArray[np.bool_]
    truth: Floats
    passed: int
    predicted: Floats | None = None

    @property
    def number(self) -> int:
        """The number of the next round, from 1."""
        return self.passed + 1

    @cached_property
    def labels(self) -> Floats:
        """The judgements that came in."""
        return np.where(self.taken, self.truth, np.nan)[:, None]

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        """What was asked for."""
        return self.taken[:, None]


class NearestRatings:
    """The mean of the nearest ratings of every item, kept up to date rating by rating."""

    def __init__(self, variates: Floats, neighbours: int = NEIGHBOURS) -> None:
        """Sort the neighbours of all items."""
        self._rank = Neighbours(variates).rank[0]
        self._items = np.arange(len(self._rank))
        self._nearest = np.full((len(self._rank), neighbours), len(self._rank), np.int64)
        self._values = np.zeros(self._nearest.shape)

    def add(self, row: int, score: float) -> None:
        """Let a rating take the place of the farthest of those that an item has, where it is nearer."""
        farthest = self._nearest.argmax(axis=1)
        nearer = self._rank[:, row] < self._nearest[self._items, farthest]
        at = self._items[nearer], farthest[nearer]
        self._nearest[at], self._values[at] = self._rank[nearer, row], score

    @property
    def means(self) -> Floats:
        """The means; 0 before the first rating."""
        count = (self._nearest < len(self._rank)).sum(axis=1)
        return np.asarray(self._values.sum(axis=1) / np.maximum(count, 1))


class _Strata(NamedTuple):
    """A design whose strata are made."""

    strata: Groups

    def plan(self, *_: object) -> _Strata:
        return self


@dataclass(frozen=True, kw_only=True)
class FastStrata(IncrementalStrata):
    """``incremental_strata`` with strata and predictions that are kept."""

    made: Groups

    @property
    def _design(self) -> Any:
        return _Strata(self.made)

    def _spread(self, state: State, strata: Groups) -> Floats:
        assert isinstance(state, Path)
        if state.predicted is None or state.number == 1:
            return super()._spread(state, strata)
        return deviations_in(np.where(state.taken, np.nan, state.predicted)[:, None], strata)


def incremental_errors(cases: Cases, spread: Spread, shares: Sequence[float], draws: int) -> Errors:
    """Return the errors of strata whose sizes follow the ratings, learned anew after every rating."""
    parts = []
    for case in cases.cases:
        made = Errors.of_nothing(case, shares, draws)
        counts = [count_of(case, share) for share in shares]
        for model in range(case.truth.shape[1]):
            view, truth = shown_to(case, cases, model), case.truth[:, model]
            strata = Stratified(by=_STRATA).plan(view, counts[-1]).strata
            seeds = seed_list(0, draws, f"incremental strata, {case.name}, {view.models[0]}")
            for number, seed in enumerate(seeds):
                for place, taken in enumerate(path(view, truth, spread, counts, seed)):
                    score = stratified_mean(truth, taken, strata)
                    made.error[place, number, model] = abs(score - truth.mean())
                    made.deviation[place, number, model] = truth[taken].std()
        parts.append(made)
    return Errors.joined(parts)


def shown_to(case: Case, cases: Cases, model: int) -> EvalSet:
    """Return one system's outputs with the documents and the metrics that the published methods get."""
    seen = {fields.column(_STRATA), *(fields.metric(name) for name in cases.metrics_of("best"))}
    return case.data.take(models=[case.data.models[model]]).only(seen)


def path(
    view: EvalSet, truth: Floats, spread: Spread, counts: Sequence[int], seed: int
) -> Iterator[NDArray[np.bool_]]:
    """Yield which items are judged at every count, with the strata's spread learned after every rating."""
    strata = Stratified(by=_STRATA).plan(view, counts[-1]).strata
    strategy = FastStrata(spread=spread, by=_STRATA, update="rating", made=strata)
    nearest = NearestRatings(variates_of(view, tuple(view.metrics))) if spread == "knn" else None
    budget, taken = Budget("count", counts[-1]), np.zeros(len(view), bool)
    for upto in counts:
        while (judged := int(taken.sum())) < upto:
            told = None if nearest is None else nearest.means
            state = Path(
                view, _JUDGED, (), budget, None, seed, taken=taken, truth=truth, passed=judged, predicted=told
            )
            picked = strategy.next_round(state)
            assert not isinstance(picked, Finished)
            taken = taken.copy()
            taken[picked.rows] = True
            if nearest is not None:
                nearest.add(int(picked.rows[0]), float(truth[picked.rows[0]]))
        yield taken


def stratified_mean(truth: Floats, taken: NDArray[np.bool_], strata: Groups) -> float:
    """Return Σ_l N_l·ȳ_l / Σ_l N_l over the strata with a judgement (eq. 1)."""
    count = strata.totals(taken.astype(np.float64))
    total = strata.totals(np.where(taken, truth, 0.0))
    there = count > 0
    sizes = strata.sizes[there]
    return float((sizes * total[there] / count[there]).sum() / sizes.sum())


# --- the simulations behind Tables 1 to 6, one cell for every set and method -----------------------------


# Draws of every share for each seed of the effort: 100, as published, with the full one.
_DRAWS_A_SEED = 10
# The single metric of the paper is BLEURT; other sets have the one that their cases name.
_BLEURT = {"wmt20_ende_notext": "bleurt-combi", "wmt23_zhen": "BLEURT-20", "wmt23_ende": "BLEURT-20"}


@dataclass(frozen=True)
class Place:
    """A direction of translation in the paper, and the set that stands for it here.

    Attributes:
        direction: As in the paper.
        file: The data set.
        title: How it is called in the tables.
        two: Whether the methods get two well-known metrics, as on the paper's test sets, not the ten best.
    """

    direction: str
    file: str
    title: str
    two: bool = False


class Cell(NamedTuple):
    """What is simulated: a set and a method."""

    place: Place
    method: str


DEMO_PLACE = Place(EN_DE, DEMO, "the demo set")


def places_of(work: Work, usual: Sequence[Place]) -> tuple[Place, ...]:
    """Return the sets to compute: the usual ones, or the demo set in their place."""
    return (replace(DEMO_PLACE, two=usual[0].two),) if work.is_demo else tuple(usual)


def draws_of(work: Work) -> int:
    """Return how many draws are made of every share."""
    return _DRAWS_A_SEED * work.effort.seeds


@lru_cache(maxsize=2)
def cases_at(work: Work, file: str) -> Cases:
    """Return the cases of a set, with BLEURT as the single metric where there is one."""
    found = cases_of(file, work.load(file))
    return replace(found, one=_BLEURT.get(file, found.one))


def error_figures(work: Work, usual: Sequence[Place], methods: Sequence[str]) -> dict[str, Any]:
    """Return the lines of a table for every set, and what the sets are."""
    places = places_of(work, usual)
    wanted = [
        Cell(place, method) for place in places for method in methods if can_be_run(work, place, method)
    ]
    found = dict(zip(wanted, work.each(partial(summary, work), wanted), strict=True))
    sets = []
    for place in places:
        base = found[Cell(place, BASE)]
        lines = [
            method_figures(method, found[Cell(place, method)], base)
            for method in methods
            if Cell(place, method) in found
        ]
        sets.append({**about(work, place), "lines": lines})
    return {"draws": draws_of(work), "sets": sets}


def can_be_run(work: Work, place: Place, method: str) -> bool:
    """Say whether a set has what a method needs: documents."""
    return "docs" not in method or "document" in work.load(place.file).columns


def summary(work: Work, cell: Cell) -> Summary:
    """Return the errors of a method on a set, simulated or as they were kept."""
    place, method = cell
    draws = draws_of(work)
    key = {"what": "score errors", "method": method, "draws": draws, "two": place.two}

    def make() -> dict[str, Any]:
        cases = cases_at(work, place.file)
        if method in INCREMENTAL:
            errors = incremental_errors(cases, INCREMENTAL[method], SHARES, max(2, draws // 5))
        else:
            errors = measured(cases, {method: published(method, two=place.two)}, SHARES, draws)[method]
        return Summary.of(errors.error).plain()

    return Summary.read(work.cell(place.file, key, make))


def published(method: str, *, two: bool = False) -> Published:
    """Return a method by the paper's name for it."""
    found = PUBLISHED["cv-one" if method == "cv-bleurt" else method]
    return replace(found, shown="two") if two else found


def bounds(work: Work, usual: Sequence[Place]) -> dict[str, Any]:
    """Return how bounds held for the baseline and the best published method on every set."""
    places, draws = places_of(work, usual), draws_of(work)
    sets = [
        {**about(work, place), "bounds": lines}
        for place, lines in zip(places, work.each(partial(_bounds, work), places), strict=True)
    ]
    return {"draws": draws, "sets": sets}


def _bounds(work: Work, place: Place) -> Any:
    draws, methods = draws_of(work), (BASE, BEST_PUBLISHED)

    def make() -> list[dict[str, Any]]:
        cases = cases_at(work, place.file)
        errors = _each_measured(cases, methods, draws)
        return bound_figures(cases, errors, BOUND_SHARES, methods)

    return work.cell(place.file, {"what": "bounds", "draws": draws}, make)


def _each_measured(cases: Cases, methods: Iterable[str], draws: int) -> dict[str, Any]:
    return {name: measured(cases, {name: PUBLISHED[name]}, BOUND_SHARES, draws)[name] for name in methods}


def about(work: Work, place: Place) -> dict[str, Any]:
    """Return what a reader has to know about a set."""
    key = {"what": "about the simulations", "two": place.two}

    def make() -> dict[str, Any]:
        cases = cases_at(work, place.file)
        sizes = [len(case.data) for case in cases.cases]
        return {
            "raters": len(cases.cases) if cases.by_rater else 0,
            "systems": cases.cases[0].truth.shape[1],
            "simulations": cases.simulations,
            "items": [min(sizes), max(sizes)],
            "one": cases.one,
            "shown": list(cases.shown("two" if place.two else "best")),
        }

    told = work.cell(place.file, key, make)
    return {"direction": place.direction, "file": place.file, "title": place.title, **told}
