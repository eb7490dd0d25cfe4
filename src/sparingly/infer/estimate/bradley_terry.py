"""``bradley_terry``: how strong models are, from preferences between two of them at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.base.format import counted, decimal_text, decimals_for, ends_text
from sparingly.base.lazy import sparse
from sparingly.base.summary import IntervalCell, Summary, Tabular
from sparingly.base.syntax import either
from sparingly.data.evalset import EvalSet
from sparingly.data.io import DataLike, as_evalset
from sparingly.data.selection import Selection
from sparingly.data.tables import Preferences
from sparingly.data.values import plain
from sparingly.infer.estimate.intervals import student
from sparingly.signals.length import OUTPUT_LENGTH, length_metric

# --- the fit, on plain arrays ---

Ties = Literal["davidson", "half"]
_STEPS, _CLOSE = 200, 1e-10
# Matrices of so many numbers are cheap enough to hold whole.
_DENSE = 2_000_000
_LEAST_TIES, _MOST_TIES = -30.0, 30.0


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons of two models each."""

    # The models of every comparison, as positions.
    first: Ints
    second: Ints
    # 1 where the first is better, −1 where the second is, 0 for a tie; between them for soft ones.
    value: Floats
    item: Ints  # the item, as a position: comparisons on one item are not independent
    weight: Floats  # how much every comparison counts
    covariates: Floats  # comparisons × covariates: how much more of something the first has than the second

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True, eq=False)
class BradleyTerryFit:
    """Strengths that add up to 0, the log of Davidson's ν (−∞ without ties), effects, and their covariance.

    The covariance is of (strengths, log ν, effects), robust to comparisons that share an item: a sum of
    squares over ``items`` items, with one degree of freedom less. NaN where all comparisons are of one item.
    ``solve`` takes sums of scores of comparisons (items × parameters) to what each item adds to these
    numbers, its influence, and ``scores`` are those sums by item (sparse where that is smaller).
    """

    strengths: Floats
    log_ties: float
    effects: Floats
    covariance: Floats
    items: int
    solve: Floats
    scores: Any


def win_chances(lead: Floats, log_ties: float) -> tuple[Floats, Floats]:
    """Return the probabilities that the first wins and that the two tie, by how much stronger the first is.

    p₁ = e^{d/2}/(e^{d/2} + e^{−d/2} + ν) and p₀ = ν/(…) (Davidson 1970); with ν = 0, Bradley and Terry 1952.
    """
    top = np.maximum(np.maximum(lead / 2, -lead / 2), log_ties)
    win, lose, tie = np.exp(lead / 2 - top), np.exp(-lead / 2 - top), np.exp(log_ties - top)
    total = win + lose + tie
    return win / total, tie / total


def information(lead: Floats, log_ties: float) -> Floats:
    """Return what one comparison tells of the lead: p₁ + p₀/4 − (p₁ + p₀/2)², or p(1 − p) without ties."""
    win, tie = win_chances(lead, log_ties)
    return np.asarray(win + tie / 4 - (win + tie / 2) ** 2)


