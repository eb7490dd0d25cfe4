"""The sentences of a report: what was asked, what the answer is, and what it speaks about."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from sparingly.base.errors import listing
from sparingly.infer.estimate.result import CHOSEN
from sparingly.infer.rank.ranking import Ranking
from sparingly.show.report.evidence import Evidence
from sparingly.show.report.markup import code

ALMOST_NONE = 0.001


def question(held: Evidence) -> str:
    """Return what was asked, as a question."""
    found = held.estimate
    pool = f"on the {found.size:,} items that were drawn from"
    places = {
        "set": pool if held.outside else f"on this set of {found.size} items",
        "population": "on inputs like these",
        CHOSEN: "on the chosen items",
    }
    where = places[found.target]
    if held.strengths is not None:
        where = (
            "in the chosen comparisons" if found.target == CHOSEN else "in comparisons of this set's outputs"
        )
    if len(found.models) == 1:
        return f"How good is {code(found.models[0])} by {code(held.aspect)}, {where}?"
    return f"Which of {len(found.models)} models is better by {code(held.aspect)}, {where}?"


def answer(held: Evidence) -> str:
    """Return what was found, in one or two sentences."""
    ranking = held.ranking
    if ranking is None:
        return _without_ranks(held)
    first = ranking.models[0]
    rivals = [one.model for one in ranking.models[1:] if one.best_rank == 1]
    on_chosen = " on the chosen items" if ranking.target == CHOSEN else ""
    chance = (
        "" if first.chance_of_best is None else f" (chance to be best: {percent_of(first.chance_of_best)})"
    )
    if not rivals:
        return f"{code(first.model)} is the best model{on_chosen}{chance}. {_groups(ranking)}"
    many = f"{named(rivals)} {'is' if len(rivals) == 1 else 'are'}"
    return (
        f"{code(first.model)} has the highest score{on_chosen}{chance}, but {many} not ruled out "
        f"as the best. {_groups(ranking)}"
    )


def _without_ranks(held: Evidence) -> str:
    found = held.estimate
    place = int(found.order[0])
    best, on_chosen = code(found.models[place]), " on the chosen items" if found.target == CHOSEN else ""
    if len(found.models) > 1:
        why = ended(held.unranked)
        return f"{best} has the highest score{on_chosen}; how sure that is cannot be told: {why}"
    score, low, high = aligned([found.scores[place], found.low[place], found.high[place]])
    between = "" if "-" in (low, high) else f" ({100 * found.level:g} % interval from {low} to {high})"
    return f"{best} scores {score}{on_chosen}{between}."


def named(models: Sequence[str], most: int = 5) -> str:
    """Return models in words: a few by their names, and how many more there are."""
    if len(models) > most:
        return listing(map(code, models), most)
    *before, last = map(code, models)
    return f"{', '.join(before)} and {last}" if before else last


def _groups(ranking: Ranking) -> str:
    count = len(ranking.groups)
    if count == 1:
        return "All models form one group: their possible ranks overlap from the first to the last."
    return f"The models fall into {count} groups that are told apart."


def estimand(held: Evidence) -> str:
    """Return what the numbers speak about, and what they must not be taken for."""
    found = held.estimate
    if held.strengths is not None:
        return _of_comparisons(held)
    if found.target == CHOSEN:
        whole = f"the {held.outside + len(held.data):,} items that they were chosen from"
        return (
            f"Ranking only: these are scores of the {found.n} chosen items, not of "
            f"{whole if held.outside else 'the test set'}. The items "
            "were not drawn by known chances, so no error bar speaks about the whole set, and tests are too "
            "sure of themselves where they are taken for the set's."
        )
    skipped = any(one.same_outputs for one in held.rounds)
    what = "Differences between models" if skipped else "Scores and ranks"
    if found.target == "set":
        return (
            f"{what} estimate what judging all {_frame(held)} would say: {_judged(held)}. They say nothing "
            "of other inputs."
        )
    return (
        f"{what} speak about inputs like these: the {_frame(held)} count as a sample of them, and "
        f"{_judged(held)}. Inputs of another kind may rank the models otherwise."
    )


def _frame(held: Evidence) -> str:
    """Return which items the scores are of."""
    size = held.estimate.size
    if held.outside:
        first = "the first draw" if held.rounds[0].pool is not None else "the draw"
        return f"{size:,} items that {first} chose from, of which {len(held.data):,} are in the data,"
    never = {name for one in held.rounds for name in one.never}
    shut = int(np.isin(held.data.items, list(never)).sum()) if never else 0
    return f"{size} items of this set" + (f" that could be chosen ({shut} could not)" if shut else "")


def _judged(held: Evidence) -> str:
    """Return how many of the items are judged, and how these came to be."""
    found = held.estimate
    if found.n == found.size:
        return "all of them are judged"
    if not held.rounds:
        return f"{found.n} of them {_are(found.n)} judged, and taken for a uniform sample"
    drawn = len({name for one in held.rounds for name in one.items})
    stages = " in two stages" if held.rounds[0].pool is not None else ""
    rounds = f" in {len(held.rounds)} rounds" if len(held.rounds) > 1 else ""
    text = f"{drawn} of them {'was' if drawn == 1 else 'were'} drawn by known chances{stages}{rounds}"
    if found.n >= drawn:
        return text
    return f"{text}, of which {found.n} {_are(found.n)} judged and the others taken to be missing by chance"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _of_comparisons(held: Evidence) -> str:
    found = held.estimate
    what = f"Strengths come from {found.n} comparisons of two outputs"
    if found.target == CHOSEN:
        return (
            f"Ranking only: {what[0].lower()}{what[1:]} that were picked, not drawn: leads are exaggerated, "
            "and errors hold only for these comparisons."
        )
    return f"{what}, drawn by known chances: they speak about all pairs of outputs of this set alike."


def effort(labels: int, items: int, size: int, seconds: float | None) -> str:
    """Return what it cost, in one sentence."""
    time = "" if seconds is None else f", {time_text(seconds)} of judging"
    return f"{labels} labels on {items} of {size} items ({share_text(items / max(size, 1))}){time}."


def time_text(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.3g} seconds"


def share_text(value: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * value:.1f} %"


def percent_of(value: float) -> str:
    """Return a chance as a percentage, never as none or all where it is neither."""
    if 0 < value < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < value < 1 else f"{100 * value:.0f} %"


def p_text(value: float) -> str:
    """Return a p-value, short enough for a matrix."""
    if value != value:
        return ""
    if value > 1 - ALMOST_NONE / 2:
        return "1"
    return "<.001" if value < ALMOST_NONE else f"{value:.3f}".removeprefix("0")


def aligned(values: Iterable[float | None], digits: int = 4) -> list[str]:
    """Return numbers with the same decimals, as many as the largest needs for so many digits."""
    known = [None if value is None or not math.isfinite(value) else value for value in values]
    largest = max((abs(value) for value in known if value is not None), default=0.0)
    before = math.floor(math.log10(largest)) + 1 if largest > 0 else 1
    decimals = min(max(digits - before, 0), 8)
    return ["-" if value is None else f"{value:.{decimals}f}" for value in known]


def ended(text: str) -> str:
    """Return a sentence with a capital and a full stop."""
    text = text.strip()
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."
