"""κ, Gwet's AC1 and correlation of a judge with people, beside what two people reach with each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.lazy import special
from sparingly.base.stats.pairs import benjamini_yekutieli
from sparingly.infer.estimate.rater_effects import RaterScores
from sparingly.infer.estimate.sample import dense
from sparingly.infer.judge.error_rates import Rate
from sparingly.infer.judge.labelled import LabelledOutputs

# Coefficients of fewer outputs mean little.
FEWEST_OUTPUTS = 10


@dataclass(frozen=True)
class PairCoefficients:
    """How two judge alike."""

    outputs: int  # the outputs that both judged
    kappa: Rate  # cohen's κ for pass and fail; with quadratic weights, which is Lin's concordance, for grades
    ac1: Rate | None  # gwet's AC1 for pass and fail; None for grades
    correlation: Rate  # pearson's; φ for pass and fail
    exact: float  # the share of outputs to which both gave the same


@dataclass(frozen=True)
class AgreementWithPeople:
    """The judge with the labels; and on outputs with two raters, the judge with one and two of them."""

    labels: PairCoefficients
    judge_and_person: PairCoefficients | None = None
    two_people: PairCoefficients | None = None


def agreement_with_people(
    labelled: LabelledOutputs, ratings: RaterScores | None, level: float
) -> AgreementWithPeople:
    """Return how well the judge agrees with the labels and, where several raters are there, with one person.

    Two people who judge alike set the mark that a judge can reach: labels are no surer than that.
    """
    with_labels = coefficients(
        labelled.on_people_scale,
        labelled.human,
        labelled.weight,
        labelled.cluster,
        labelled.two_valued,
        level,
    )
    if ratings is None:
        return AgreementWithPeople(with_labels)
    scores, cluster, judge = ratings_by_person(labelled, ratings)
    if len(scores) < FEWEST_OUTPUTS:
        return AgreementWithPeople(with_labels)
    # Side by side, whoever gave them: pairs are formed within an output.
    rater_counts = (~np.isnan(scores)).sum(axis=1)
    order = np.argsort(np.isnan(scores), axis=1, kind="stable")[:, : int(rater_counts.max())]
    scores = np.take_along_axis(scores, order, axis=1)
    output, place = np.nonzero(~np.isnan(scores))
    with_person = coefficients(
        judge[output],
        scores[output, place],
        1.0 / rater_counts[output],
        cluster[output],
        labelled.two_valued,
        level,
    )
    # Every pair of raters of an output, both ways round; an output counts once.
    present = ~np.isnan(scores)
    paired = present[:, :, None] & present[:, None, :] & ~np.eye(scores.shape[1], dtype=bool)
    output, first, second = np.nonzero(paired)
    weight = 1.0 / (rater_counts[output] * (rater_counts[output] - 1.0))
    two = coefficients(
        scores[output, first],
        scores[output, second],
        weight,
        cluster[output],
        labelled.two_valued,
        level,
    )
    count = len(scores)
    return AgreementWithPeople(with_labels, _of(with_person, count), _of(two, count))


def ratings_by_person(labelled: LabelledOutputs, ratings: RaterScores) -> tuple[Floats, Ints, Floats]:
    """Return the labelled outputs with two raters or more: scores, clusters, and the judge's score.

    Scores are outputs × raters, NaN where a rater did not judge one.
    """
    width = len(labelled.data.models)
    row_of = np.full(len(labelled.data) * width, -1, np.int64)
    row_of[labelled.item * width + labelled.model] = np.arange(len(labelled))
    row = row_of[ratings.item * width + ratings.model]
    scores = np.full((len(labelled), len(ratings.raters)), np.nan)
    scores[row[row >= 0], ratings.rater[row >= 0]] = ratings.score[row >= 0]
    several = (~np.isnan(scores)).sum(axis=1) > 1
    return scores[several], dense(labelled.cluster[several]), labelled.on_people_scale[several]


def coefficients(
    x: Floats, y: Floats, weight: Floats, cluster: Ints, two_valued: bool, level: float
) -> PairCoefficients:
    """Return the coefficients of pairs of scores, with intervals of a jackknife over clusters.

    κ = 1 − D/E with D = E(x − y)² and E = var x + var y + (x̄ − ȳ)², the disagreement by chance: Cohen's for
    two values, quadratically weighted (Lin's concordance) for grades. AC1 = (a − e)/(1 − e) with a the share
    of equal answers, e = 2π(1 − π), π the mean share of passes (Gwet 2008): it does not collapse, as κ does,
    where nearly everything passes. Ends are Fisher's z ± t·se.
    """
    if two_valued:
        low = min(x.min(), y.min())
        x, y = (x > low).astype(np.float64), (y > low).astype(np.float64)
    parts = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1) * weight[:, None]
    sums = np.zeros((int(cluster.max()) + 1, 6))
    np.add.at(sums, cluster, parts)
    total = sums.sum(axis=0)
    values_of = _from_sums(np.vstack([total, total - sums]))
    kappa, ac1, correlation = (_with_ends(values, level) for values in values_of)
    exact = float(weight @ (x == y) / weight.sum())
    return PairCoefficients(len(x), kappa, ac1 if two_valued else None, correlation, exact)


def _from_sums(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Return κ, AC1 and the correlation from weighted sums of 1, x, y, x², y², xy, a row each."""
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y, xx, yy, xy = (sums[:, 1:] / sums[:, :1]).T
        distance = xx + yy - 2.0 * xy
        spread_x, spread_y = np.maximum(xx - x * x, 0.0), np.maximum(yy - y * y, 0.0)
        by_chance = spread_x + spread_y + (x - y) ** 2
        kappa = np.where(by_chance > 1e-12, 1.0 - distance / by_chance, np.nan)
        share = (x + y) / 2.0
        expected = 2.0 * share * (1.0 - share)
        ac1 = (1.0 - distance - expected) / (1.0 - expected)
        product = np.sqrt(spread_x * spread_y)
        correlation = np.where(product > 1e-12, (xy - x * y) / product, np.nan)
    return kappa, ac1, correlation


def _with_ends(values: Floats, level: float) -> Rate:
    """Return the first value with ends from the others, each without one cluster."""
    value, groups = float(values[0]), len(values) - 1
    inside = np.clip(values, -0.999999, 0.999999)
    z = np.arctanh(inside)
    if groups < 2 or not np.isfinite(z).all() or abs(value) > 0.999:
        return Rate(value, float("nan"), float("nan"))
    error = np.sqrt((groups - 1.0) / groups * ((z[1:] - z[1:].mean()) ** 2).sum())
    half = float(special.stdtrit(groups - 1.0, 0.5 + level / 2.0)) * error
    return Rate(value, float(np.tanh(z[0] - half)), float(np.tanh(z[0] + half)))


def _of(found: PairCoefficients, outputs: int) -> PairCoefficients:
    return PairCoefficients(outputs, found.kappa, found.ac1, found.correlation, found.exact)


# --- the alternative-annotator test: may the judge take the place of a person? ---

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
        p_values.append(float(special.stdtr(count - 1.0, below / error)) if error > 0 else float(below >= 0))
    if len(p_values) < FEWEST_PEOPLE:
        return None
    rejected = benjamini_yekutieli(np.array(p_values)) < 0.05
    return AlternativeAnnotator(float(rejected.mean()), float(np.mean(advantages)), len(p_values), epsilon)