def fit_strengths(comparisons: Comparisons, models: int, ties: Ties) -> BradleyTerryFit:
    """Return the maximum-likelihood strengths, by Newton's method.

    All models are connected by wins in both directions. ``davidson`` models ties with a parameter ν of their
    own; ``half`` counts one as half a win, and takes soft preferences as they are. Comparisons that are alike
    (the same models and outcome, no covariates) are counted first, so that a step costs no more for millions.
    """
    tied = bool((comparisons.value == 0).any()) and ties == "davidson"
    width = models + comparisons.covariates.shape[1]
    parameters, counted_rows = np.zeros(width + tied), _counts_of(comparisons, models)
    for _ in range(_STEPS):
        gradient, hessian = _derivatives(counted_rows, models, parameters, tied)
        step = _inverse(hessian) @ gradient
        # Far from the answer, Newton may overshoot: no parameter moves by more than 2 at once.
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        parameters = parameters + step
        if float(np.abs(step).max()) < _CLOSE:
            break
    else:
        raise DataError(
            "The strengths do not converge, as one side won nearly all comparisons of some pair: "
            + either("sparingly compare DATA FIRST SECOND", "sparingly.compare(data, first, second)")
        )

    # In the order of a fit, the strengths centred.
    centre, extra = np.eye(models) - 1.0 / models, width - models
    rotation = np.zeros((models + 1 + extra, len(parameters)))
    rotation[:models, :models] = centre
    if tied:
        rotation[models, -1] = 1.0
    rotation[models + 1 :, models:width] = np.eye(extra)
    # The sandwich A⁺ B A⁺ with B the products of the items' summed scores, times G/(G − 1) for G items.
    hessian = _derivatives(counted_rows, models, parameters, tied)[1]
    solve, scores = rotation @ _inverse(hessian), _item_scores(comparisons, models, parameters, tied)
    items = scores.shape[0]
    covariance = np.full((len(rotation), len(rotation)), np.nan)
    if items > 1:
        covariance = items / (items - 1.0) * solve @ products(scores, scores) @ solve.T
    return BradleyTerryFit(
        strengths=centre @ parameters[:models],
        log_ties=float(parameters[-1]) if tied else -np.inf,
        effects=parameters[models:width],
        covariance=covariance,
        items=items,
        solve=solve,
        scores=scores,
    )


def _counts_of(comparisons: Comparisons, models: int) -> Comparisons:
    """Return comparisons that are alike as one, with their weights added up; all of them with covariates."""
    if comparisons.covariates.shape[1]:
        return comparisons
    values, outcome = np.unique(comparisons.value, return_inverse=True)
    code = (comparisons.first * models + comparisons.second) * len(values) + outcome
    # Sorting millions of codes takes longer than adding up over all that there can be.
    if len(values) * models**2 <= 4 * len(code) + 1000:
        every = np.asarray(np.bincount(code, comparisons.weight, len(values) * models**2), np.float64)
        kinds = np.flatnonzero(every)
        weight = every[kinds]
    else:
        kinds, place = np.unique(code, return_inverse=True)
        weight = np.asarray(np.bincount(place, comparisons.weight), np.float64)
    pair = kinds // len(values)
    none = np.zeros(len(kinds), np.int64)
    return Comparisons(
        pair // models, pair % models, values[kinds % len(values)], none, weight, np.zeros((len(kinds), 0))
    )


def _residuals(
    comparisons: Comparisons, models: int, parameters: Floats, tied: bool
) -> tuple[Floats, Floats, Floats]:
    """Return the first's share of a win less what is expected, and the probabilities of win and tie."""
    lead = parameters[comparisons.first] - parameters[comparisons.second]
    if width := comparisons.covariates.shape[1]:
        lead = lead + comparisons.covariates @ parameters[models : models + width]
    log_ties = float(np.clip(parameters[-1], _LEAST_TIES, _MOST_TIES)) if tied else -np.inf
    win, tie = win_chances(lead, log_ties)
    return (comparisons.value + 1) / 2 - (win + tie / 2), win, tie


def _derivatives(
    comparisons: Comparisons, models: int, parameters: Floats, tied: bool
) -> tuple[Floats, Floats]:
    """Return the gradient of the log-likelihood and minus its Hessian.

    The part of the strengths is Σ w·v·(e_j − e_k)(e_j − e_k)ᵀ, added up by pairs of models.
    """
    residual, win, tie = _residuals(comparisons, models, parameters, tied)
    weight, first, second = comparisons.weight, comparisons.first, comparisons.second
    curve = weight * (win + tie / 4 - (win + tie / 2) ** 2)
    gradient, hessian = np.zeros(len(parameters)), np.zeros((len(parameters), len(parameters)))

    def by_model(values: Floats) -> Floats:
        by_first, by_second = (np.bincount(column, values, models) for column in (first, second))
        return np.asarray(by_first - by_second, np.float64)

    gradient[:models] = by_model(weight * residual)
    between = np.bincount(first * models + second, curve, models * models).reshape(models, models)
    between = between + between.T
    hessian[:models, :models] = np.diag(between.sum(axis=1)) - between
    columns = comparisons.covariates
    end = models + columns.shape[1]
    gradient[models:end] = columns.T @ (weight * residual)
    hessian[models:end, models:end] = columns.T @ (curve[:, None] * columns)
    for place, column in enumerate(columns.T, models):
        hessian[:models, place] = hessian[place, :models] = by_model(curve * column)
    if tied:
        is_tie = (comparisons.value == 0).astype(np.float64)
        gradient[-1] = float((weight * (is_tie - tie)).sum())
        # Cov(first's share, tie) = p₀/2 − (p₁ + p₀/2)·p₀
        mixed = weight * (tie / 2 - (win + tie / 2) * tie)
        hessian[-1, :models] = hessian[:models, -1] = by_model(mixed)
        hessian[-1, models:end] = hessian[models:end, -1] = columns.T @ mixed
        hessian[-1, -1] = float((weight * tie * (1 - tie)).sum())
    return gradient, hessian


