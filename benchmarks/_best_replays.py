"""Replays on judged sets: what chances were said, and whether it was so.

A replay takes a set, an aspect, some of the models and a number of items n. With the target ``set`` it draws
n items of the set; what is true is what all its items show. With the target ``population`` the set stands for
all inputs: an evaluation set of as many items is drawn from it with replacement (whole documents where there
are any), n items are drawn from that, and what is true is the mean over the whole original set.

Plain draws are computed from arrays, many at a time and under several priors. The default path (``auto``,
then the default estimator with the metrics of the set) goes through the package.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparingly
from sparingly import EvalSet
from sparingly.base.stats.pairs import pair_indices
from sparingly.infer.estimate.effect_prior import USUAL, EffectPrior
from sparingly.infer.estimate.full_set_p import chance_full_set_shows, full_set_chances
from sparingly.infer.rank.best import chance_of_best, chance_of_better
from sparingly.infer.rank.pair_errors import pair_errors

Floats = NDArray[np.float64]
Aspects = Mapping[str, tuple[str, ...]]

_MQM = ("mqm",)
FAMILIES: Mapping[str, Aspects] = {
    "wmt23": {
        "wmt23_ende": ("mqm", "da_sqm"),
        "wmt23_ende_esa": ("esa1", "esaai1", "mqm1"),
        "wmt23_ende_mqm3": ("mqm3", "wmt_da_sqm"),
        "wmt23_zhen": _MQM,
        "wmt23_zhen_mqm3": ("mqm3",),
    },
    "wmt24": dict.fromkeys(("wmt24_encs", "wmt24_enhi", "wmt24_enzh"), ("esa", "esa_spans")),
    "wmt20-21": dict.fromkeys(
        ("wmt20_ende_notext", "wmt21_ende", "wmt21_zhen", "ted21_ende", "casf_newstest2021_zhen"), _MQM
    ),
    "biomqm": dict.fromkeys(
        ("biomqm_deen", "biomqm_ende", "biomqm_enes", "biomqm_enfr", "biomqm_enru"), ("mqm", "mqm_crit25")
    ),
    "summaries": {
        "summeval": ("coherence", "consistency", "fluency", "relevance", "sum"),
        "summeval_llm12": ("coherence", "relevance", "sum", "turker_coherence", "turker_fluency"),
        "realsumm": ("litepyramid_recall",),
        "opinsummeval": ("asp_rel", "self_coh", "readblty", "sum"),
        "newsroom": ("coherence", "informativeness", "relevance", "sum"),
    },
    "texts": {
        "topicalchat_usr": ("understandability", "engagingness", "overall"),
        "personachat_usr": ("Natural", "Engaging", "Overall"),
        "thumb_mscoco": ("human_score",),
        "webnlg20_en": ("Correctness", "Fluency", "DataCoverage", "mean"),
        "simpeval_past": ("rating",),
        "simpeval_2022": ("rating", "rating_z"),
        "frank_cnndm_notext": ("Factuality", "Semantic_Frame_Errors", "Content_Verifiability_Errors"),
    },
    "alpacaeval": {"alpacaeval2_llmjudge": ("pref_vs_gpt4turbo_JUDGE_gpt4turbo",)},
}
SIZES = (10, 12, 16, 20, 30, 50, 100, 200)
# Numbers of models; the last stands for all, but not more than that.
MODELS = (2, 3, 5, 8, 12, 25)
MOST_OF_SET = 0.6
PLAIN, DEFAULT = "plain", "default"
BEST_POPULATION, BEST_SET = "best, population", "best, set"
BETTER_POPULATION, BETTER_SET = "better, population", "better, set"
NEIGHBOURS, ALL_PAIRS, EXPECTED = "full set, neighbours", "full set, all pairs", "full set, expected"
# The prior as it is first, then all others from which one could have been chosen.
PRIORS: Mapping[str, EffectPrior] = {
    f"{prior.centre:g}/{prior.spread:g}/{prior.alike:g}": prior
    for prior in dict.fromkeys(
        (
            USUAL,
            *(EffectPrior(centre, spread) for centre in (0.3, 0.5, 0.8) for spread in (0.5, 0.8, 1.2)),
            *(EffectPrior(alike=alike) for alike in (2.0, 32.0)),
        )
    )
}
AS_IT_IS = next(iter(PRIORS))
_DRAWS = 1000


class Said(NamedTuple):
    """Chances of one replay under one prior, and what was so (1, 0, or a share where several are best)."""

    question: str
    prior: str
    n: int
    chance: Floats
    was_so: Floats


class Judged(NamedTuple):
    """A judged set: every aspect items × models without gaps, its metrics, and the items' documents."""

    data: EvalSet
    aspects: Mapping[str, Floats]

    @classmethod
    def read(cls, folder: Path, name: str, aspects: tuple[str, ...]) -> Judged:
        """Read the set; items that lack a judgement of one of the aspects are left out."""
        data = sparingly.load(folder / f"{name}.jsonl.gz")
        whole = ~np.any([np.isnan(data.aspects[aspect]).any(axis=1) for aspect in aspects], axis=0)
        data = data.at(np.flatnonzero(whole))
        return cls(data, {aspect: np.asarray(data.aspects[aspect]) for aspect in aspects})

    def some_models(self, draw: np.random.Generator) -> tuple[str, Floats, NDArray[np.int64]]:
        """Return an aspect, its scores of some models, and which these are."""
        aspect = list(self.aspects)[draw.integers(len(self.aspects))]
        scores = self.aspects[aspect]
        count = min(MODELS[draw.integers(len(MODELS))], scores.shape[1])
        models = np.sort(draw.choice(scores.shape[1], count, replace=False))
        return aspect, scores[:, models], models


