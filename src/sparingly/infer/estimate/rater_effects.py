"""How raters differ, what that adds to the errors of scores, and what help on the page did to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats, Ints, ratio
from sparingly.base.errors import DataError, MissingDataError, UsageError
from sparingly.base.stats.crossed_effects import fit_crossed_effects
from sparingly.base.summary import html_table
from sparingly.base.syntax import role_argument
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.values import plain
from sparingly.infer.estimate.pairs import PairErrors
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.estimate.sample import frame_of
from sparingly.infer.estimate.variance import nearest_covariance
from sparingly.infer.estimate.widen import widened


@dataclass(frozen=True, eq=False)
class RaterScores:
    """Who gave which score to which output; a rater's repeats of an output are one row, their mean.

    Rows stand in the order of items, models and raters.
    """

    aspect: str  # what was judged
    item: Ints  # a position in the items of the set
    model: Ints  # a position in its models; ratings of references are left out
    rater: Ints  # a position in ``raters``
    score: Floats  # the mean of what the rater gave
    count: Floats  # how often the rater judged the output
    raters: tuple[str, ...]  # the raters who judged something, in the order of their names
    anonymous: int  # ratings whose rater is not known, left out

    def __len__(self) -> int:
        return len(self.item)

    @cached_property
    def cell(self) -> Ints:
        """The output of every row, as one code without gaps."""
        width = int(self.model.max(initial=0)) + 1
        return np.asarray(np.unique(self.item * width + self.model, return_inverse=True)[1], np.int64)

    @cached_property
    def per_cell(self) -> Ints:
        """How many raters judged the output of every row."""
        return np.bincount(self.cell)[self.cell].astype(np.int64)

    @cached_property
    def judgements(self) -> Ints:
        """The number of outputs that every rater judged."""
        return np.bincount(self.rater, minlength=len(self.raters)).astype(np.int64)

    def table(self) -> tuple[Floats, Ints]:
        """Return outputs × raters, NaN where a rater did not judge one, and the item of every output."""
        cells = int(self.cell.max(initial=-1)) + 1
        values = np.full((cells, len(self.raters)), np.nan)
        values[self.cell, self.rater] = self.score
        item = np.zeros(cells, np.int64)
        item[self.cell] = self.item
        return values, item


def rater_scores(data: EvalSet, aspect: str | None = None) -> RaterScores:
    """Return the ratings of an aspect; the only aspect that was rated unless one is named."""
    table = data.ratings
    if not len(table):
        raise MissingDataError(
            f"No label says who gave it. If a column does, add {role_argument('COLUMN', 'rater')}."
        )
    name = the_only("rated aspect", aspect, table.aspects)
    of_aspect = (table.aspect == table.aspects.index(name)) & (table.model < len(data.models))
    of_aspect &= ~np.isnan(table.score)
    named = np.flatnonzero(of_aspect & (table.rater >= 0))
    if not len(named):
        raise MissingDataError(f'No rating of "{name}" says who gave it, so raters cannot be compared.')
    names = np.array(table.raters, object)[table.rater[named]]
    raters = tuple(sorted(set(names.tolist())))
    place = {rater: code for code, rater in enumerate(raters)}
    rater = np.fromiter((place[rater_name] for rater_name in names), np.int64, len(names))
    keys = (table.item[named].astype(np.int64) * len(data.models) + table.model[named]) * len(raters) + rater
    # Added up from the lowest score on, so that the last bits do not depend on the order of the file.
    order = np.lexsort((table.score[named], keys))
    distinct, rows, count = np.unique(keys[order], return_inverse=True, return_counts=True)
    total = np.bincount(rows, table.score[named][order])
    cells, rater_code = np.divmod(distinct, len(raters))
    item, model = np.divmod(cells, len(data.models))
    return RaterScores(
        aspect=name,
        item=item,
        model=model,
        rater=rater_code,
        score=total / count,
        count=count.astype(np.float64),
        raters=raters,
        anonymous=int(of_aspect.sum()) - len(named),
    )


# --- severity ---

NOISE, OUTPUT, ITEM, DOCUMENT = "noise", "item × model", "item", "document"
RATER, TASTE = "rater", "rater × model"
UNCONNECTED = (
    "the raters fall into {count} groups that share no item: severities across groups assume that items "
    "were assigned at random."
)
ONE_RATER = "only one rater judged, so it is unknown how others would score."
FEW_RATERS = "with {count} raters, how much raters vary is little more than a guess."
MERGED = "no output has two ratings: the noise of a rating cannot be separated from item × model."
ANONYMOUS = "{count} ratings are left out because they do not say who gave them."
_ENOUGH_RATERS = 5


@dataclass(frozen=True, eq=False, repr=False)
class Severity:
    """How severe every rater is, and where the variance of ratings comes from.

    y_ijr = μ_j + θ_i + γ_ij + s_r + δ_rj + ε for item i, model j, rater r. A rater with a negative severity
    scores lower than the others would have scored the same outputs.
    """

    aspect: str  # what was judged
    raters: tuple[str, ...]  # the raters
    judgements: Ints  # how many outputs each judged
    severity: Floats  # s_r, in points of the scale; sums to 0
    standard_errors: Floats  # its standard errors; NaN with one rater
    covariance: Floats  # its covariance, raters × raters
    # By name, the variance that raters (s), their tastes for models (δ), items (θ), items × models (γ),
    # documents and noise (ε) add to a rating; what cannot be told is missing.
    variances: dict[str, float]
    # Raters that are connected through items which two of them judged, largest group first.
    components: tuple[tuple[str, ...], ...]
    models: int  # the number of models that were judged
    notes: tuple[str, ...] = ()  # what to mind

    def __repr__(self) -> str:
        spread = np.sqrt(self.variances.get(RATER, float("nan")))
        return f"Severity({self.aspect}: {len(self.raters)} raters, standard deviation {spread:.3g})"

    def _repr_html_(self) -> str:
        columns = ("rater", "judgements", "severity", "standard error")
        numbers = (self.judgements.tolist(), self.severity.tolist(), self.standard_errors.tolist())
        rows = list(zip(self.raters, *numbers, strict=True))
        return html_table(columns, rows, repr(self), "; ".join(self.notes))

    @property
    def freedom(self) -> tuple[float, float]:
        """Degrees of freedom of the variances of severities and of tastes."""
        raters = float(len(self.raters) - 1)
        return raters, raters * max(self.models - 1, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        names = ("rater", "judgements", "severity", "standard_error")
        columns = zip(self.raters, self.judgements, self.severity, self.standard_errors, strict=True)
        rows = [dict(zip(names, map(plain, row), strict=True)) for row in columns]
        parts = {name: plain(getattr(self, name)) for name in ("variances", "components", "notes")}
        return {"aspect": self.aspect, "raters": rows, **parts}


def severity(data: EvalSet, aspect: str | None = None) -> Severity:
    """Estimate how severe every rater is, and how much raters vary, from who judged what.

    Variance components by restricted maximum likelihood; severities by generalised least squares given them.
    Raters who judged the same items are compared on these; others through the items having been handed out by
    chance. It decides whether scores of different raters can be put side by side as they are, and how much
    wider the scores' intervals must be (``with_rater_errors``).

    Examples:
        >>> import sparingly
        >>> found = severity(sparingly.load_demo(), "mqm")
        >>> found.raters[int(found.severity.argmin())], round(float(found.severity.min()), 1)
        ('AL-G', -0.7)
    """
    ratings = rater_scores(data, aspect)
    # Raters of an item, each with the next.
    order = np.lexsort((ratings.rater, ratings.item))
    same = ratings.item[order][1:] == ratings.item[order][:-1]
    pairs = np.unique(np.stack([ratings.rater[order][:-1], ratings.rater[order][1:]], axis=1)[same], axis=0)
    components = connected_groups(ratings.raters, [[ratings.raters[one] for one in pair] for pair in pairs])
    models = np.unique(ratings.model, return_inverse=True)[1].astype(np.int64)
    count = int(models.max()) + 1
    notes = [ANONYMOUS.format(count=ratings.anonymous)] if ratings.anonymous else []
    if len(ratings.raters) < 2:
        unknown = np.full((1, 1), np.nan)
        parts = (ratings.aspect, ratings.raters, ratings.judgements, np.zeros(1), unknown[0], unknown)
        return Severity(*parts, {}, components, count, (*notes, ONE_RATER))
    if len(components) > 1:
        notes.append(UNCONNECTED.format(count=len(components)))
    if len(ratings.raters) < _ENOUGH_RATERS:
        notes.append(FEW_RATERS.format(count=len(ratings.raters)))
    if not (ratings.per_cell > 1).any():
        notes.append(MERGED)
    names, nested = _nested(ratings, data)
    # Taste and noise can be separated where a rater judged several outputs of a model.
    taste = count > 1 and int(np.bincount(ratings.rater * count + models).max()) > 1
    if len(ratings) < count + len(ratings.raters) + len(names) + 2:
        raise DataError(
            f'{len(ratings)} ratings of "{ratings.aspect}" by {len(ratings.raters)} raters are too few '
            "to estimate how severe they are."
        )
    effects = fit_crossed_effects(ratings.score, models, ratings.rater, nested, taste=taste)
    variances = {RATER: effects.rater, **({TASTE: effects.taste} if taste else {})}
    variances |= {**dict(zip(names, effects.nested, strict=True)), NOISE: effects.noise}
    return Severity(
        aspect=ratings.aspect,
        raters=ratings.raters,
        judgements=ratings.judgements,
        severity=effects.severity,
        standard_errors=np.sqrt(np.maximum(np.diag(effects.severity_covariance), 0.0)),
        covariance=effects.severity_covariance,
        variances=variances,
        components=components,
        models=count,
        notes=tuple(notes),
    )


def connected_groups(names: Sequence[str], pairs: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of names that are connected by pairs, the largest first."""
    group = dict(zip(names, names, strict=True))
    for first, second in pairs:
        old, new = group[first], group[second]
        group = {name: new if label == old else label for name, label in group.items()}
    groups = (tuple(name for name in names if group[name] == label) for label in set(group.values()))
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))