def _item_scores(comparisons: Comparisons, models: int, parameters: Floats, tied: bool) -> Any:
    """Return the derivatives of every comparison summed by item: items × parameters."""
    part = comparisons
    if not (comparisons.weight > 0).all():
        used = np.flatnonzero(comparisons.weight > 0)
        part = Comparisons(**{name: column[used] for name, column in vars(comparisons).items()})
    residual, _, tie = _residuals(part, models, parameters, tied)
    values = part.weight * residual
    columns, entries = [part.first, part.second], [values, -values]
    for place, column in enumerate(part.covariates.T, models):
        columns.append(np.full(len(values), place))
        entries.append(values * column)
    if tied:
        columns.append(np.full(len(values), len(parameters) - 1))
        entries.append(part.weight * ((part.value == 0) - tie))
    items, code = np.unique(part.item, return_inverse=True)
    return sums_by_item(code, columns, entries, (len(items), len(parameters)))


def sums_by_item(
    code: Ints, columns: Sequence[Ints], entries: Sequence[Floats], shape: tuple[int, int]
) -> Any:
    """Return Σ entries by item and column; sparse where most of it would be 0."""
    if shape[0] * shape[1] > max(_DENSE, len(columns) * len(code)):
        where = np.tile(code, len(columns)), np.concatenate(columns)
        return sparse.csr_matrix((np.concatenate(entries), where), shape=shape)
    total = np.zeros(shape[0] * shape[1])
    for column, values in zip(columns, entries, strict=True):
        total += np.bincount(code * shape[1] + column, values, len(total))
    return total.reshape(shape)


def products(first: Any, second: Any) -> Floats:
    """Return firstᵀ·second of two matrices over items, as a plain array."""
    found = first.T @ second
    return np.asarray(found if isinstance(found, np.ndarray) else found.toarray())


def _inverse(hessian: Floats) -> Floats:
    """Return the pseudo-inverse: adding the same to all strengths changes nothing."""
    return np.asarray(np.linalg.pinv(hessian, rcond=1e-10, hermitian=True))


# --- models' strengths from an evaluation set ---

LENGTH = "length"
WINS_ALL, LOSES_ALL = "won every comparison", "lost every comparison"
ONE_ITEM = "All comparisons are of one item: no error can be learned from them. Compare on more items."
UNCONNECTED, NEVER_COMPARED = "not connected to the others by wins and losses", "never compared"


