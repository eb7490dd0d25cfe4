"""Where the judge errs: by length, model, family, domain and position, each tested; and the worst errors.

What is tested is the judge's error, its score less people's, on people's scale. Where it does not hang on a
factor, the judge is as strict on one part of the data as on another, and its mean can be compared between
parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.lazy import special
from sparingly.base.progress import tracked
from sparingly.base.stats.pairs import holm
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.infer.judge.labelled import LabelledOutputs
from sparingly.signals.length import text_length

# A level is compared with the rest where both have so many labels.
FEWEST_LABELS = 10
DRAWS = 4999
_BLOCK = 2_000_000
LENGTH, MODEL, FAMILY, DOMAIN, POSITION = "length", "model", "model family", "domain", "position"


@dataclass(frozen=True)
class JudgeBias:
    """One bias: how much higher the judge scores a part of the outputs than people do, beside the rest."""

    factor: str  # what outputs differ in: length, model, model family, domain, position
    level: str  # the part, such as a model's name
    labels: int  # the labels in it
    # The judge's error in it less that in the rest, in points of people's scale; for length, of the third
    # against the first quartile; for position, the share of wins of what comes first less a half.
    effect: float
    # The ends of its interval, cluster-robust, not corrected.
    low: float
    high: float
    p: float  # the p-value
    corrected: float  # the same, corrected for all that was tested (Holm)


def find_biases(labelled: LabelledOutputs, level: float, seed: int) -> tuple[JudgeBias, ...]:
    """Return all biases that can be tested, corrected together, the surest first.

    A test has to pass twice, and the larger p-value counts: by the cluster-robust error (Student's t; it
    allows for errors that vary more in one part than in another), and by exchanging errors between clusters,
    or within them where the factor varies there (it holds for few labels and rare errors).
    """
    listed = []
    tests = list(_factors(labelled))
    if tests and len(np.unique(labelled.error)) > 1:
        columns = np.stack([values for _, _, _, values in tests], axis=1)
        fits = [_weighted_slope(values, labelled, level) for values in columns.T]
        # The p-value of each column when errors are exchanged at random. Where most of a column varies within
        # clusters, errors change places within their cluster, and what is hard for all outputs of an item
        # cancels; else whole clusters change places.
        weight, cluster = labelled.weight, labelled.cluster
        groups = int(cluster.max()) + 1
        residual = weight * (labelled.error - weight @ labelled.error / weight.sum())
        sizes = np.bincount(cluster).astype(np.float64)
        means = np.stack([np.bincount(cluster, column) for column in columns.T], axis=1) / sizes[:, None]
        inside = columns - means[cluster]
        overall = columns - columns.mean(axis=0)
        inner = (inside**2).sum(axis=0) > 0.5 * (overall**2).sum(axis=0)
        p_values = np.full(columns.shape[1], np.nan)
        generator = rng.generator(seed, "judge bias")
        if inner.any():
            part = residual - (np.bincount(cluster, residual) / sizes)[cluster]
            p_values[inner] = _exceeded(inside[:, inner], part, cluster, generator)
        if not inner.all():
            totals = np.bincount(cluster, residual)
            places = means[:, ~inner] - means[:, ~inner].mean(axis=0)
            p_values[~inner] = _exceeded(
                places, totals - totals.mean(), np.zeros(groups, np.int64), generator
            )
        permuted = p_values
        for (factor, name, labels, _), (effect, half, p), again_p in zip(tests, fits, permuted, strict=True):
            listed.append(
                JudgeBias(factor, name, labels, effect, effect - half, effect + half, max(p, again_p), 0.0)
            )
    listed += _position(labelled, level, seed)
    corrected = holm(np.array([bias.p for bias in listed]))
    biases = [
        JudgeBias(**{**vars(bias), "corrected": float(p)}) for bias, p in zip(listed, corrected, strict=True)
    ]
    return tuple(sorted(biases, key=lambda bias: (bias.corrected, bias.p, -abs(bias.effect))))


def _factors(labelled: LabelledOutputs) -> Iterator[tuple[str, str, int, Floats]]:
    """Yield what is tested: the factor, the level, its labels, and a number for every labelled output."""
    data, count = labelled.data, len(labelled)
    if data.outputs is not None:
        texts = data.outputs[labelled.item, labelled.model]
        lengths = np.log1p([float("nan") if text is None else text_length(text) for text in texts])
        if np.isfinite(lengths).all() and count >= 2 * FEWEST_LABELS:
            first, third = np.quantile(lengths, (0.25, 0.75))
            if third > first:
                yield LENGTH, "long outputs", count, (lengths - lengths.mean()) / (third - first)
    models = np.array(data.models, object)[labelled.model]
    families = np.array([_family(name) for name in models], object)
    # A family of one model is that model.
    members = {name: len(set(models[families == name].tolist())) for name in set(families.tolist())}
    families = np.array([name if members[name] > 1 else None for name in families], object)
    domains = data.columns.get(fields.DOMAIN)
    parts = [
        (MODEL, models),
        (FAMILY, families),
        *([] if domains is None else [(DOMAIN, domains[labelled.item])]),
    ]
    for factor, labels in parts:
        for name in sorted({str(label) for label in labels if label is not None}):
            inside = np.array([label is not None and str(label) == name for label in labels])
            if FEWEST_LABELS <= inside.sum() <= count - FEWEST_LABELS:
                yield factor, name, int(inside.sum()), inside.astype(np.float64)


def _family(model: str) -> str:
    """Return what models of one maker are called: the letters that their names begin with."""
    match = re.match(r"[^\W\d_]{2,}", model.rpartition("/")[2])
    return match.group().lower() if match else model


def _weighted_slope(values: Floats, labelled: LabelledOutputs, level: float) -> tuple[float, float, float]:
    """Return the slope of the error on a number, half of its interval, and the p-value.

    The error of the slope is the larger of the cluster-robust one and, since a part without any error shows
    no spread, the one by the spread of all errors.
    """
    weight, error = labelled.weight, labelled.error
    x = values - weight @ values / weight.sum()
    squares = float(weight @ x**2)
    effect = float(weight @ (x * error)) / squares
    centred = error - weight @ error / weight.sum()
    residual = centred - effect * x
    groups = int(labelled.cluster.max()) + 1
    by_cluster = np.bincount(labelled.cluster, weight * x * residual)
    robust = (by_cluster**2).sum() * groups / max(groups - 1, 1)
    plain = float(((weight * x) ** 2).sum() * (weight @ residual**2) / weight.sum())
    deviation = np.sqrt(max(robust, plain)) / squares
    freedom = _freedom(weight * x, labelled.cluster)
    if deviation <= 0 or freedom <= 0:
        return effect, float("nan"), float("nan")
    p = 2.0 * float(special.stdtr(freedom, -abs(effect) / deviation))
    return effect, float(special.stdtrit(freedom, 0.5 + level / 2.0)) * deviation, p


def _freedom(leverage: Floats, cluster: Ints) -> float:
    """Return degrees of freedom: as many as the clusters that share the leverage, less one."""
    squares = np.bincount(cluster, leverage**2)
    return float(squares.sum() ** 2 / (squares**2).sum()) - 1.0


def _exceeded(columns: Floats, values: Floats, block: Ints, generator: np.random.Generator) -> Floats:
    """Return how often |Σ x·value| is reached when values change places within their block."""
    order = np.argsort(block, kind="stable")
    columns, values, block = columns[order], values[order], block[order]
    observed = np.abs(values @ columns) * (1.0 - 1e-9)
    counts = np.zeros(columns.shape[1])
    step = max(1, _BLOCK // len(values))
    for start in tracked(range(0, DRAWS, step)):
        keys = block + generator.random((min(step, DRAWS - start), len(values)))
        counts += (np.abs(values[np.argsort(keys, axis=1)] @ columns) >= observed).sum(axis=0)
    return (1.0 + counts) / (DRAWS + 1.0)


def _position(labelled: LabelledOutputs, level: float, seed: int) -> list[JudgeBias]:
    """Return the bias for what comes first, where the judge compared pairs in both orders."""
    votes = labelled.data.preferences
    if labelled.judge not in votes.raters:
        return []
    rows = np.flatnonzero(votes.rater == votes.raters.index(labelled.judge))
    low, high = np.minimum(votes.first, votes.second)[rows], np.maximum(votes.first, votes.second)[rows]
    straight = votes.first[rows] == low
    pairs = np.unique(np.stack([votes.item[rows], low, high], axis=1), axis=0, return_inverse=True)[1].ravel()
    orders = [np.bincount(pairs[part], minlength=int(pairs.max()) + 1) for part in (straight, ~straight)]
    usable = np.flatnonzero((orders[0] > 0) & (orders[1] > 0))
    if len(usable) < FEWEST_LABELS:
        return []
    for_first = [
        np.bincount(pairs[part], votes.value[rows][part], minlength=len(orders[0]))[usable] / order[usable]
        for part, order in zip((straight, ~straight), orders, strict=True)
    ]
    # The share of wins of the first, less a half; where the order says nothing, both votes cancel.
    lead = (for_first[0] + for_first[1]) / 4.0
    item_of_pair = np.zeros(len(orders[0]), np.int64)
    item_of_pair[pairs] = votes.item[rows]
    cluster = np.unique(item_of_pair[usable], return_inverse=True)[1]
    groups, effect = int(cluster.max()) + 1, float(lead.mean())
    sums = np.bincount(cluster, lead - effect)
    deviation = np.sqrt((sums**2).sum() * groups / max(groups - 1, 1)) / len(lead)
    if not deviation > 0:
        p, half = (1.0 if effect == 0 else 0.0), 0.0
    else:
        p = 2.0 * float(special.stdtr(groups - 1.0, -abs(effect) / deviation))
        half = float(special.stdtrit(groups - 1.0, 0.5 + level / 2.0)) * deviation
    # Signs of whole items, at random: what is exchangeable is which output was first.
    signs = rng.generator(seed, "judge position").choice((-1.0, 1.0), (DRAWS, groups))
    totals = np.bincount(cluster, lead)
    p = max(p, float((1 + (np.abs(signs @ totals) >= abs(totals.sum()) - 1e-9).sum()) / (DRAWS + 1)))
    return [
        JudgeBias(POSITION, "what comes first", len(usable), effect, effect - half, effect + half, p, 0.0)
    ]


# --- examples to read ---

EXAMPLES = 2


@dataclass(frozen=True)
class JudgeError:
    """An output that the judge scored otherwise than people did, with what raters wrote about it."""

    item: str
    model: str
    source: str | None
    output: str | None
    judge: float
    people: float
    judge_is_higher: bool
    comments: tuple[str, ...] = ()


def worst_errors(labelled: LabelledOutputs, each: int = EXAMPLES) -> tuple[JudgeError, ...]:
    """Return the largest errors, as many where the judge is too kind as where it is too strict."""
    data, error = labelled.data, labelled.error
    keys = data.keys[labelled.item]
    examples = []
    for sign in (1.0, -1.0):
        order = np.lexsort((keys, -sign * error))
        for row in order[:each]:
            if sign * error[row] <= 0:
                continue
            item, model = int(labelled.item[row]), int(labelled.model[row])
            examples.append(
                JudgeError(
                    item=str(data.items[item]),
                    model=data.models[model],
                    source=None if data.sources is None else data.sources[item],
                    output=None if data.outputs is None else data.outputs[item, model],
                    judge=float(labelled.score[row]),
                    people=float(labelled.human[row]),
                    judge_is_higher=sign > 0,
                    comments=_comments(data, item, model),
                )
            )
    return tuple(examples)


def _comments(data: EvalSet, item: int, model: int) -> tuple[str, ...]:
    table = data.ratings
    if table.comment is None:
        return ()
    rows: Mask = (table.item == item) & (table.model == model)
    return tuple(str(text) for text in table.comment[rows] if text)