def _nested(ratings: RaterScores, data: EvalSet) -> tuple[list[str], list[Ints]]:
    """Return the nested effects that the ratings can separate, from the innermost."""
    effects: dict[str, Ints] = {}
    if len(np.unique(ratings.model)) > 1 and (ratings.per_cell > 1).any():
        effects[OUTPUT] = ratings.cell
    if np.bincount(ratings.item).max() > 1:
        effects[ITEM] = ratings.item
    if fields.DOCUMENT in data.columns:
        labels = data.columns[fields.DOCUMENT]
        # An item without a document is one by itself.
        names = [f"item {row}" if labels[row] is None else f"document {labels[row]}" for row in ratings.item]
        document = np.unique(names, return_inverse=True)[1].astype(np.int64)
        if 1 < int(document.max()) + 1 < len(np.unique(ratings.item)):
            effects[DOCUMENT] = document
    return list(effects), list(effects.values())


# --- what the choice of raters adds to errors ---

OTHER_RATERS = "errors count that other raters would have scored otherwise."
ANONYMOUS_SHARE = (
    "{share:.0%} of the judgements do not say who gave them: what their raters add is not counted."
)
_NO_ERRORS = (
    "Raters can be added to errors that an estimate has: this one has scores of the chosen items only."
)
_FROM_FILE = (
    "An estimate that was read from a file does not say who judged what: estimate again from the data."
)


