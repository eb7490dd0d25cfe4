"""The simulations behind Tables 1 to 6, one cell for every set and method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from benchmarks.papers.saldias.cases import Cases, cases_of
from benchmarks.papers.saldias.errors import SHARES, measured
from benchmarks.papers.saldias.figures import BOUND_SHARES, Summary, bound_figures, method_figures
from benchmarks.papers.saldias.incremental import INCREMENTAL, incremental_errors
from benchmarks.papers.saldias.methods import BASE, BEST_PUBLISHED, PUBLISHED, Published
from benchmarks.papers.saldias.published import EN_DE
from benchmarks.papers.settings import DEMO
from benchmarks.papers.work import Work

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
            errors = incremental_errors(cases, INCREMENTAL[method], SHARES, draws)
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
