"""The sentences of a report: what was asked, what the answer is, and what it speaks about."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from sparingly.base.format import NO_INTERVAL, counted, share_text
from sparingly.infer.estimate.assemble import target_text
from sparingly.infer.estimate.result import CHOSEN_ITEMS
from sparingly.show.report.evidence import Evidence
from sparingly.show.report.markup import code

ALMOST_NONE = 0.001


def question(held: Evidence) -> str:
    """Return what was asked, as a question."""
    found = held.estimate
    pool = f"on the {found.size:,} items that were drawn from"
    places = {
        "set": pool if held.outside else f"on this set of {counted(found.size, 'item')}",
        "population": "on inputs like these",
        CHOSEN_ITEMS: "on the chosen items",
    }
    where = places[found.target]
    if held.ranking is not None and held.ranking.target != found.target:
        where = f"on {target_text(held.ranking.target)}"
    if held.strengths is not None:
        where = (
            "in the chosen comparisons"
            if found.target == CHOSEN_ITEMS
            else "in comparisons of this set's outputs"
        )
    if len(found.models) == 1:
        return f"How good is {code(found.models[0])} on {code(held.aspect)}, {where}?"
    return f"Which of {len(found.models)} models is better on {code(held.aspect)}, {where}?"


def answer(held: Evidence) -> str:
    """Return what was found, in one or two sentences: those of the ranking, where there is one."""
    return _without_ranks(held) if held.ranking is None else held.ranking.answer(code)


def _without_ranks(held: Evidence) -> str:
    found = held.estimate
    place = int(found.order[0])
    best, on_chosen = (
        code(found.models[place]),
        " on the chosen items" if found.target == CHOSEN_ITEMS else "",
    )
    if len(found.models) > 1:
        why = ended(held.unranked)
        return f"{best} has the highest score{on_chosen}; nothing is decided between the models. {why}"
    ends = found.interval_text(place)
    between = "" if ends == NO_INTERVAL else f" ({100 * found.level:g} % interval: {ends})"
    return f"{best} scores {found.score_text(place)}{on_chosen}{between}."


def estimand(held: Evidence) -> str:
    """Return what the numbers speak about, and what they must not be taken for."""
    found = held.estimate
    if held.strengths is not None:
        return _of_comparisons(held)
    if found.target == CHOSEN_ITEMS:
        whole = f"the {held.outside + len(held.data):,} items that they were chosen from"
        return (
            f"Ranking only: these are scores of the {counted(found.n, 'chosen item')}, not of "
            f"{whole if held.outside else 'the test set'}. The items were picked, not sampled with known "
            "probabilities: no error bar speaks about the whole set, and tests overstate what is known of it."
        )
    skipped = any(one.same_outputs for one in held.rounds)
    what = "Differences of scores" if skipped else "Scores"
    decided = found.target if held.ranking is None else held.ranking.target
    of_set = f"estimate what judging all {_frame(held)} would say: {_judged(held)}."
    of_others = f"the {_frame(held)} count as a sample of them"
    if found.target == decided == "set":
        return f"{what} and ranks {of_set} They say nothing of other inputs."
    if found.target == "set":
        return (
            f"{what} with their errors and intervals {of_set} Ranks, groups and p-values speak about inputs "
            f"like these: {of_others}. Inputs of another kind may rank the models otherwise."
        )
    return (
        f"{what} and ranks speak about inputs like these: {of_others}, and {_judged(held)}. Inputs of "
        "another kind may rank the models otherwise."
    )


def _frame(held: Evidence) -> str:
    """Return which items the scores are of."""
    size = held.estimate.size
    if held.outside:
        first = "the first draw" if held.rounds[0].pool is not None else "the draw"
        return f"{size:,} items that {first} chose from, of which {len(held.data):,} are in the data,"
    never = {name for one in held.rounds for name in one.never}
    shut = int(np.isin(held.data.items, list(never)).sum()) if never else 0
    return f"{counted(size, 'item')} of this set" + (
        f" that could be chosen ({shut} could not)" if shut else ""
    )


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
    text = (
        f"{drawn} of them {'was' if drawn == 1 else 'were'} sampled with known probabilities{stages}{rounds}"
    )
    if found.n >= drawn:
        return text
    return f"{text}, of which {found.n} {_are(found.n)} judged and the others taken to be missing by chance"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _of_comparisons(held: Evidence) -> str:
    found = held.estimate
    what = f"Strengths come from {counted(found.n, 'comparison')} of two outputs"
    if found.target == CHOSEN_ITEMS:
        return (
            f"Ranking only: {what[0].lower()}{what[1:]} that were picked, not drawn: leads are exaggerated, "
            "and errors hold only for these comparisons."
        )
    return f"{what}, sampled with known probabilities: they speak about all pairs of outputs of this set."


def effort(labels: int, items: int, size: int, seconds: float | None) -> str:
    """Return what it cost, in one sentence."""
    time = "" if seconds is None else f", {time_text(seconds)} of judging"
    share = share_text(items / max(size, 1))
    return f"{counted(labels, 'label')} on {items} of {counted(size, 'item')} ({share}){time}."


def time_text(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.3g} seconds"


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
    # A number that rounds to 0 has no sign.
    return ["-" if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}" for value in known]


def ended(text: str) -> str:
    """Return a sentence with a capital and a full stop."""
    text = text.strip()
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."