@dataclass(frozen=True, eq=False)
class RaterVariance:
    """What raters add to the covariance of scores: by their severity, their tastes, and their noise."""

    severity: Floats  # models × models
    # One variance per model.
    taste: Floats
    noise: Floats
    freedom: tuple[float, float]  # degrees of freedom of the variances of severities and of tastes
    anonymous_share: float  # the share of what was judged of which no rater is known

    @property
    def covariance(self) -> Floats:
        """All of it, models × models."""
        return self.severity + np.diag(self.taste + self.noise)

    def of(self, contrast: Floats) -> tuple[Floats, Floats]:
        """Return what is added to the variances of contrasts (rows × models), and its degrees of freedom."""
        severe = np.maximum(np.einsum("cj,jk,ck->c", contrast, self.severity, contrast), 0.0)
        taste, noise = (contrast**2 @ part for part in (self.taste, self.noise))
        total = severe + taste + noise
        squared = severe**2 / self.freedom[0] + taste**2 / self.freedom[1]
        freedom = ratio(total**2, squared, np.inf)
        return total, freedom


def rater_covariance(estimate: Estimate, data: EvalSet, severity: Severity | None = None) -> Floats:
    """Return the covariance (models × models) that raters add to that of an estimate.

    With w_rj the share of model j's score that rater r gave: σ_s² Σ_r w_rj w_rk, and σ_δ² Σ_r w_rj² for a
    model by itself. Severity cancels from differences where every rater has the same share in both models,
    tastes do not. What the draw of items counts already (raters who differ from item to item look like items
    that differ) is left out, so that nothing is counted twice. The arguments are those of
    ``with_rater_errors``.
    """
    rater_severity = severity if severity is not None else _severity_of(estimate, data)
    return _variance_of(estimate, data, frame_of(data, estimate.selection), rater_severity).covariance


