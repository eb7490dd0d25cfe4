"""The sections on scores, ranks and groups, and pairs of models."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sparingly.base.format import counted, percent
from sparingly.infer.estimate.assemble import place_of
from sparingly.infer.estimate.result import CHOSEN, Estimate
from sparingly.infer.rank.ranking import Ranking
from sparingly.show.figures.ranks import draw_chances, draw_ranks
from sparingly.show.figures.scores import draw_scores
from sparingly.show.report.document import Notes, Part, Section, Table, Words
from sparingly.show.report.evidence import Evidence
from sparingly.show.report.pictures import picture
from sparingly.show.report.words import aligned, ended, p_text
from sparingly.show.terminal.console import fixed

# So many columns of a matrix fit on a page.
_MOST_COLUMNS = 12


def score_section(held: Evidence, *, figures: bool) -> Section:
    """Show the scores with their intervals, those of parts of the set, and what to mind."""
    found = held.estimate
    parts: list[Part] = []
    if figures and np.isfinite(found.scores).any():
        best = found.models[found.order[0]]
        words = (
            f"{best} has the highest score of {counted(len(found.models), 'model')}; "
            "the table below has all numbers."
        )
        parts.append(picture("scores", draw_scores(found), words))
    strengths = held.strengths is not None
    what = "Strengths" if strengths else f"Scores of {place_of(found.target)}"
    parts.append(_scores(found, f"{what} by {found.aspect}, estimated by {found.estimator_used}"))
    parts += [
        _scores(part, f"{name}: {counted(part.n, 'judged item')}") for name, part in found.groups.items()
    ]
    parts.append(Notes(tuple(map(ended, found.notes))))
    title = "Strengths with intervals" if held.strengths else "Scores with intervals"
    return Section("scores", title, tuple(parts))


def _scores(found: Estimate, caption: str) -> Table:
    order = found.order
    scores, errors = aligned(found.scores[order]), aligned([found.shown_error(place) for place in order], 3)
    if found.is_rate:
        scores, errors = list(map(found.score_text, order)), list(map(found.error_text, order))
    rows = tuple(
        (found.models[place], scores[at], errors[at], found.interval_text(place))
        for at, place in enumerate(order)
    )
    return Table(caption, ("model", "score", "standard error", f"{100 * found.level:g} % interval"), rows)


def rank_section(held: Evidence, *, figures: bool) -> Section:
    """Show possible ranks, groups, and chances to be the best; or say why there are none."""
    ranking = held.ranking
    if ranking is None:
        return Section("ranks", "Ranks and groups", (Words(ended(held.unranked)),))
    parts: list[Part] = [Words(_how(ranking))]
    if figures:
        words = "; ".join(f"{one.model}: rank {one.ranks}" for one in ranking.models)
        parts.append(picture("ranks", draw_ranks(ranking), f"Possible ranks. {words}."))
    own = [note for note in ranking.notes if note not in held.estimate.notes]
    parts += [_ranks(ranking), *([Notes(tuple(map(ended, own)))] if own else [])]
    return Section("ranks", "Ranks and groups", tuple(parts))


def _how(ranking: Ranking) -> str:
    """Say what ranks and groups follow from, and what they speak about."""
    level = f"{100 * (1 - ranking.alpha):g} %"
    rule = (
        "Every pair of models was tested once, corrected for all pairs. A model's ranks go from 1 + the "
        "number of models that are significantly better to the number of models less those that are "
        "significantly worse"
    )
    if ranking.target == CHOSEN:
        return f"{rule}. The items were picked, not sampled: this holds for these items only."
    holds = f"on {place_of(ranking.target)}, they hold for all models at once with {level} confidence"
    return f"{rule}; {holds}. {ranking.group_sentence}"


def _ranks(ranking: Ranking) -> Table:
    scores = aligned(one.score for one in ranking.models)
    if ranking.is_rate:
        scores = [ranking.score_text(one) for one in ranking.models]
    grouped = len(ranking.groups) > 1
    rows = tuple(
        (
            one.model,
            one.ranks,
            scores[one.rank - 1],
            fixed(one.standardised),
            percent(one.chance_of_best),
            *(("-" if one.group is None else str(one.group),) if grouped else ()),
        )
        for one in ranking.models
    )
    groups = [one.group for one in ranking.models]
    breaks = frozenset(place for place in range(1, len(groups)) if groups[place] != groups[place - 1])
    columns = ("model", ranking.ranks_head, ranking.scores_head, "standardised", "chance to be best")
    caption = "Models in order, groups set off by a line" if grouped else "Models in order"
    return Table(caption, (*columns, "group") if grouped else columns, rows, breaks=breaks)


def pair_section(held: Evidence, *, figures: bool) -> Section | None:
    """Show the tests of all pairs, and the chance that one model is better than another."""
    ranking = held.ranking
    if ranking is None:
        return None
    parts: list[Part] = []
    if figures:
        words = "The chance that one model is better than another, for all pairs in the order of the ranking."
        parts.append(picture("pairs", draw_chances(ranking), words))
    parts += list(_matrix(ranking))
    parts.append(
        Words(
            f"Two-sided p-values of the {ranking.test} test, corrected for all pairs (Shaffer's step-down): "
            f"where one is at most {ranking.alpha:g} it stands out, and the model with the higher score is "
            "significantly better. Chances to be better are without correction: they help to choose, and "
            "decide nothing."
        )
    )
    return Section("pairs", "Every pair of models", tuple(parts))


def _matrix(ranking: Ranking) -> Iterator[Table]:
    """Yield the corrected p-values, in as many tables as fit the page."""
    count = len(ranking.models)
    for start in range(0, count, _MOST_COLUMNS):
        places = range(start, min(start + _MOST_COLUMNS, count))
        rows = tuple(
            (
                f"{row + 1}. {one.model}",
                *("–" if row == at else p_text(ranking.corrected[row, at]) for at in places),
            )
            for row, one in enumerate(ranking.models)
        )
        marked = frozenset(
            (row, at - start + 1)
            for row in range(count)
            for at in places
            if row != at and ranking.corrected[row, at] <= ranking.alpha
        )
        span = f", against ranks {start + 1} to {places[-1] + 1}" if count > _MOST_COLUMNS else ""
        columns = ("model", *(f"{at + 1}." for at in places))
        yield Table(f"Corrected p-values of pairs{span}", columns, rows, marked=marked)