def is_best(means: Floats) -> Floats:
    """Return 1 for the best model, shared where several are."""
    best = np.isclose(means, means.max(), rtol=1e-9, atol=1e-12)
    return np.asarray(best / best.sum())


def _size(draw: np.random.Generator, most: float) -> int:
    fitting = [n for n in SIZES if n <= most]
    return int(fitting[draw.integers(len(fitting))])


def _shown(scores: Floats) -> tuple[Floats, Floats]:
    """Return z of every pair over all items, and the critical value of its paired t test."""
    from scipy.special import stdtrit

    first, second = pair_indices(scores.shape[1])
    apart = scores[:, first] - scores[:, second]
    spread = np.maximum(apart.std(axis=0, ddof=1), 1e-12)
    least = stdtrit(len(scores) - 1, 0.975)
    return apart.mean(axis=0) * math.sqrt(len(scores)) / spread, np.asarray(least)


def _pairs_said(prior: str, n: int, means: Floats, chance: Floats, scores: Floats) -> Iterator[Said]:
    """Yield what was said of all pairs, and of neighbours in the order, with what all items show."""
    first, second = pair_indices(len(means))
    z, least = _shown(scores)
    was_so = (np.where(means[first] >= means[second], z, -z) > least).astype(np.float64)
    given = ~np.isnan(chance)
    place = np.argsort(np.argsort(-means, kind="stable"), kind="stable")
    next_to = given & (np.abs(place[first] - place[second]) == 1)
    yield Said(ALL_PAIRS, prior, n, chance[given], was_so[given])
    yield Said(NEIGHBOURS, prior, n, chance[next_to], was_so[next_to])


def _better_said(
    question: str, prior: str, n: int, means: Floats, chance: Floats, truth: Floats
) -> Iterator[Said]:
    """Yield what was said of neighbours in the order: that the first is better than the second."""
    order = np.argsort(-means, kind="stable")
    said = chance[order[:-1], order[1:]]
    was_so = 0.5 + 0.5 * np.sign(truth[order[:-1]] - truth[order[1:]])
    yield Said(question, prior, n, said[~np.isnan(said)], was_so[~np.isnan(said)])


def plain_replay(judged: Judged, draw: np.random.Generator) -> Iterator[Said]:
    """Yield what is said from a uniform draw and plain means: of the population, then of the set."""
    _, scores, _ = judged.some_models(draw)
    size, count = scores.shape
    first, second = pair_indices(count)
    truth = scores.mean(axis=0)
    for best, better, replace in (
        (BEST_POPULATION, BETTER_POPULATION, True),
        (BEST_SET, BETTER_SET, False),
    ):
        n = _size(draw, size if replace else MOST_OF_SET * size)
        sample = scores[draw.choice(size, n, replace=replace)]
        spread = np.atleast_2d(np.cov(sample.T))
        left = 1.0 / n - (0.0 if replace else 1.0 / size)
        means, covariance = sample.mean(axis=0), left * spread
        for name, prior in PRIORS.items():
            chance = chance_of_best(means, covariance, degrees=n - 1.0, prior=prior, draws=_DRAWS)
            yield Said(best, name, n, chance, is_best(truth))
            chance = chance_of_better(means, covariance, degrees=n - 1.0, prior=prior)
            yield from _better_said(better, name, n, means, chance, truth)
            if replace:
                continue
            deviations = pair_errors(spread)[first, second]
            shown = chance_full_set_shows(
                means[first] - means[second],
                math.sqrt(left) * deviations,
                deviations,
                size,
                models=count,
                degrees=n - 1.0,
                prior=prior,
            )
            yield from _pairs_said(name, n, means, shown, scores)