def with_rater_errors(estimate: Estimate, data: EvalSet, severity: Severity | None = None) -> Estimate:
    """Return an estimate whose errors include that other raters could have judged.

    Scores stay as they are. Their covariance grows by ``rater_covariance``; half-widths of intervals by
    √(h² + (t·se_raters)²) with Student's t at the degrees of freedom that so many raters leave. Take it when
    the question is how good the models are, not how good these very people find them. With fewer than five
    raters the intervals become wide, and rightly so.

    Args:
        estimate: What ``estimate`` returned.
        data: The set that it was made from, with ratings that say who gave them.
        severity: How raters vary; ``severity(data, estimate.aspect)`` unless given.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> found = sparingly.estimate(data, None, "mqm", target="population")
        >>> wider = sparingly.with_rater_errors(found, data)
        >>> bool((wider.standard_errors > found.standard_errors).all())
        True
    """
    rater_severity = severity if severity is not None else _severity_of(estimate, data)
    wider = _widen_estimate(estimate, data, frame_of(data, estimate.selection), rater_severity)
    if severity is not None or estimate.signature is None:
        # A severity that was handed over is in no data, so nobody could derive it again.
        return wider
    return replace(wider, signature=replace(estimate.signature, raters=data.digest(["ratings"])))


def _errors_of(estimate: Estimate) -> PairErrors:
    if estimate.pairs is None:
        raise UsageError(_NO_ERRORS if estimate.target == CHOSEN_ITEMS else _FROM_FILE)
    return estimate.pairs


def _severity_of(estimate: Estimate, data: EvalSet) -> Severity:
    _errors_of(estimate)
    return severity(data, estimate.aspect)


def _widen_estimate(estimate: Estimate, data: EvalSet, view: EvalSet, severity: Severity) -> Estimate:
    _errors_of(estimate)
    rater_variance = _variance_of(estimate, data, view, severity)
    share = rater_variance.anonymous_share
    unknown = (ANONYMOUS_SHARE.format(share=share),) if share > 1e-9 else ()
    return replace(
        widened(estimate, rater_variance, (OTHER_RATERS, *severity.notes, *unknown)),
        groups={
            name: _widen_estimate(group, data, view, severity) for name, group in estimate.groups.items()
        },
        signature=None,
    )


def _variance_of(estimate: Estimate, data: EvalSet, view: EvalSet, severity: Severity) -> RaterVariance:
    sample, count = _errors_of(estimate).sample, len(estimate.models)
    if estimate.models != data.models:
        raise UsageError("The estimate is of other models than the data: take the data it was made from.")
    ratings = rater_scores(data, estimate.aspect)
    # The share of a rating in its model's score: that of its output, in equal parts over its ratings.
    weight = sample.share / np.maximum(sample.share.sum(axis=0), 1e-300)
    place = np.full(len(data), -1, np.int64)
    place[data.positions(view.items[sample.rows])] = np.arange(len(sample.rows))
    row = place[ratings.item]
    used = (row >= 0) & (sample.share[row, ratings.model] > 0)
    row, model, rater, repeats = row[used], ratings.model[used], ratings.rater[used], ratings.count[used]
    share = weight[row, model] * repeats / np.bincount(ratings.cell, ratings.count)[ratings.cell][used]
    with_score = float((weight.sum(axis=0) > 0).sum())
    anonymous_share = max(0.0, 1.0 - float(share.sum()) / max(with_score, 1.0))
    if len(severity.raters) < 2:
        nothing = np.zeros((count, count))
        return RaterVariance(nothing, nothing[0], nothing[0], (1.0, 1.0), anonymous_share)
    # The unit of every judged item, and how much of its variance the draw's own error counts.
    if estimate.target == "set":
        unit, counted_share = sample.cluster, 1.0 - sample.draw
    else:
        unit, counted_share = np.arange(len(sample.rows)), np.ones(len(sample.rows))
        if sample.document is not None and len(np.unique(sample.document[sample.rows])) > 1:
            unit = sample.document[sample.rows]

    def sums(codes: Ints, shares: Floats) -> Floats:
        """Return the sums of shares by code, codes × models."""
        dense = np.unique(codes, return_inverse=True)[1]
        total = np.zeros((int(dense.max(initial=-1)) + 1, count))
        np.add.at(total, (dense, model), shares)
        return total

    by_rater = sums(rater, share)
    unit_and_rater = unit[row] * (int(rater.max(initial=0)) + 1) + rater
    within_units = sums(unit_and_rater, np.sqrt(counted_share[row]) * share)
    between_units = by_rater.T @ by_rater - within_units.T @ within_units
    # A single rating's noise is counted by the draw as far as the draw is left to chance.
    noise_share = (1.0 - counted_share[row]) * share**2 / repeats
    noise = severity.variances[NOISE] if OUTPUT in severity.variances else 0.0
    return RaterVariance(
        # Where raters cancel out more than items do, errors stay as they were: they never shrink.
        severity=severity.variances[RATER] * nearest_covariance(between_units),
        taste=severity.variances.get(TASTE, 0.0) * np.maximum(np.diag(between_units), 0.0),
        noise=np.asarray(noise * np.bincount(model, noise_share, minlength=count), np.float64),
        freedom=severity.freedom,
        anonymous_share=anonymous_share,
    )


