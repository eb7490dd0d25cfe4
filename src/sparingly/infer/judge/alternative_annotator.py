"""The alternative-annotator test: may the judge take the place of a person?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.stats.multiple_tests import benjamini_yekutieli
from sparingly.infer.estimate.rater_effects import RaterScores
from sparingly.infer.judge.agreement import ratings_by_person
from sparingly.infer.judge.labelled import LabelledOutputs

FEWEST_PEOPLE, FEWEST_ITEMS = 3, 30
EPSILON = 0.2


@dataclass(frozen=True)
class AlternativeAnnotator:
    """Whether the judge does as well as a person beside the other people (Calderon et al. 2025)."""

    winning_rate: float  # ω, the share of people whom it can stand in for; it passes from one half on
    # ρ, how often, on average over people, it is at least as close to the others as the person.
    advantage: float
    people: int  # the people who were compared, each on 30 items or more
    # How much less often than the person it may win: what a judge saves is worth as much.
    epsilon: float = EPSILON

    @property
    def passes(self) -> bool:
        """Whether the judge can stand in for half of the people or more."""
        return self.winning_rate >= 0.5


def alternative_annotator(
    labelled: LabelledOutputs, ratings: RaterScores | None, epsilon: float = EPSILON
) -> AlternativeAnnotator | None:
    """Return the test; None with fewer than three people who share 30 items with others.

    A person j is left out; on each of the outputs that j and others judged, judge and j are compared by how
    close they come to the others: the share of equal answers for pass and fail, −√(mean squared difference)
    for grades. W_f says that the judge is at least as close, W_h that j is. H₀: E W_f ≤ E W_h − ε is tested
    by a t-test of W_h − W_f (items as units), for all people at a false discovery rate of 5 % (Benjamini and
    Yekutieli 2001). ε = .2 suits experts (Calderon, Reichart and Dror 2025, section 3).
    """
    from scipy.special import stdtr

    if ratings is None:
        return None
    scores, cluster, judge = ratings_by_person(labelled, ratings)
    p_values, advantages = [], []
    for person in range(scores.shape[1]):
        peers = np.delete(scores, person, axis=1)
        rows = np.flatnonzero(~np.isnan(scores[:, person]) & ~np.isnan(peers).all(axis=1))
        items = np.unique(cluster[rows])
        if len(items) < FEWEST_ITEMS:
            continue
        distances = []
        for answer in (judge[rows], scores[rows, person]):
            gap = peers[rows] - answer[:, None]
            if labelled.two_valued:
                distances.append(np.nanmean(np.abs(gap) > 1e-9, axis=1, where=~np.isnan(gap)))
            else:
                distances.append(np.sqrt(np.nanmean(gap**2, axis=1)))
        judge_wins, person_wins = distances[0] <= distances[1], distances[1] <= distances[0]
        advantages.append(float(judge_wins.mean()))
        place = np.searchsorted(items, cluster[rows])
        lead = person_wins.astype(float) - judge_wins
        mean = float(lead.mean())
        sums = np.bincount(place, lead - mean)
        count = len(items)
        error = float(np.sqrt((sums**2).sum() * count / (count - 1))) / len(rows)
        below = mean - epsilon
        p_values.append(float(stdtr(count - 1.0, below / error)) if error > 0 else float(below >= 0))
    if len(p_values) < FEWEST_PEOPLE:
        return None
    rejected = benjamini_yekutieli(np.array(p_values)) < 0.05
    return AlternativeAnnotator(float(rejected.mean()), float(np.mean(advantages)), len(p_values), epsilon)
