"""Do intervals hold the truth, and do significant pairs point the right way? A list's top beside draws.

Replicates are random parts of a set, 80 % of its items, so that a selector without a seed differs between
them, too; the truth is the mean over all items of the part. Three ways:

- the top of the list of ``metric_cons``, taken for a sample as people do: t intervals, paired t tests, groups
  by Algorithm 1 of Zouhar et al. 2025;
- the same of a random draw;
- a probability design with ``greg``: intervals as ``estimate`` prints them, t tests and groups as ``rank``
  has them for inputs like these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks._honesty_cases import Case, Kept, rounded
from sparingly import EvalSet, Selection
from sparingly.base import rng
from sparingly.base.arrays import Floats, Mask
from sparingly.base.stats.pairs import pair_indices
from sparingly.infer.estimate.assemble import EstimateRequest, assemble
from sparingly.infer.estimate.draw import sample_from
from sparingly.infer.estimate.estimators import as_estimator
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.rank.decisions import decide
from sparingly.infer.rank.measures import significance_groups
from sparingly.infer.rank.pair_tests import t_tests

Figures = dict[str, Any]
PART = 0.8
BUDGETS = (0.1, 0.25, 0.5)
LEVEL = 0.95
ESTIMATOR = "greg"
# What is counted in every replicate, as shares: of scores, of differences, and of pairs of models.
COUNTS = (
    "scores",
    "scores told",
    "differences",
    "differences told",
    "significant",
    "wrong",
    "grouped",
    "grouped wrong",
    "together",
    "together wrong",
    "over the set",
    "over the set wrong",
    "width",
)


@dataclass(frozen=True)
class Way:
    """A way from a part of a set to claims about its models; ``{}`` stands for the metric."""

    name: str
    method: str
    is_ours: bool
    needs_vouching: bool = False

    def text(self, case: Case) -> str:
        """Return the method with the metric of a set."""
        return self.method.replace("{}", case.metric)


TOP, RANDOM, OURS = "top of the list", "random", "ours"
WAYS = (
    Way(TOP, "metric_cons:metric={}", False),
    Way("top of the list, metric_var", "metric_var:metric={}", False),
    Way(RANDOM, "uniform", False),
    Way("uniform, greg", "uniform", True),
    Way(OURS, "local_pivotal", True),
    Way("ours, metric vouched for", "local_pivotal:utility=(metric_avg:metric={}),tau=0.5", True, True),
)


@dataclass(frozen=True, eq=False)
class Claims:
    """What is claimed: intervals of scores and of differences, and an order of some pairs.

    Attributes:
        scores: The models' scores.
        score_ends: 2 × models, the ends of their intervals; NaN where one is withheld.
        difference_ends: 2 × pairs.
        significant: Which pairs a test tells apart, each in the direction of the scores.
        grouped: Which pairs stand in different groups.
        together: Which pairs are decided, corrected for all pairs; None where
            nobody asks.
        over_set: Which pairs are told apart one by one on this very set; None where nobody asks.
    """

    scores: Floats
    score_ends: Floats
    difference_ends: Floats
    significant: Mask
    grouped: Mask
    together: Mask | None = None
    over_set: Mask | None = None

    def counted(self, truth: Floats) -> list[float]:
        """Return ``COUNTS`` against the true scores; two models that are truly equal cannot be wrong."""
        first, second = pair_indices(len(truth))
        apart = truth[first] - truth[second]
        claimed = self.scores[first] - self.scores[second]
        wrong = np.sign(claimed) * np.sign(apart) < 0
        widths = self.difference_ends[1] - self.difference_ends[0]
        return [
            *_held(self.score_ends, truth),
            *_held(self.difference_ends, apart),
            *_shares(self.significant, wrong),
            *_shares(self.grouped, wrong),
            *_shares(self.together, wrong),
            *_shares(self.over_set, wrong),
            float(np.nanmean(widths)) if np.isfinite(widths).any() else float("nan"),
        ]


def _shares(claimed: Mask | None, wrong: Mask) -> tuple[float, float]:
    """Return the shares of all pairs that are told apart, and that are told apart the wrong way round."""
    if claimed is None:
        return float("nan"), float("nan")
    return float(claimed.mean()), float((claimed & wrong).mean())


def _held(ends: Floats, truth: Floats) -> tuple[float, float]:
    """Return the shares of all intervals that hold the truth, and that are told."""
    told = np.isfinite(ends).all(axis=0)
    slack = 1e-9 * np.maximum(np.abs(truth), 1.0)
    inside = (ends[0] <= truth + slack) & (truth - slack <= ends[1])
    return float((told & inside).mean()), float(told.mean())


def usual_claims(judged: Floats) -> Claims:
    """Return what people claim of judged items (items × models) that they take for a sample.

    Intervals mean ± t·s/√n, without a correction for how much of the set was judged; paired t tests at 5 %.
    """
    from scipy.special import stdtrit

    first, second = pair_indices(judged.shape[1])
    count = len(judged)
    factor = float(stdtrit(count - 1, 0.5 + LEVEL / 2)) / np.sqrt(count)

    def ends(values: Floats) -> Floats:
        half = factor * values.std(axis=0, ddof=1)
        return np.stack([values.mean(axis=0) - half, values.mean(axis=0) + half])

    between = ends(judged[:, first] - judged[:, second])
    places = np.empty(judged.shape[1], np.int64)
    for place, group in enumerate(significance_groups(judged, alpha=1 - LEVEL)):
        places[list(group)] = place
    return Claims(
        scores=judged.mean(axis=0),
        score_ends=ends(judged),
        difference_ends=between,
        significant=(between[0] > 0) | (between[1] < 0),
        grouped=places[first] != places[second],
    )


def drawn_claims(data: EvalSet, values: Floats, chosen: Selection, seed: int) -> Claims:
    """Return what ``estimate`` and ``rank`` say of a draw."""
    sample = sample_from(data, values, chosen)
    linear = as_estimator(ESTIMATOR).linear(sample, data, seed)
    asked = EstimateRequest("set", LEVEL, seed=seed), EstimateRequest("population", LEVEL, "none", seed=seed)
    narrow, wide = (
        assemble(sample, linear, data.models, one, aspect="truth", estimator=ESTIMATOR) for one in asked
    )
    between = narrow.differences()
    one_by_one, groups, together = rank_claims(wide)
    return Claims(
        scores=narrow.scores,
        score_ends=np.stack([narrow.low, narrow.high]),
        difference_ends=np.array([[one.low for one in between], [one.high for one in between]]),
        significant=one_by_one,
        grouped=groups,
        together=together,
        over_set=rank_claims(narrow)[0],
    )


def rank_claims(found: Estimate) -> tuple[Mask, Mask, Mask]:
    """Return which pairs ``rank`` calls different: one by one, in groups, and all at once.

    None where it refuses, because too few items or documents are judged to say how sure it is.
    """
    first, second = pair_indices(len(found.models))
    if not np.isfinite(found.covariance).all() or found.freedom < 1:
        nothing = np.zeros(len(first), bool)
        return nothing, nothing, nothing
    alpha = 1 - LEVEL
    tests = t_tests(found.scores, found.covariance, found.freedom, certain=False)
    decisions = decide(tests.two_sided, found.scores, alpha=alpha)
    return (
        tests.two_sided[first, second] < alpha,
        decisions.group[first] != decisions.group[second],
        (decisions.better | decisions.better.T)[first, second],
    )


def replicate(case: Case, data: EvalSet, way: Way, seed: int) -> Floats:
    """Return ``COUNTS`` for every budget on one part of a set."""
    generator = rng.generator(seed, "honesty")
    rows = np.sort(generator.permutation(len(data))[: round(PART * len(data))])
    part = data.at(rows)
    values = part.truth(case.truth)
    truth = np.asarray(np.nanmean(values, axis=0))
    found = []
    for budget in BUDGETS:
        chosen = sparingly.select(part, way.text(case), int(budget * len(part)), seed=seed)
        claims = (
            drawn_claims(part, values, chosen, seed)
            if way.is_ours
            else usual_claims(values[part.positions(chosen.items)])
        )
        found.append(claims.counted(truth))
    return np.array(found)


def case_figures(case: Case, folder: Path, kept: Kept, replicates: int) -> Figures:
    """Return what every way claims on one set."""
    data = case.data(folder)
    rows = []
    for way in WAYS:
        if way.needs_vouching and not case.is_vouched:
            continue
        key = {"case": case.name, "way": way.name, "method": way.text(case), "counts": COUNTS}
        runs = kept.runs(key, replicates, partial(replicate, case, data, way))
        rows.append({"way": way.name, "method": way.text(case), **_summed(runs)})
    items, models = data.shape
    return {
        "name": case.name,
        "title": case.title,
        "metric": case.metric,
        "items": items,
        "models": models,
        "replicates": replicates,
        "budgets": list(BUDGETS),
        "rows": rows,
    }


def _summed(runs: Floats) -> Figures:
    """Return the figures of a way at every budget: shares over all replicates.

    Coverage is of the intervals that are told; wrong claims are given as shares of all pairs, and of those
    that are told apart.
    """
    mean = dict(zip(COUNTS, runs.mean(axis=0).T, strict=True))

    def share(part: str, of: str) -> Floats:
        none = np.full(len(mean[of]), np.nan)
        return np.asarray(np.divide(mean[part], mean[of], out=none, where=mean[of] > 0))

    figures = {
        "score coverage": share("scores", "scores told"),
        "difference coverage": share("differences", "differences told"),
        "withheld": 1.0 - mean["differences told"],
        "significant": mean["significant"],
        "wrong": mean["wrong"],
        "wrong of significant": share("wrong", "significant"),
        "grouped": mean["grouped"],
        "grouped wrong": mean["grouped wrong"],
        "wrong of grouped": share("grouped wrong", "grouped"),
        "together": mean["together"],
        "together wrong": mean["together wrong"],
        "over the set": mean["over the set"],
        "over the set wrong": mean["over the set wrong"],
        "width": mean["width"],
    }
    return {name: [rounded(float(value)) for value in values] for name, values in figures.items()}