# --- What help on the page did to scores ---
# y_ijr = μ_j + θ_i + τ_j z_ijr + ε, where z says whether the suggestion was shown, by a known probability
# p. Scores without help are those of y − τ_j z. The effects τ_j are estimated from z − p, which has nothing
# to do with the output, and shrunk towards their common mean.


# Columns of ratings: 1 where help was shown, 0 where it was not; and the probability that it would be.
HELPED, HELP_PROBABILITY = "helped", "help_probability"
HELP_UNKNOWN = (
    "some ratings were given with help, and too few to tell what it did: these scores are partly with it."
)
# The effect of a model is known by itself where so many ratings were given with help, and without.
_FEWEST = 2
# With fewer models nothing can be said of how effects vary.
_FEWEST_TO_SHRINK = 3
_GRID = 61


@dataclass(frozen=True, eq=False)
class HelpEffects:
    """How much the help on the page raised the scores of each model (lowered them, where negative)."""

    aspect: str  # what was judged
    models: tuple[str, ...]  # the models
    effects: Floats  # τ_j, shrunk towards the common mean
    covariance: Floats  # its covariance, models × models
    common: float  # the common mean
    error: float  # its standard error
    shares: Floats  # the share of each model's ratings that were given with help
    helped: int  # how many ratings were given with help
    ratings: int  # how many there are
    freedom: float  # degrees of freedom of the errors

    @property
    def sentence(self) -> str:
        """Say what the help did."""
        low, high = float(self.effects.min()), float(self.effects.max())
        by_model = "" if len(self.models) < 2 else f" ({low:+.3g} to {high:+.3g} by model)"
        return (
            f"{self.helped} of {self.ratings} ratings were given with help, drawn at random: it changed "
            f"scores by {self.common:+.3g} ± {self.error:.2g}{by_model}; the scores are those without help."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        values = dict(plain({**vars(self), "effects": self.effects.tolist()}))
        return {**values, "covariance": self.covariance.tolist(), "shares": self.shares.tolist()}


def was_helped(data: EvalSet) -> bool:
    """Say whether some ratings of a set were given with help."""
    column = data.ratings.extra.get(HELPED)
    return column is not None and any(value == 1 for value in column)


def help_effects(data: EvalSet, aspect: str) -> HelpEffects | None:
    """Return what help did to an aspect; None where it cannot be told, as nobody judged without it, say."""
    if not was_helped(data):
        return None
    item_row, model, scores, shown, probability = _ratings_of(data, aspect)
    models = len(data.models)
    drawn = (probability > 0) & (probability < 1)
    counts = [np.bincount(model[drawn & ((shown > 0) == arm)], minlength=models) for arm in (False, True)]
    has_own = (counts[0] >= _FEWEST) & (counts[1] >= _FEWEST)
    item = np.unique(item_row, return_inverse=True)[1]
    if not has_own.any() or len(np.unique(item[drawn])) <= 2 * models:
        return None
    own, own_covariance = _own_effects(
        scores[drawn], item[drawn], model[drawn], (shown - probability)[drawn], has_own
    )
    effects, covariance, common, error = _shrunk(own, own_covariance, has_own)
    judged = np.maximum(np.bincount(model, minlength=models), 1)
    return HelpEffects(
        aspect=aspect,
        models=data.models,
        effects=effects,
        covariance=covariance,
        common=common,
        error=error,
        shares=np.bincount(model, shown, minlength=models) / judged,
        helped=int(shown.sum()),
        ratings=len(scores),
        freedom=float(len(np.unique(item[drawn])) - 1),
    )


def _ratings_of(data: EvalSet, aspect: str) -> tuple[Any, Any, Floats, Floats, Floats]:
    """Return item, model, score, whether help was shown, and its probability, of every rating.

    A combination of aspects is scored by output: there each output counts once, with the mean of its ratings.
    """
    table, models = data.ratings, len(data.models)
    name = aspect if aspect in table.aspects else table.aspects[0]
    of_name = (table.aspect == table.aspects.index(name)) & (table.model < models) & ~np.isnan(table.score)
    rows = np.flatnonzero(of_name)
    known = [np.nan if value is None else value for value in table.extra[HELP_PROBABILITY][rows]]
    item, model = table.item[rows].astype(np.int64), table.model[rows].astype(np.int64)
    shown = np.array([value == 1 for value in table.extra[HELPED][rows]], np.float64)
    probability, scores = np.array(known, np.float64), table.score[rows]
    if aspect in table.aspects:
        return item, model, scores, shown, probability
    cells, cell = np.unique(item * models + model, return_inverse=True)
    count = np.bincount(cell)
    item, model = np.divmod(cells, models)
    shown, probability = np.bincount(cell, shown) / count, np.bincount(cell, probability) / count
    scores = data.truth(aspect)[item, model]
    has_score = ~np.isnan(scores)
    return (
        item[has_score], model[has_score], scores[has_score], shown[has_score], probability[has_score]
    )  # fmt: skip


def without_help(data: EvalSet) -> EvalSet:
    """Return the set with scores as they would be without help; unchanged where nothing was shown."""
    table, scores = data.ratings, data.ratings.score.copy()
    if not was_helped(data):
        return data
    shown = np.array([value == 1 for value in table.extra[HELPED]], bool)
    for place, aspect in enumerate(table.aspects):
        effects = help_effects(data, aspect)
        if effects is not None:
            rows = np.flatnonzero(shown & (table.aspect == place) & (table.model < len(data.models)))
            scores[rows] -= effects.effects[table.model[rows]]
    extra = {name: column for name, column in table.extra.items() if name not in (HELPED, HELP_PROBABILITY)}
    ratings = replace(table, score=scores, extra=extra)
    aspects = {
        name: ratings.means(name, *data.shape) if name in table.aspects else values
        for name, values in data.aspects.items()
    }
    return data.with_parts(aspects=aspects, ratings=ratings)


def with_help_errors(
    estimate: Estimate, effects: HelpEffects, scale: tuple[float, float] | None = None
) -> Estimate:
    """Return an estimate from scores without help, whose errors count that its effects are estimates.

    Var(μ̂_j) grows by h_j² Var(τ̂_j), with h_j the share of the score that was given with help.
    """
    place = [effects.models.index(name) for name in estimate.models]
    share = effects.shares[place]
    nothing = np.zeros(len(place))
    extra = RaterVariance(
        severity=np.outer(share, share) * effects.covariance[np.ix_(place, place)],
        taste=nothing,
        noise=nothing,
        freedom=(effects.freedom, np.inf),
        anonymous_share=0.0,
    )
    wider = widened(estimate, extra, (effects.sentence,))
    wider = replace(
        wider,
        signature=estimate.signature,
        groups={name: with_help_errors(group, effects, scale) for name, group in estimate.groups.items()},
    )
    if scale is None:
        return wider
    ends = {name: np.clip(getattr(wider, name), *scale) for name in ("scores", "low", "high")}
    return replace(wider, **ends)


def _own_effects(
    scores: Floats, item: Any, model: Any, centred: Floats, has_own: Any
) -> tuple[Floats, Floats]:
    """Return each model's effect and their covariance, by generalised least squares.

    Items have effects in common (a random intercept); errors are by the jackknife over items, so that none is
    assumed to be as noisy as another.
    """
    count, models = int(item.max()) + 1, len(has_own)
    design = np.zeros((len(scores), 2 * models))
    design[np.arange(len(scores)), model] = 1.0
    design[np.arange(len(scores)), models + model] = centred
    design = design[:, np.concatenate([np.bincount(model, minlength=models) > 0, has_own])]
    residual = scores - design @ np.linalg.lstsq(design, scores, rcond=None)[0]
    size = np.bincount(item, minlength=count)
    within = residual - (np.bincount(item, residual, minlength=count) / np.maximum(size, 1))[item]
    spare = int((size[size > 0] - 1).sum())
    noise = float(within @ within) / spare if spare else 0.0
    of_items = max(float(residual @ residual) / len(residual) - noise, 0.0) if spare else 0.0
    # How much of an item's mean is taken off: all of it where items differ much.
    off = 1.0 - np.sqrt(noise / np.maximum(noise + size * of_items, 1e-300)) if of_items else np.zeros(count)

    def less_means(values: Floats) -> Floats:
        mean = np.bincount(item, values, minlength=count) / np.maximum(size, 1)
        return np.asarray(values - off[item] * mean[item])

    y = less_means(scores)
    x = np.column_stack([less_means(column) for column in design.T])
    # At most so many groups of items are left out in turn.
    group = np.unique(item, return_inverse=True)[1] % 400
    groups = int(group.max()) + 1
    squares = np.stack([x[group == one].T @ x[group == one] for one in range(groups)])
    products = np.stack([x[group == one].T @ y[group == one] for one in range(groups)])
    inverse = np.linalg.pinv(squares.sum(axis=0))
    whole = inverse @ products.sum(axis=0)
    left = np.stack(
        [
            np.linalg.pinv(squares.sum(axis=0) - squares[one]) @ (products.sum(axis=0) - products[one])
            for one in range(groups)
        ]
    )
    own = int(has_own.sum())
    errors = np.sqrt((groups - 1) / groups * ((left - whole)[:, -own:] ** 2).sum(axis=0))
    # How effects go together is that of the design: correlations from few items would be mostly noise.
    errors /= np.sqrt(np.diag(inverse)[-own:])
    return whole[-own:], inverse[-own:, -own:] * np.outer(errors, errors)


def _shrunk(own: Floats, covariance: Floats, has_own: Any) -> tuple[Floats, Floats, float, float]:
    """Return effects shrunk towards their mean, with covariance, and that mean with its error.

    τ_j ~ N(μ, σ²), flat in μ and σ: a mixture over σ, so that not knowing σ is counted, too. A model without
    an effect of its own has the common one.
    """
    count, models, ones = len(own), len(has_own), np.ones(len(own))
    place, other = np.flatnonzero(has_own), np.flatnonzero(~np.asarray(has_own))
    if count < _FEWEST_TO_SHRINK:
        best = np.linalg.pinv(covariance)
        variance = 1.0 / float(ones @ best @ ones)
        common = variance * float(ones @ best @ own)
        effects, errors = np.full(models, common), np.full((models, models), variance)
        effects[place], errors[np.ix_(place, place)] = own, covariance
        return effects, errors, common, variance**0.5
    widest = 3.0 * (float(np.std(own)) + float(np.sqrt(np.diag(covariance).max())))
    found = []
    for spread in np.linspace(0.0, widest, _GRID):
        between = spread**2
        total = np.linalg.pinv(covariance + between * np.eye(count))
        precision = float(ones @ total @ ones)
        mean = float(ones @ total @ own) / precision
        rest, pull = own - mean, ones - between * total @ ones
        effects, errors = np.full(models, mean), np.full((models, models), 1.0 / precision)
        effects[place] += between * total @ rest
        inner = between * np.eye(count) - between**2 * total + np.outer(pull, pull) / precision
        errors[np.ix_(place, place)] = inner
        errors[np.ix_(place, other)] = pull[:, None] / precision
        errors[np.ix_(other, place)] = pull / precision
        errors[other, other] += between
        likelihood = 0.5 * (np.linalg.slogdet(total)[1] - np.log(precision) - rest @ total @ rest)
        # The common mean goes along as a further model.
        found.append((likelihood, np.append(effects, mean), errors, 1.0 / precision))
    logs = np.array([one[0] for one in found])
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    each = np.stack([one[1] for one in found])
    centre = weight @ each
    between_means = (each - centre).T @ (weight[:, None] * (each - centre))
    errors = np.tensordot(weight, np.stack([one[2] for one in found]), axes=1) + between_means[:-1, :-1]
    variance = float(weight @ np.array([one[3] for one in found]) + between_means[-1, -1])
    return centre[:-1], errors, float(centre[-1]), variance**0.5