@dataclass(frozen=True, eq=False, repr=False)
class BradleyTerry(Tabular):
    """Strengths of models: the log-odds that one is preferred to another are the difference of theirs."""

    models: tuple[str, ...]  # the models
    strengths: Floats  # their strengths, which add up to 0 over the models that have one; NaN for the others
    standard_errors: Floats  # their standard errors, robust to comparisons that share an item
    low: Floats  # the low ends of the intervals, by Student's t at ``freedom``
    high: Floats  # the high ends
    covariance: Floats  # models × models
    freedom: float  # degrees of freedom of the errors: the items on which models were compared, less one
    level: float  # the level of the intervals
    status: tuple[str, ...]  # why a model has no strength; empty where it has one
    ties: str  # how ties were treated
    # The log of Davidson's ν: two equal models tie with the chance ν/(2 + ν); −∞ without ties.
    log_ties: float
    # What the covariates add to the log-odds, by name, with their standard errors.
    effects: dict[str, tuple[float, float]]
    comparisons: int  # how many comparisons were used
    notes: tuple[str, ...] = ()  # what to mind

    def __repr__(self) -> str:
        models, comparisons = counted(len(self.models), "model"), counted(self.comparisons, "comparison")
        return f"BradleyTerry({models}, {comparisons})"

    def chance(self, first: str, second: str) -> float:
        """Return the probability that one model is preferred to another, a tie counting half."""
        places = []
        for name in (first, second):
            if name not in self.models:
                raise UnknownNameError("model", name, self.models)
            places.append(self.models.index(name))
        lead = np.array(self.strengths[places[0]] - self.strengths[places[1]])
        win, tie = win_chances(lead, self.log_ties)
        return float(win + tie / 2)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values; no number (None) stands for ``log_ties`` without ties."""
        values = {name: plain(value) for name, value in vars(self).items()}
        # JSON has no infinity.
        return {**values, "log_ties": self.log_ties if np.isfinite(self.log_ties) else None}

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per model, the strongest first."""
        columns = {"strength": self.strengths, "standard_error": self.standard_errors}
        columns |= {"low": self.low, "high": self.high}
        order = np.argsort(-np.nan_to_num(self.strengths, nan=-np.inf), kind="stable")
        return [
            {
                "model": self.models[place],
                **{name: plain(column[place]) for name, column in columns.items()},
                "status": self.status[place],
            }
            for place in order
        ]

    @property
    def headline(self) -> str:
        """What it says of how many."""
        comparisons = counted(self.comparisons, "comparison")
        return f"strengths of {counted(len(self.models), 'model')} from {comparisons} (Bradley–Terry)"

    def summary(self) -> Summary:
        """Return who is strongest, all strengths with their intervals, and what to do next."""
        order = np.argsort(-np.nan_to_num(self.strengths, nan=-np.inf), kind="stable")
        decimals = decimals_for(self.standard_errors.tolist())
        rows = []
        for at in order:
            low, value, high = (float(part[at]) for part in (self.low, self.strengths, self.high))
            error = decimal_text(float(self.standard_errors[at]), decimals)
            text = f"{decimal_text(value, decimals)} ± {error}".removesuffix(" ± -")
            ends = self.status[at] or ends_text(low, high, decimals=decimals)
            rows.append((self.models[at], text, ends, IntervalCell(low, value, high)))
        best = self.models[int(order[0])]
        counts = f"{counted(len(self.models), 'model')}, from {counted(self.comparisons, 'comparison')}"
        answer = f"{best} is the strongest of {counts}."
        effects = [
            f"{name}: one standard deviation more adds {effect:.2f} ± {error:.2f}."
            for name, (effect, error) in self.effects.items()
        ]
        return Summary(
            (answer, *effects),
            ("model", "strength ± error", f"{100 * self.level:g} % interval", ""),
            tuple(rows),
            next_steps=("sparingly compare DATA",),
            notes=self.notes,
            method=(f"{self.headline[:1].upper()}{self.headline[1:]}; log-odds to be preferred.",),
        )


