"""What a campaign's report rests on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly.base.errors import SparinglyError, UsageError
from sparingly.infer.estimate.result import CHOSEN, Estimate
from sparingly.infer.plan.growth import growth
from sparingly.infer.rank.rank import rank
from sparingly.infer.rank.ranking import Ranking
from sparingly.run.rounds.strategy import merged
from sparingly.show.report.evidence import (
    Evidence,
    Target,
    Wanted,
    compared_evidence,
    completed,
    ranking_of,
    seen_of,
)

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign


def from_campaign(running: Campaign, data: str | None, wanted: Wanted, at: int | None = None) -> Evidence:
    """Gather what follows from the answers of a campaign so far, about one of its data sets."""
    name = running.settings.data_named(data)
    if wanted.aspect not in (None, running.settings.aspect):
        raise UsageError(
            f"The campaign is about {running.settings.aspect}, which cannot be changed to {wanted.aspect}."
        )
    status = running.status(at)
    # Everything below is of this entry, although people may answer meanwhile.
    at, rounds = status.seq, running.rounds(name, at=status.seq)
    part = next(one for one in status.sets if one.data == name)
    about: dict[str, Any] = {"status": status, "part": part, "why": running.why().get(name, "")}
    held, aspect = running.data(name, at=at), running.settings.aspect
    if running.compares(name):
        found = running.strengths(name, at=at, level=wanted.level)
        return replace(compared_evidence(held, rounds, found, aspect, wanted), **about)
    scores = _estimate(running, name, at, wanted, wanted.targets.scores)
    ranking, unranked = _ranked(running, name, at, scores, wanted)
    gathered = Evidence(
        data=seen_of(held, rounds),
        rounds=rounds,
        aspect=aspect,
        estimate=scores,
        ranking=ranking,
        unranked=unranked,
        growth=growth([*_earlier(running, name, status.seq, wanted), scores]),
    )
    return replace(completed(gathered, held), **about)


def ends_of_rounds(running: Campaign, data: str, last: int) -> list[int]:
    """Return the numbers of the journal at which the rounds of a data set were answered, in order.

    A round ends with the last answer before anybody answered a later one.
    """
    rows = [row for row in running.ratings(at=last) if row["data"] == data and row["round"] is not None]
    ends = []
    for number in sorted({int(row["round"]) for row in rows}):
        later = min((row["seq"] for row in rows if row["round"] > number), default=last + 1)
        ends.append(max((int(row["seq"]) for row in rows if row["seq"] < later), default=last))
    return ends


def _estimate(running: Campaign, name: str, at: int | None, wanted: Wanted, target: Target) -> Estimate:
    return running.estimate(
        name, at=at, estimator=wanted.estimator, target=target, level=wanted.level, seed=wanted.seed
    )


def _earlier(running: Campaign, name: str, seq: int, wanted: Wanted) -> list[Estimate]:
    """Return the estimates after the rounds before the last one; one too early for scores is left out."""
    found = []
    for end in ends_of_rounds(running, name, seq)[:-1]:
        try:
            found.append(_estimate(running, name, end, wanted, wanted.targets.scores))
        except SparinglyError:
            continue
    return found


def _ranked(
    running: Campaign, name: str, at: int | None, scores: Estimate, wanted: Wanted
) -> tuple[Ranking | None, str]:
    """Rank by the joint errors of all rounds; items that were picked, by what they show."""
    alpha = wanted.alpha
    if scores.target != CHOSEN or np.isnan(scores.scores).all():
        base = scores
        if wanted.targets.decisions != wanted.targets.scores:
            base = _estimate(running, name, at, wanted, wanted.targets.decisions)
        return ranking_of(scores, base, alpha, wanted.seed)
    chosen = merged(running.rounds(name, at=at))
    try:
        found = rank(
            running.data(name, at=at), chosen, running.settings.aspect, alpha=alpha, seed=wanted.seed
        )
    except SparinglyError as error:
        return None, str(error)
    return found, ""
