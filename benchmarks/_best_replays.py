"""Replays on judged sets: what chances are said on the default path, and whether it was so.

A replay takes a set, an aspect, some of the models (and of the metrics) and a number of items n, and goes
through the package: ``auto``, then the default estimator. With the target ``set`` it draws n items of the
set; what is true is what all its items show. With the target ``population`` the set stands for all inputs: an
evaluation set of as many items is drawn from it with replacement (whole documents where there are any), n
items are drawn from that, and what is true is the mean over the whole original set.

A replay keeps scores, covariances and what else chances are made of (``Replay``), so that they can be said
again under several priors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparingly
from sparingly import EvalSet
from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.stats.pairs import pair_indices
from sparingly.infer.estimate.full_set_p import (
    USUAL_EFFECTS,
    EffectPrior,
    SetDocuments,
    chance_full_set_shows,
    set_documents,
)
from sparingly.infer.rank.best import chance_of_best, chance_of_better
from sparingly.infer.rank.decisions import decide
from sparingly.infer.rank.pair_tests import pair_errors
from sparingly.infer.rank.rank import joint_of

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
MOST_OF_SET, MOST_METRICS = 0.6, 6
# A set drawn with replacement holds copies, and a spread draw takes no two of them: where n is a large part
# of it, the sample is most of all different items, and nearer to the truth than one of new inputs would be.
MOST_OF_INPUTS = 0.2
BEST_POPULATION, BEST_SET = "best, population", "best, set"
BETTER_POPULATION, BETTER_SET = "better, population", "better, set"
NEIGHBOURS, ALL_PAIRS = "full set, neighbours", "full set, all pairs"
# The prior as it is first, then all others from which one could have been chosen.
PRIORS: Mapping[str, EffectPrior] = {
    f"{prior.centre:g}/{prior.spread:g}/{prior.document_correlation:g}": prior
    for prior in (
        USUAL_EFFECTS,
        *(EffectPrior(centre) for centre in (0.3, 0.8)),
        EffectPrior(spread=1.2),
        *(EffectPrior(document_correlation=within) for within in (0.1, 0.3)),
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


class Sampled(NamedTuple):
    """What an estimate from n items says of its models, and the true means.

    Covariance, degrees of freedom and units are those for inputs like these, then those over this set.
    """

    n: int
    scores: Floats
    covariances: tuple[Floats, Floats]
    freedoms: tuple[float, float]
    units: tuple[float, float]
    deviations: Floats
    documents: SetDocuments | None
    unseen: float
    size: int
    truth: Floats


class Replay(NamedTuple):
    """A draw from a resampled set, a draw from the set itself, and which models all its items tell apart.

    ``better`` is what ``rank`` decides on the fully judged set; None where its documents are too few.
    """

    of_inputs: Sampled
    of_set: Sampled
    better: NDArray[np.bool_] | None


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


@cache
def read(folder: Path, family: str, name: str) -> Judged:
    """Return a judged set of a family."""
    return Judged.read(folder, name, FAMILIES[family][name])


def is_best(means: Floats) -> Floats:
    """Return 1 for the best model, shared where several are."""
    best = np.isclose(means, means.max(), rtol=1e-9, atol=1e-12)
    return np.asarray(best / best.sum())


def _size(draw: np.random.Generator, most: float) -> int:
    fitting = [n for n in SIZES if n <= most]
    return int(fitting[draw.integers(len(fitting))])


def replay(folder: Path, family: str, place: int) -> tuple[str, Replay]:
    """Return a replay of a family, by its place, and its set: the sets take turns."""
    name = list(FAMILIES[family])[place % len(FAMILIES[family])]
    judged, draw = read(folder, family, name), rng.generator(place, f"record {family} {name}")
    aspect, scores, models = judged.some_models(draw)
    n = _size(draw, len(scores))
    again = _remade(judged, aspect, models, _resampled(judged.data, draw), draw)
    of_inputs = _sampled(again, n, scores.mean(axis=0), draw)
    n = _size(draw, MOST_OF_SET * len(scores))
    whole = _remade(judged, aspect, models, np.arange(len(scores)), draw)
    of_set = _sampled(whole, n, scores.mean(axis=0), draw)
    return name, Replay(of_inputs, of_set, _decided(whole))


def _sampled(data: EvalSet, n: int, truth: Floats, draw: np.random.Generator) -> Sampled:
    """Return what the default estimate from a default draw says."""
    seed = int(draw.integers(2**31))
    chosen = sparingly.select(data, "auto", n, seed=seed)
    found = sparingly.estimate(data, chosen, "y", target="population", interval="none", seed=seed)
    if found.pairs is None:
        raise ValueError("A default draw has probabilities.")
    errors, over_set = found.pairs.errors, found.pairs.over_set
    return Sampled(
        n,
        found.scores,
        (found.covariance, over_set.covariance),
        (found.freedom, over_set.freedom),
        (errors.units, over_set.units),
        found.pairs.deviations(*pair_indices(len(truth))),
        set_documents(found.pairs),
        found.pairs.tails.unseen,
        found.pairs.sample.size,
        truth,
    )


def _decided(whole: EvalSet) -> NDArray[np.bool_] | None:
    """Return which models are significantly better than which, everything judged, for inputs like these."""
    found = sparingly.estimate(whole, None, "y", target="population", interval="none")
    if not np.isfinite(found.covariance).all():
        return None
    joint = joint_of(found)
    return decide(joint.tests().agreeing(joint.scores), joint.scores).better


def said_of(found: Replay, priors: Mapping[str, EffectPrior] = PRIORS) -> Iterator[Said]:
    """Yield what is said of a replay under every prior, and what was so."""
    targets = [(found.of_set, 1, BEST_SET)]
    if found.of_inputs.n <= MOST_OF_INPUTS * found.of_inputs.size:
        targets.append((found.of_inputs, 0, BEST_POPULATION))
    for name, prior in priors.items():
        # The chance to be the best knows nothing of documents.
        if prior.document_correlation == USUAL_EFFECTS.document_correlation:
            for sampled, target, best in targets:
                yield from _said_of_models(sampled, target, best, name, prior)
        yield from _said_of_pairs(found, name, prior)


def _said_of_models(
    sampled: Sampled, target: int, best: str, name: str, prior: EffectPrior
) -> Iterator[Said]:
    scores, truth = sampled.scores, sampled.truth
    covariance, degrees = sampled.covariances[target], sampled.freedoms[target]
    units = sampled.units[target]
    if not np.isfinite(covariance).all() or min(degrees, units) < 1:
        return
    chance = chance_of_best(
        scores, covariance, degrees=degrees, units=units, prior=prior, draws=_DRAWS, seed=sampled.n
    )
    yield Said(best, name, sampled.n, chance, is_best(truth))
    if prior != USUAL_EFFECTS:
        return
    better = BETTER_SET if target else BETTER_POPULATION
    order = np.argsort(-scores, kind="stable")
    said = chance_of_better(scores, covariance, degrees=degrees, prior=prior)[order[:-1], order[1:]]
    was_so = 0.5 + 0.5 * np.sign(truth[order[:-1]] - truth[order[1:]])
    yield Said(better, name, sampled.n, said[~np.isnan(said)], was_so[~np.isnan(said)])


def _said_of_pairs(found: Replay, name: str, prior: EffectPrior) -> Iterator[Said]:
    """Yield what was said of all pairs, and of neighbours in the order, with what all items decide."""
    sampled = found.of_set
    if found.better is None or not np.isfinite(sampled.covariances[1]).all() or sampled.freedoms[1] < 1:
        return
    first, second = pair_indices(len(sampled.scores))
    chance = chance_full_set_shows(
        sampled.scores[first] - sampled.scores[second],
        pair_errors(sampled.covariances[1])[first, second],
        sampled.deviations,
        sampled.size,
        models=len(sampled.scores),
        degrees=sampled.freedoms[1],
        prior=prior,
        documents=sampled.documents,
        unseen=sampled.unseen,
    )
    ahead = sampled.scores[first] >= sampled.scores[second]
    was_so = np.where(ahead, found.better[first, second], found.better[second, first]).astype(np.float64)
    place = np.argsort(np.argsort(-sampled.scores, kind="stable"), kind="stable")
    given = np.isfinite(chance)
    next_to = given & (np.abs(place[first] - place[second]) == 1)
    yield Said(ALL_PAIRS, name, sampled.n, chance[given], was_so[given])
    yield Said(NEIGHBOURS, name, sampled.n, chance[next_to], was_so[next_to])


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


def _remade(
    judged: Judged,
    aspect: str,
    models: NDArray[np.int64],
    rows: NDArray[np.int64],
    draw: np.random.Generator,
) -> EvalSet:
    """Return an evaluation set of some rows, some of them twice or more, with documents and some metrics."""
    data, columns = judged.data, {}
    if (documents := data.columns.get("document")) is not None:
        names = np.asarray(documents, str)[rows]
        again = np.cumsum(np.concatenate([[False], names[1:] != names[:-1]]))
        columns["document"] = [f"{name} {part}" for name, part in zip(names, again, strict=True)]
        if len(np.unique(rows)) == len(rows):
            columns["document"] = names.tolist()
    inside, metrics = np.ix_(rows, models), sorted(data.metrics)
    if len(metrics) > MOST_METRICS:
        metrics = [metrics[place] for place in draw.choice(len(metrics), MOST_METRICS, replace=False)]
    return EvalSet.from_arrays(
        [f"item {row:05d}" for row in range(len(rows))],
        [data.models[place] for place in models],
        metrics={name: np.asarray(data.metrics[name])[inside] for name in metrics},
        aspects={"y": judged.aspects[aspect][inside]},
        columns=columns,
    )
