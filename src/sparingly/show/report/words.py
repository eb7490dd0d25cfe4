"""The sentences of a report: what was asked, what the answer is, and what it describes."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from sparingly.base.format import counted, share_text
from sparingly.infer.compare.head_to_head import HeadToHead
from sparingly.infer.estimate.assemble import target_text
from sparingly.infer.estimate.result import CHOSEN_ITEMS
from sparingly.show.report.evidence import Evidence
from sparingly.show.report.markup import code

ALMOST_NONE = 0.001


def question(evidence: Evidence) -> str:
    """Return what was asked, as a question."""
    estimate = evidence.estimate
    pool = f"on the {estimate.size:,} items that were drawn from"
    places = {
        "set": pool if evidence.outside else f"on this set of {counted(estimate.size, 'item')}",
        "population": "on inputs like these",
        CHOSEN_ITEMS: "on the chosen items",
    }
    place = places[estimate.target]
    if evidence.ranking is not None and evidence.ranking.target != estimate.target:
        place = f"on {target_text(evidence.ranking.target)}"
    if evidence.comparison is not None:
        chosen = estimate.target == CHOSEN_ITEMS
        place = "in the chosen comparisons" if chosen else "in comparisons of this set's outputs"
    if len(estimate.models) == 1:
        return f"How good is {code(estimate.models[0])} on {code(evidence.aspect)}, {place}?"
    return f"Which of {len(estimate.models)} models is better on {code(evidence.aspect)}, {place}?"


def answer(evidence: Evidence) -> str:
    """Return what was found, in one or two sentences: those of the ranking, where there is one."""
    if evidence.ranking is not None:
        found = evidence.comparison
        wins = found.wins_text(found.tally) if isinstance(found, HeadToHead) and found.tally else ""
        return " ".join(filter(None, (evidence.ranking.answer(code), wins and f"{wins.rstrip('.')}.")))
    estimate = evidence.estimate
    text = estimate.answer(code)
    if len(estimate.models) > 1:
        return f"{text} Nothing is decided between the models. {with_full_stop(evidence.unranked)}"
    return text


def estimand(evidence: Evidence) -> str:
    """Return what the numbers describe, and what they must not be taken for."""
    estimate = evidence.estimate
    if (found := evidence.comparison) is not None:
        subject = "Win rates" if isinstance(found, HeadToHead) else "Strengths"
        source = f"come from {counted(estimate.n, 'comparison')} of two outputs"
        if estimate.target == CHOSEN_ITEMS:
            return (
                f"Ranking only: {subject.lower()} {source} that were picked, not drawn: leads are "
                "exaggerated, and errors hold only for these comparisons."
            )
        sampled = "sampled with known probabilities" if evidence.rounds else "taken for a random sample"
        return f"{subject} {source}, {sampled}: they describe inputs like these."
    if estimate.target == CHOSEN_ITEMS:
        frame = f"the {evidence.outside + len(evidence.data):,} items that they were chosen from"
        return (
            f"Ranking only: these are scores of the {counted(estimate.n, 'chosen item')}, not of "
            f"{frame if evidence.outside else 'the test set'}. The items were picked, not sampled with known "
            "probabilities: no error bar describes the whole set, and tests overstate what is known."
        )
    skipped = any(selection.same_outputs for selection in evidence.rounds)
    subject = "Differences of scores" if skipped else "Scores"
    decided = estimate.target if evidence.ranking is None else evidence.ranking.target
    of_set = f"estimate what judging all {_frame(evidence)} would say: {_judged(evidence)}."
    of_others = f"the {_frame(evidence)} count as a sample of them"
    if estimate.target == decided == "set":
        return f"{subject} and ranks {of_set} They say nothing of other inputs."
    if estimate.target == "set":
        return (
            f"{subject} with their errors and intervals {of_set} Ranks, groups and p-values describe "
            f"inputs like these: {of_others}. Inputs of another kind may rank the models otherwise."
        )
    return (
        f"{subject} and ranks describe inputs like these: {of_others}, and {_judged(evidence)}. Inputs of "
        "another kind may rank the models otherwise."
    )


def _frame(evidence: Evidence) -> str:
    """Return which items the scores are of."""
    size = evidence.estimate.size
    if evidence.outside:
        first = "the first draw" if evidence.rounds[0].pool is not None else "the draw"
        return f"{size:,} items that {first} chose from, of which {len(evidence.data):,} are in the data,"
    never = {name for selection in evidence.rounds for name in selection.never}
    shut = int(np.isin(evidence.data.items, list(never)).sum()) if never else 0
    chosen = f" that could be chosen ({shut} could not)" if shut else ""
    return f"{counted(size, 'item')} of this set{chosen}"


def _judged(evidence: Evidence) -> str:
    """Return how many of the items are judged, and how these came to be."""
    estimate = evidence.estimate
    if estimate.n == estimate.size:
        return "all of them are judged"
    are = "is" if estimate.n == 1 else "are"
    if not evidence.rounds:
        return f"{estimate.n:,} of them {are} judged, and taken for a uniform sample"
    items = len({name for selection in evidence.rounds for name in selection.items})
    stages = " in two stages" if evidence.rounds[0].pool is not None else ""
    rounds = f" in {len(evidence.rounds)} rounds" if len(evidence.rounds) > 1 else ""
    were = "was" if items == 1 else "were"
    text = f"{items} of them {were} sampled with known probabilities{stages}{rounds}"
    if estimate.n >= items:
        return text
    return f"{text}, of which {estimate.n} {are} judged and the others assumed to be missing at random"


def effort(evidence: Evidence) -> str:
    """Return what it cost and what judging the rest would add, in one or two sentences."""
    spent = evidence.effort
    time = "" if spent.seconds is None else f", {time_text(spent.seconds)} of judging"
    share = share_text(spent.items / max(spent.size, 1), 0)
    items = f"{spent.items:,} of {counted(spent.size, 'item')} ({share})"
    outlook = "" if evidence.ranking is None else evidence.ranking.outlook
    more = f" {outlook[:1].upper()}{outlook[1:]}." if outlook else ""
    return f"{counted(spent.labels, 'label')} on {items}{time}.{more}"


def next_step(evidence: Evidence) -> str:
    """Say what to do next."""
    if evidence.status is not None and (part := evidence.part) is not None:
        decisions = None if evidence.ranking is None else evidence.ranking.decisions
        is_decided = decisions is not None and decisions.decided == decisions.pairs
        if part.finished is not None or (part.spent >= part.limit and not part.outstanding):
            larger = f"a larger budget ({code('sparingly campaign budget')})"
            more = f"more takes {'a campaign of fresh items' if evidence.status.stops else larger}"
            rest = "every pair is decided" if is_decided else more
            return f"Next: nothing is left to judge in this campaign; {rest}."
        why = "every pair is decided: only for narrower intervals" if is_decided else "to collect more labels"
        return f"Next: {code('sparingly serve CAMPAIGN')} ({why})"
    spent, ranking = evidence.effort, evidence.ranking
    if spent.items >= spent.size:
        if ranking is not None and ranking.decisions.decided < ranking.decisions.pairs:
            return "Next: all items are judged; add items to decide more pairs."
        return "Next: all items are judged; nothing is left to do here."
    return f"Next: {code('sparingly plan DATA')} (what more labels would buy)"


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
    finite = [None if value is None or not math.isfinite(value) else value for value in values]
    largest = max((abs(value) for value in finite if value is not None), default=0.0)
    digits_left = math.floor(math.log10(largest)) + 1 if largest > 0 else 1
    decimals = min(max(digits - digits_left, 0), 8)
    # A number that rounds to 0 has no sign.
    return ["-" if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}" for value in finite]


def with_full_stop(text: str) -> str:
    """Return a sentence with a capital and a full stop."""
    text = text.strip()
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."