def default_replay(judged: Judged, draw: np.random.Generator) -> Iterator[Said]:
    """Yield what is said on the default path: of the population, then of the set."""
    aspect, scores, models = judged.some_models(draw)
    truth = scores.mean(axis=0)
    n = _size(draw, len(scores))
    found = _estimated(_remade(judged, aspect, models, _resampled(judged.data, draw)), n, "population", draw)
    if found is not None:
        yield from _said_of_models(found, BEST_POPULATION, BETTER_POPULATION, n, truth)
    n = _size(draw, MOST_OF_SET * len(scores))
    whole = _remade(judged, aspect, models, np.arange(len(scores)))
    found = _estimated(whole, n, "set", draw)
    if found is None or found.pairs is None:
        return
    yield from _said_of_models(found, BEST_SET, BETTER_SET, n, truth)
    pairs = pair_indices(len(models))
    yield from _pairs_said(
        AS_IT_IS, n, found.scores, full_set_chances(found.scores, found.pairs)[pairs], scores
    )
    labels = np.full(scores.shape, np.nan)
    rows = whole.positions(found.selection.items) if found.selection is not None else np.arange(0)
    labels[rows] = scores[rows]
    expected = sparingly.expect(whole, labels, aspect="y")
    z, least = _shown(scores)
    was_so = (z * np.where(expected.z >= 0, 1.0, -1.0) > least).astype(np.float64)
    yield Said(EXPECTED, AS_IT_IS, n, expected.chances[pairs], was_so)


def _said_of_models(
    found: sparingly.Estimate, best: str, better: str, n: int, truth: Floats
) -> Iterator[Said]:
    """Yield what an estimate says of its models."""
    chance = chance_of_best(found.scores, found.covariance, degrees=found.freedom, draws=_DRAWS)
    yield Said(best, AS_IT_IS, n, chance, is_best(truth))
    chance = chance_of_better(found.scores, found.covariance, degrees=found.freedom)
    yield from _better_said(better, AS_IT_IS, n, found.scores, chance, truth)


def _resampled(data: EvalSet, draw: np.random.Generator) -> NDArray[np.int64]:
    """Return rows drawn with replacement, whole documents where there are any."""
    documents = data.columns.get("document")
    if documents is None:
        return np.asarray(draw.integers(len(data), size=len(data)))
    _, member = np.unique(np.asarray(documents, str), return_inverse=True)
    parts: list[NDArray[np.int64]] = []
    while sum(map(len, parts)) < len(data):
        parts.append(np.flatnonzero(member == draw.integers(member.max() + 1)))
    return np.concatenate(parts)


def _remade(judged: Judged, aspect: str, models: NDArray[np.int64], rows: NDArray[np.int64]) -> EvalSet:
    """Return an evaluation set of some rows, some of them twice or more, with metrics and documents."""
    data = judged.data
    columns = {}
    if (documents := data.columns.get("document")) is not None:
        names = np.asarray(documents, str)[rows]
        again = np.cumsum(np.concatenate([[False], names[1:] != names[:-1]]))
        columns["document"] = [f"{name} {part}" for name, part in zip(names, again, strict=True)]
        if len(np.unique(rows)) == len(rows):
            columns["document"] = names.tolist()
    inside = np.ix_(rows, models)
    return EvalSet.from_arrays(
        [f"item {row:05d}" for row in range(len(rows))],
        [data.models[place] for place in models],
        metrics={name: np.asarray(values)[inside] for name, values in data.metrics.items()},
        aspects={"y": judged.aspects[aspect][inside]},
        columns=columns,
    )


def _estimated(
    data: EvalSet, n: int, target: Literal["set", "population"], draw: np.random.Generator
) -> sparingly.Estimate | None:
    """Return the default estimate from a default draw; None where too few units were drawn for errors."""
    seed = int(draw.integers(2**31))
    chosen = sparingly.select(data, "auto", n, seed=seed)
    found = sparingly.estimate(data, chosen, "y", target=target, interval="none", seed=seed)
    usable = np.isfinite(found.covariance).all() and found.freedom >= 1
    return found if usable else None
