"""How well raters agree: with each other, pair by pair, and with themselves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.stats.correlation import kendall_b, pearson, spearman
from sparingly.base.stats.krippendorff import Alpha, Level, alpha_interval, krippendorff_alpha
from sparingly.base.summary import html_table
from sparingly.data.evalset import EvalSet
from sparingly.data.values import plain
from sparingly.infer.estimate.rater_effects import RaterScores, rater_scores
from sparingly.run.raters.controls import control_ratings

FEWEST_COMMON = 3
NO_COMMON = "agreement is unknown: no output has two ratings yet. Turn on overlap."


@dataclass(frozen=True)
class PairAgreement:
    """Two raters on the ``n`` outputs that both judged; correlations are NaN with fewer than three."""

    first: str
    second: str
    n: int
    pearson: float
    spearman: float
    kendall: float  # Kendall's τ-b
    exact: float  # the share of outputs to which both gave the same
    difference: float  # how much higher the first scored, on average


@dataclass(frozen=True)
class OwnAgreement:
    """A rater with himself or herself: α over the outputs judged twice, and the mean absolute change."""

    rater: str
    n: int
    alpha: float
    change: float


@dataclass(frozen=True, repr=False)
class RaterAgreement:
    """Agreement of raters on an aspect."""

    aspect: str
    level: Level  # the level of measurement of its scores
    alpha: Alpha  # Krippendorff's α between raters, with a 95 % interval (a bootstrap over items)
    pairs: tuple[PairAgreement, ...]  # every two raters who judged an output in common
    own: tuple[OwnAgreement, ...]  # every rater who judged an output twice
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        alpha = self.alpha
        return (
            f"RaterAgreement({self.aspect}: α {alpha.alpha:.3f} [{alpha.low:.3f}, {alpha.high:.3f}], "
            f"{self.level}, {alpha.units} outputs)"
        )

    def _repr_html_(self) -> str:
        columns = ("first", "second", "n", "Pearson", "Spearman", "Kendall", "exact", "difference")
        return html_table(columns, [tuple(asdict(pair).values()) for pair in self.pairs], repr(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**plain(self), "alpha": plain(self.alpha._asdict())}


def rater_agreement(
    data: EvalSet,
    aspect: str | None = None,
    *,
    level: Level = "interval",
    controls: EvalSet | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> RaterAgreement:
    """Return how well raters agree on the outputs that several of them judged.

    Krippendorff's α between raters takes any number of raters and of missing judgements; a rater's repeats
    count as their mean (of names, only where they are the same). Low agreement with high agreement of raters
    with themselves asks for clearer instructions; low agreement with themselves asks for an easier task.
    Repeats among the ratings of control items count for agreement with oneself.

    Examples:
        >>> import sparingly
        >>> found = rater_agreement(sparingly.load_demo(), "mqm")
        >>> found.alpha.units, len(found.pairs)
        (282, 2)
    """
    ratings = rater_scores(data, aspect)
    values, item = ratings.table()
    if level == "nominal":
        values = _without_contradictions(data, ratings, values)
    random = rng.generator(seed, "rater agreement", ratings.aspect)
    alpha = alpha_interval(values, level, random=random, groups=item, draws=draws)
    return RaterAgreement(
        aspect=ratings.aspect,
        level=level,
        alpha=alpha,
        pairs=_pairs(ratings, values),
        own=_own_agreements(data, ratings, controls, level),
        notes=() if alpha.units else (NO_COMMON,),
    )


def _without_contradictions(data: EvalSet, ratings: RaterScores, values: Floats) -> Floats:
    """Return names without those of raters who gave one output two names: names have no mean."""
    contradictory = {key for key, scores in _repeats(data, ratings.aspect).items() if len(set(scores)) > 1}
    rows = []
    for row in np.flatnonzero(ratings.count > 1):
        rater, item = ratings.raters[ratings.rater[row]], str(data.items[ratings.item[row]])
        if (rater, item, data.models[ratings.model[row]]) in contradictory:
            rows.append(row)
    consistent = values.copy()
    consistent[ratings.cell[rows], ratings.rater[rows]] = np.nan
    return consistent


def _pairs(ratings: RaterScores, values: Floats) -> tuple[PairAgreement, ...]:
    several = values[(~np.isnan(values)).sum(axis=1) > 1]
    judged = (~np.isnan(several)).astype(np.int64)
    pairs = []
    for first, second in zip(*np.nonzero(np.triu(judged.T @ judged, 1)), strict=True):
        common = ~np.isnan(several[:, first]) & ~np.isnan(several[:, second])
        x, y = several[common, first], several[common, second]
        enough = len(x) >= FEWEST_COMMON
        correlations = (pearson(x, y), spearman(x, y), kendall_b(x, y)) if enough else (float("nan"),) * 3
        exact, difference = float((x == y).mean()), float((x - y).mean())
        names = ratings.raters[first], ratings.raters[second]
        pairs.append(PairAgreement(*names, len(x), *correlations, exact, difference))
    return tuple(pairs)


def _own_agreements(
    data: EvalSet, ratings: RaterScores, controls: EvalSet | None, level: Level
) -> tuple[OwnAgreement, ...]:
    """Return the agreement of every rater with his or her repeated judgements of the same outputs."""
    repeats = _repeats(data, ratings.aspect)
    if controls is not None and ratings.aspect in controls.ratings.aspects:
        # Control items of the kind ``repeat`` count with the judgements of their originals.
        for control, rater, score, originals in control_ratings(ratings, data, controls):
            if control.kind == "repeat" and control.model in originals:
                key = (rater, control.original, control.model)
                repeats.setdefault(key, [originals[control.model]]).append(score)
    agreements = []
    for rater in sorted({rater for rater, *_ in repeats}):
        rows = [scores for (name, *_), scores in sorted(repeats.items()) if name == rater and len(scores) > 1]
        if rows:
            table = np.full((len(rows), max(map(len, rows))), np.nan)
            for number, scores in enumerate(rows):
                table[number, : len(scores)] = sorted(scores)
            change = float(np.mean([max(scores) - min(scores) for scores in rows]))
            agreements.append(OwnAgreement(rater, len(rows), krippendorff_alpha(table, level), change))
    return tuple(agreements)


def _repeats(data: EvalSet, aspect: str) -> dict[tuple[str, str, str], list[float]]:
    """Return, by rater, item and model, the scores of outputs that one rater judged twice or more."""
    table = data.ratings
    valid = (table.aspect == table.aspects.index(aspect)) & (table.rater >= 0) & ~np.isnan(table.score)
    rows = np.flatnonzero(valid & (table.model < len(data.models)))
    keys = np.stack([table.rater[rows], table.item[rows], table.model[rows]], axis=1)
    _, place, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    repeats: dict[tuple[str, str, str], list[float]] = {}
    for row in rows[count[place.ravel()] > 1]:
        item, model = str(data.items[table.item[row]]), data.models[table.model[row]]
        key = (table.raters[table.rater[row]], item, model)
        repeats.setdefault(key, []).append(float(table.score[row]))
    return repeats