def bradley_terry(
    data: DataLike,
    aspect: str | None = None,
    *,
    ties: Ties | None = None,
    covariates: Iterable[str] = (),
    rounds: Sequence[Selection] = (),
    level: float = 0.95,
) -> BradleyTerry:
    """Estimate how strong models are from preferences (Bradley and Terry 1952; ties as in Davidson 1970).

    Comparisons of one item are not independent, so errors are learned from G items, not from comparisons:
    strength ± t_{G−1}·se with the sandwich of Liang and Zeger (1986).

    Args:
        data: The evaluation set with preferences (see ``with_preferences_from`` to derive them from scores).
        aspect: Use the preferences of this aspect only; default: all of them.
        ties: ``davidson`` gives ties a parameter of their own, ``half`` counts one as half a win. Unless
            given, it is ``half`` where preferences are soft (AlpacaEval's weights), else ``davidson``.
        covariates: What else may sway people: ``length`` (how much longer the first output is, in
            standard deviations), or a metric.
        rounds: For comparisons drawn with known probabilities, their rounds: each is weighted
            by one over its probability, so that strengths represent all pairs alike.
        level: The confidence level of intervals.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo().with_preferences_from("mqm", tie=0.5)
        >>> found = sparingly.bradley_terry(data)
        >>> found.models[int(found.strengths.argmax())]
        'TMT_run1'
    """
    data = as_evalset(data)
    table = data.preferences
    if aspect is not None:
        if aspect not in table.aspects:
            raise UnknownNameError("aspect with preferences", aspect, table.aspects)
        table = table.take(np.asarray(table.aspect == table.aspects.index(aspect)))
    return fit_preferences(data, table, ties, tuple(covariates), rounds).result(level)


@dataclass(frozen=True, eq=False)
class FittedStrengths:
    """A fit on an evaluation set: which comparisons it is of, and which models have a strength."""

    models: tuple[str, ...]  # all models
    rows: Ints  # the positions of those that have a strength, in the order of the fit
    status: tuple[str, ...]  # why a model has none; empty where it has one
    compared: Comparisons  # the comparisons of the fit, models as positions among ``rows``
    fit: BradleyTerryFit
    ties: Ties  # how ties were treated
    covariates: tuple[str, ...] = ()  # the names of the covariates

    def result(self, level: float, freedom: float | None = None) -> BradleyTerry:
        """Return the strengths with their intervals, strength ± t·se with G − 1 degrees unless given."""
        models, rows, fit = len(self.models), self.rows, self.fit
        strengths, covariance = np.full(models, np.nan), np.full((models, models), np.nan)
        strengths[rows] = fit.strengths
        covariance[np.ix_(rows, rows)] = fit.covariance[: len(rows), : len(rows)]
        errors = np.sqrt(np.diag(covariance))
        degrees = fit.items - 1.0 if freedom is None else freedom
        reach = student(level, degrees) * errors
        effect_errors = np.sqrt(np.diag(fit.covariance))[len(rows) + 1 :]
        effects = zip(fit.effects.tolist(), effect_errors.tolist(), strict=True)
        return BradleyTerry(
            models=self.models,
            strengths=strengths,
            standard_errors=errors,
            low=strengths - reach,
            high=strengths + reach,
            covariance=covariance,
            freedom=degrees,
            level=level,
            status=self.status,
            ties=self.ties,
            log_ties=fit.log_ties,
            effects=dict(zip(self.covariates, effects, strict=True)),
            comparisons=len(self.compared),
            notes=(
                *(f'"{name}" {why}.' for name, why in zip(self.models, self.status, strict=True) if why),
                *((ONE_ITEM,) if fit.items < 2 else ()),
            ),
        )


def fit_preferences(
    data: EvalSet,
    table: Preferences,
    ties: Ties | None = None,
    covariates: tuple[str, ...] = (),
    rounds: Sequence[Selection] = (),
) -> FittedStrengths:
    """Fit strengths to some preferences of a set, for the models that have finite ones."""
    table = table.take(np.asarray(~np.isnan(table.value) & (table.first != table.second)))
    if not len(table):
        raise MissingDataError(
            "The evaluation set has no preferences: derive them with data.with_preferences_from(aspect)."
        )
    weight, models = _weights(data, table, rounds), len(data.models)
    soft = ~np.isin(table.value, (-1.0, 0.0, 1.0))
    if ties is None:
        ties = "half" if soft.any() else "davidson"
    elif ties == "davidson" and soft.any():
        raise UsageError(f"{int(soft.sum())} preferences are soft: write ties=half.")
    columns = [_difference(data, table, name) for name in covariates]
    status, usable = _status(table, weight, models)
    rows = np.flatnonzero(usable)
    if len(rows) < 2:
        raise UsageError(
            "No two models have both won and lost against each other, so none has a strength. "
            f"Who won how often: {either('sparingly compare', 'sparingly.compare(data)')}."
        )
    finite, place = usable[table.first] & usable[table.second], np.cumsum(usable) - 1
    compared = Comparisons(
        first=place[table.first[finite]],
        second=place[table.second[finite]],
        value=table.value[finite],
        item=table.item[finite].astype(np.int64),
        weight=weight[finite],
        covariates=np.stack(columns, axis=1)[finite] if columns else np.zeros((int(finite.sum()), 0)),
    )
    fit = fit_strengths(compared, len(rows), ties)
    return FittedStrengths(data.models, rows, status, compared, fit, ties, covariates)


