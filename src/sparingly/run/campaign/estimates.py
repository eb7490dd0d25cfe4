"""The models' scores from what is judged so far, for the models that are in the campaign.

Rounds are never drawn anew: a model that came late is judged on what was chosen without it, and one that was
withdrawn leaves the estimate and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparingly.base.errors import UsageError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.estimate.bradley_terry import BradleyTerry, bradley_terry
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.expect.expect import Expected, expect
from sparingly.run.campaign.history import Known
from sparingly.run.campaign.settings import Settings
from sparingly.run.rounds.strategy import OneShot, State, Strategy, as_strategy, asked_cells, compared_rows

_PICKED = "these comparisons were picked, not drawn: leads are exaggerated, and errors hold only for these."


@dataclass(frozen=True, kw_only=True)
class DrawnBefore(OneShot):
    """One selection, made from the models that were there when it was drawn, whoever came or went since."""

    drawn_from: EvalSet

    def _whole(self, state: State) -> Selection:
        return select(self.drawn_from, self.selector, state.budget, seed=state.seed)


def estimate_of(settings: Settings, known: Known, **asked: Any) -> Estimate:
    """Return the scores of the models that are in a data set, from all of its rounds."""
    if not known.rounds:
        raise UsageError(f"The data set {known.name} has no round yet: there is nothing to estimate from.")
    state, strategy = state_for_estimates(settings, known)
    found = strategy.estimate(state, **asked)
    return replace(found, notes=(*found.notes, *_notes(known)))


def expected_of(settings: Settings, known: Known) -> Expected:
    """Return what judging everything is expected to say of a data set, from every answer to its rounds."""
    if not known.rounds:
        raise UsageError(f"The data set {known.name} has no round yet: there is nothing to go by.")
    state, _ = state_for_estimates(settings, known)
    return expect(state.data, state.labels, aspect=state.aspect)


def strengths_of(settings: Settings, known: Known, **asked: Any) -> BradleyTerry:
    """Return how strong the models of a data set are, from the comparisons of all of its rounds.

    Comparisons that were drawn with known chances are weighed by them; those that were picked count alike.
    """
    rounds = _answered(known)
    if not rounds:
        raise UsageError(f"The data set {known.name} has no round yet: there is nothing to estimate from.")
    if any(one.pairs is None for one in rounds):
        raise UsageError(f"The strategy {settings.strategy} asks for scores: see estimate.")
    drawn = all(one.probability is not None for one in rounds)
    aspect = settings.aspect if settings.aspect in settings.aspects else None
    found = bradley_terry(known.data, aspect, rounds=rounds if drawn else (), **asked)
    return replace(found, notes=(*found.notes, *(() if drawn else (_PICKED,)), *_notes(known)))


def state_for_estimates(settings: Settings, known: Known) -> tuple[State, Strategy]:
    """Return what is known with the models that are here, and the strategy as it was settled at the start."""
    budget = settings.budgets[known.name]
    began = known.drawn_from.without_labels()
    strategy: Strategy = as_strategy(settings.strategy).resolve(began, settings.aspect, budget)
    if isinstance(strategy, OneShot):
        strategy = DrawnBefore(selector=strategy.selector, rounds=strategy.rounds, drawn_from=began)
    rounds = tuple(_of_models(one, known.data) for one in _answered(known))
    seen = known.data.reveal(asked_cells(known.data, rounds), compared_rows(known.data, rounds))
    return State(seen, settings.aspect, rounds, budget, settings.size, settings.seed), strategy


def _answered(known: Known) -> tuple[Selection, ...]:
    """Return the rounds without the last ones that nobody has answered: these are not missing by chance."""
    rounds = list(known.rounds)
    judged = {known.data.items[row] for row in (*known.data.ratings.item, *known.data.preferences.item)}
    while len(rounds) > 1 and judged.isdisjoint(rounds[-1].items):
        rounds.pop()
    return tuple(rounds)


def _of_models(selection: Selection, data: EvalSet) -> Selection:
    """Return a round without comparisons with models that were withdrawn."""
    if selection.pairs is None:
        return selection
    here = set(data.models)
    kept = [place for place, pair in enumerate(selection.pairs) if pair is None or here.issuperset(pair)]
    if len(kept) == len(selection):
        return selection
    columns: dict[str, Any] = {
        name: value[kept]
        for name, value in vars(selection).items()
        if isinstance(value, np.ndarray) and name != "pool"
    }
    return replace(selection, **columns)


def _notes(known: Known) -> list[str]:
    began, now = set(known.drawn_from.models), set(known.data.models)
    notes = []
    if late := sorted(now - began):
        notes.append(f"judged on what was chosen without them: {', '.join(late)}")
    if gone := sorted(began - now):
        notes.append(f"withdrawn: {', '.join(gone)}")
    return notes