def _difference(data: EvalSet, table: Preferences, name: str) -> Floats:
    """Return how much more of something the first output has, in standard deviations over the set."""
    if name == LENGTH:
        values = length_metric(data, OUTPUT_LENGTH)
    elif name in data.metrics:
        values = data.metrics[name]
    else:
        raise UnknownNameError("covariate", name, (LENGTH, *data.metrics))
    spread = float(np.nanstd(values)) or 1.0
    gap = (values[table.item, table.first] - values[table.item, table.second]) / spread
    return np.nan_to_num(gap)


def _weights(data: EvalSet, table: Preferences, rounds: Sequence[Selection]) -> Floats:
    """Return one over the probability of every comparison, scaled to a mean of 1; 1 where none was drawn."""
    probability: dict[tuple[int, int, int], float] = {}
    column = {name: place for place, name in enumerate(data.models)}
    # Rounds of pairs follow one fixed order, so they are one draw, whatever the budget was at each.
    is_one_draw = all(one.signature.method == "pairs" for one in rounds)
    for one in rounds:
        if one.pairs is None or one.probability is None:
            raise UsageError(
                "Comparisons are weighted only in rounds of pairs with known probabilities. Leave the rounds "
                "out: then every comparison counts the same."
            )
        for item, pair, chance in zip(data.positions(one.items), one.pairs, one.probability, strict=True):
            if not column.keys() >= set(pair):
                continue  # a model that was withdrawn
            low, high = sorted((column[pair[0]], column[pair[1]]))
            probability[int(item), low, high] = 1.0 if is_one_draw else float(chance)
    if not probability:
        return np.ones(len(table))
    smaller, larger = np.minimum(table.first, table.second), np.maximum(table.first, table.second)
    keys = zip(table.item.tolist(), smaller.tolist(), larger.tolist(), strict=True)
    weight = np.array([1.0 / probability[key] if key in probability else 0.0 for key in keys])
    if not weight.any():
        raise UsageError("No comparison is of these rounds: give the rounds that drew them, or none.")
    return np.asarray(weight / weight[weight > 0].mean())


def _status(table: Preferences, weight: Floats, models: int) -> tuple[tuple[str, ...], NDArray[np.bool_]]:
    """Return why models have no finite strength, and which have one (Ford 1957).

    Strengths are finite where every model can be reached from every other along wins; a tie is a win for
    both. The largest group of models of which that is true is kept.
    """
    from scipy.sparse.csgraph import connected_components

    counts = weight > 0
    first, second = table.first[counts].astype(np.int64), table.second[counts].astype(np.int64)
    value = table.value[counts]
    won = np.bincount((first * models + second)[value > -1], minlength=models * models)
    lost = np.bincount((second * models + first)[value < 1], minlength=models * models)
    wins = (won + lost).reshape(models, models).astype(np.float64)
    _, group = connected_components(sparse.csr_matrix(wins), directed=True, connection="strong")
    sizes = np.bincount(group)
    usable = np.asarray(group == int(np.argmax(sizes))) & (sizes.max() > 1)
    reasons = {(True, False): WINS_ALL, (False, True): LOSES_ALL, (False, False): NEVER_COMPARED}
    ever_won, ever_lost = (wins.sum(axis=axis) > 0 for axis in (1, 0))
    status = [
        "" if usable[model] else reasons.get((bool(ever_won[model]), bool(ever_lost[model])), UNCONNECTED)
        for model in range(models)
    ]
    return tuple(status), usable
