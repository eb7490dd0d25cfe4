"""Whether chances that are said come true: to be the best, and that judging everything shows a difference.

    .venv/bin/python -m benchmarks.best_calibration --jobs 8 --docs      # and its tables in decisions.md
    .venv/bin/python -m benchmarks.best_calibration --runs 50            # few: does it still run?
    .venv/bin/python -m benchmarks.best_calibration --only wmt24

Replays of the default path on the judged sets of seven families (see ``_best_replays.py``), so many for each
family. What was said is put into bands of ten points and held against how often it was so. The prior is
chosen seven times, each time without one family and by the mean squared deviation of the bands on the other
six; the family that was left out is then counted with the prior chosen without it. Standard errors are over
sets, since replays of one set share their truth.

Finished parts are kept in .bench/best_calibration/ until the code that decides about them changes, so that an
interrupted run goes on where it stopped. The exit code is 1 when a band with 300 cases or more is off by more
than 5 points for what is printed, on the families left out or with the prior as it is.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparingly
from benchmarks.pages import replaced, table, write_whole
from benchmarks.resume import FinishedParts, Row
from sparingly import EvalSet
from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.stats.pairs import pair_indices
from sparingly.infer.estimate.full_set_p import (
    USUAL_EFFECTS,
    EffectPrior,
    SetDocuments,
    chance_full_set_shows,
    effect_grid,
    error_scales,
    set_documents,
)
from sparingly.infer.rank.decisions import decide
from sparingly.infer.rank.pair_tests import checked_scores, pair_errors, pair_tells
from sparingly.infer.rank.rank import chance_of_best, joint_of

# --- replays on judged sets ------------------------------------------------------------------------------
# A replay takes a set, an aspect, some of the models (and of the metrics) and a number of items n, and goes
# through the package: ``auto``, then the default estimator. With the target ``set`` it draws n items of the
# set; what is true is what all its items show. With the target ``population`` the set stands for all
# inputs: an evaluation set of as many items is drawn from it with replacement (whole documents where there
# are any), n items are drawn from that, and what is true is the mean over the whole original set.
#
# A replay keeps scores, covariances and what else chances are made of (``Replay``), so that they can be said
# again under several priors.


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
USED_PRIOR = next(iter(PRIORS))
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


def said_of(replay: Replay, priors: Mapping[str, EffectPrior] = PRIORS) -> Iterator[Said]:
    """Yield what is said of a replay under every prior, and what was so."""
    targets = [(replay.of_set, 1, BEST_SET)]
    if replay.of_inputs.n <= MOST_OF_INPUTS * replay.of_inputs.size:
        targets.append((replay.of_inputs, 0, BEST_POPULATION))
    for name, prior in priors.items():
        # The chance to be the best knows nothing of documents.
        if prior.document_correlation == USUAL_EFFECTS.document_correlation:
            for sampled, target, best in targets:
                yield from _said_of_models(sampled, target, best, name, prior)
        yield from _said_of_pairs(replay, name, prior)


def chance_of_better(
    scores: Floats,
    covariance: Floats,
    *,
    degrees: float = math.inf,
    units: float | None = None,
    prior: EffectPrior = USUAL_EFFECTS,
) -> Floats:
    """Return models × models: the posterior probability that the row's model is better than the column's.

    d̂ | d ~ t_ν(d, se²),  d ~ N(0, δ²·units·se²): a pair differs by δ standard deviations of its single units,
    log δ ~ N(log 0.5, 0.8²) weighed by all pairs, which count as M − 1 observations. With the pull
    k = δ²·units/(δ²·units + 1), P(d > 0) = mean over δ and df/χ²_df of Φ(√k·d̂/se). A flat prior (1 − p/2) is
    k = 1 and too sure. NaN on the diagonal, without a score, and where a pair has no error.

    Use it to choose between two; claims come from the tests. The arguments are those of ``chance_of_best``.
    """
    from scipy.special import ndtr

    scores, covariance = checked_scores(scores, covariance)
    count = units if units is not None else 100.0 if math.isinf(degrees) else degrees + 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = (scores[:, None] - scores) / pair_errors(covariance)
    ratios = np.where(pair_tells(covariance), ratios, np.nan)
    has_error = np.isfinite(ratios)
    chance = np.full(ratios.shape, np.nan)
    if not has_error.any():
        return chance
    effects, log_weight = effect_grid(prior)
    room = effects**2 * count
    total = (ratios[has_error] ** 2).mean() / (1.0 + room)
    models = int(has_error.any(axis=1).sum())
    weight = log_weight - 0.5 * (np.log(1.0 + room) + total) * (models - 1)
    weight = np.exp(weight - weight.max())
    pull = np.sqrt(room / (1.0 + room))
    chances = [
        weight @ ndtr(pull[:, None] * ratios[has_error] / math.sqrt(scale)) for scale in error_scales(degrees)
    ]
    chance[has_error] = np.mean(chances, axis=0) / weight.sum()
    return chance


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


def _said_of_pairs(replay: Replay, name: str, prior: EffectPrior) -> Iterator[Said]:
    """Yield what was said of all pairs, and of neighbours in the order, with what all items decide."""
    sampled = replay.of_set
    if replay.better is None or not np.isfinite(sampled.covariances[1]).all() or sampled.freedoms[1] < 1:
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
    was_so = np.where(ahead, replay.better[first, second], replay.better[second, first]).astype(np.float64)
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


# --- the tables and the command --------------------------------------------------------------------------


ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
PAGE = ROOT / "docs" / "research" / "decisions.md"
RESULTS = ROOT / "benchmarks" / "results" / "best_calibration.json"
KEPT = ROOT / ".bench" / "best_calibration"
RUNS, BLOCK = 2000, 10
BANDS, FEWEST, BAR = 10, 300, 0.05
# What a prior is chosen by, one for each.
CHOSEN_BY = ((BEST_POPULATION, BEST_SET), (NEIGHBOURS,))
PRINTED = (*CHOSEN_BY[0], *CHOSEN_BY[1])
QUESTIONS = (*PRINTED, BETTER_POPULATION, BETTER_SET, ALL_PAIRS)
LEFT_OUT, AS_IT_IS = "left out", "as it is"
_CODE = ("base", "infer/estimate", "infer/rank")


class Part(NamedTuple):
    """So many replays of one family."""

    family: str
    block: int


def tally(said: Iterable[Said]) -> dict[str, Floats]:
    """Return cases, the sum of what was said and of what was so, by band; by question, prior and n."""
    sums: dict[str, Floats] = {}
    for one in said:
        band = np.minimum((one.chance * BANDS).astype(np.int64), BANDS - 1)
        held = sums.setdefault(f"{one.question}|{one.prior}|{one.n}", np.zeros((BANDS, 3)))
        for column, values in enumerate((np.ones_like(one.chance), one.chance, one.was_so)):
            held[:, column] += np.bincount(band, values, BANDS)
    return sums


def run_part(part: Part, folder: Path) -> Row:
    """Play the replays of a part."""
    places = range(part.block * BLOCK, (part.block + 1) * BLOCK)
    return row_of(part, (replay(folder, part.family, place) for place in places))


def row_of(part: Part, played: Iterable[tuple[str, Replay]]) -> Row:
    """Return what was said in the replays of a part, by set."""
    by_set: dict[str, list[Said]] = {}
    for name, one in played:
        by_set.setdefault(name, []).extend(said_of(one))
    sums = {
        name: {key: held.round(6).tolist() for key, held in tally(said).items()}
        for name, said in by_set.items()
    }
    return {**part._asdict(), "sums": sums}


def parts_of(families: Sequence[str], runs: int) -> list[Part]:
    """Return all parts, family by family in turn, so that an unfinished run holds as many of each."""
    return [Part(family, block) for block in range(-(-runs // BLOCK)) for family in families]


def run_parts(parts: Sequence[Part], data: Path, folder: Path, jobs: int) -> Iterable[Row]:
    """Yield the parts in order, computed in so many processes."""
    finished = FinishedParts(folder, _CODE, (Path(__file__).name,))
    yield from finished.rows(parts, lambda part: part._asdict(), partial(run_part, folder=data), jobs)


class Sums:
    """Bands by question, prior, n, family and set; added up over whatever is not named."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Add up parts."""
        self.held: dict[tuple[str, str, int, str, str], Floats] = {}
        for row in rows:
            for name, sums in row["sums"].items():
                for key, bands in sums.items():
                    question, prior, n = key.split("|")
                    place = (question, prior, int(n), row["family"], name)
                    self.held[place] = self.held.get(place, np.zeros((BANDS, 3))) + np.array(bands)

    def by_set(self, question: str, prior: str, **only: Any) -> dict[str, Floats]:
        """Return bands for every set; ``only`` names families or n that count."""
        found: dict[str, Floats] = {}
        for (asked, name, n, family, of), sums in self.held.items():
            here = {"family": family, "n": n}
            if (asked, name) == (question, prior) and all(
                here[key] in wanted for key, wanted in only.items()
            ):
                found[of] = found.get(of, np.zeros((BANDS, 3))) + sums
        return found


def deviations(parts: Mapping[str, Floats]) -> list[Row]:
    """Return for every band: cases, mean said, share that was so, their difference and its standard error."""
    if not parts:
        return []
    stack = np.stack(list(parts.values()))
    rows = []
    for band in range(BANDS):
        cases, said, was_so = stack[:, band].sum(axis=0)
        if cases == 0:
            rows.append({"band": band, "cases": 0})
            continue
        off = (was_so - said) / cases
        rest = stack[:, band, 2] - stack[:, band, 1] - off * stack[:, band, 0]
        sets = int((stack[:, band, 0] > 0).sum())
        error = float(np.sqrt((rest**2).sum() * sets / max(sets - 1, 1))) / cases
        rows.append(
            {"band": band, "cases": int(cases), "said": said / cases, "was_so": was_so / cases}
            | {"off": float(off), "error": error}
        )
    return rows


def worst(rows: Sequence[Row]) -> float:
    """Return the largest deviation of a band with enough cases."""
    return max((abs(row["off"]) for row in rows if row["cases"] >= FEWEST), default=0.0)


def squared_deviation(rows: Sequence[Row]) -> float:
    """Return the mean squared deviation of the bands that have any cases."""
    return float(np.mean([row["off"] ** 2 for row in rows if row["cases"]] or [np.inf]))


def chosen_without(sums: Sums, questions: Sequence[str], left_out: str, families: Sequence[str]) -> str:
    """Return the prior whose bands deviate least on the other families, in the mean over the questions."""
    others = [family for family in families if family != left_out]

    def deviation(prior: str) -> float:
        found = (sums.by_set(question, prior, family=others) for question in questions)
        return float(np.mean([squared_deviation(deviations(parts)) for parts in found]))

    return min(PRIORS, key=deviation)


def summarise(rows: Sequence[Row], families: Sequence[str]) -> Row:
    """Return the tables: left out, as it is, by family and by n."""
    sums, usual = Sums(rows), USED_PRIOR
    tables: dict[str, list[Row]] = {}
    priors: dict[str, dict[str, str]] = {}
    for questions in CHOSEN_BY:
        own = {family: chosen_without(sums, questions, family, families) for family in families}
        for question in questions:
            parts: dict[str, Floats] = {}
            for family, prior in own.items():
                parts |= sums.by_set(question, prior, family=(family,))
            tables[f"{question}|{LEFT_OUT}"], priors[question] = deviations(parts), own
    for question in QUESTIONS:
        tables[f"{question}|{AS_IT_IS}"] = deviations(sums.by_set(question, usual))
        for family in families:
            tables[f"{question}|{family}"] = deviations(sums.by_set(question, usual, family=(family,)))
        for n in SIZES:
            tables[f"{question}|n = {n}"] = deviations(sums.by_set(question, usual, n=(n,)))
    variants = {
        prior: {
            question: worst(deviations(found))
            for question in PRINTED
            if (found := sums.by_set(question, prior))
        }
        for prior in PRIORS
    }
    return {
        "chosen_without": priors,
        "variants": variants,
        "tables": {key: found for key, found in tables.items() if found},
    }


def missed(tables: Mapping[str, Sequence[Row]]) -> list[str]:
    """Return the pooled bands of what is printed that are off by more than 5 points."""
    pooled = {f"{question}|{way}" for question in PRINTED for way in (LEFT_OUT, AS_IT_IS)}
    return [
        f"{key}: {_band(row)}, said {100 * row['said']:.1f}, was so {100 * row['was_so']:.1f}"
        for key, rows in tables.items()
        for row in rows
        if key in pooled and row["cases"] >= FEWEST and abs(row["off"]) > BAR
    ]


def _band(row: Row) -> str:
    return f"{BANDS * row['band']}–{BANDS * (row['band'] + 1)} %"


_HEADS = {LEFT_OUT: "left-out families", AS_IT_IS: "all families"}


def blocks(computed: Row) -> dict[str, str]:
    """Return the part of the page by the name of its marker."""
    tables, priors = computed["tables"], computed["chosen_without"]
    best, shows = (priors[questions[0]] for questions in CHOSEN_BY)
    said = (
        f"Computed on {computed['date']} with version {computed['version']}: about {computed['runs']:,} "
        f"replays of the default path for each of {len(best)} families, n = {SIZES[0]} to "
        f"{SIZES[-1]}, 2 to {MODELS[-1]} models. Of {len(PRIORS)} priors (centre, spread, "
        f"correlation within documents; {USED_PRIOR} is used), the one chosen without each family, for "
        "the best model and for judging everything: "
        + ", ".join(f"{family}: {best[family]} and {shows[family]}" for family in best)
        + "."
    )
    parts = [said]
    for title, start in _TOPICS.items():
        keys = [key for key in tables if key.startswith(start) and key.split("|")[1] in _HEADS]
        head = (f"{title}: said", *(_head(key, start) for key in keys))
        lines = [
            (_band({"band": band}), *(_cell(tables[key][band]) for key in keys)) for band in range(BANDS)
        ]
        parts += [table(head, lines)] if keys else []
    return {"best calibration": "\n\n".join([*parts, _LEGEND])}


_TOPICS = {
    "to be the best": "best, ",
    "better than the next": "better, ",
    "judging everything shows it": "full set, ",
}


def _head(key: str, start: str) -> str:
    question, way = key.removeprefix(start).split("|")
    return f"{question}; {_HEADS[way]}"


_LEGEND = (
    "How often it was so less what was said, in points ± the standard error over sets (number of cases). "
    "Bands with fewer than 300 cases are in parentheses."
)


def _cell(row: Row) -> str:
    if not row["cases"]:
        return "–"
    text = f"{100 * row['off']:+.1f} ± {100 * row['error']:.1f} ({row['cases']:,})".replace("-", "−")
    return text if row["cases"] >= FEWEST else f"({text})"


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--runs", type=int, default=RUNS, help="replays for each family")
    reader.add_argument("--jobs", type=int, default=1, help="processes")
    reader.add_argument("--only", action="append", choices=tuple(FAMILIES), help="one family")
    reader.add_argument("--data", type=Path, default=DATA, help="the folder of judged sets")
    reader.add_argument("--kept", type=Path, default=KEPT, help="finished parts")
    reader.add_argument("--docs", action="store_true", help="write figures and table")
    reader.add_argument("--results", type=Path, default=RESULTS, help="where figures are written")
    reader.add_argument("--page", type=Path, default=PAGE, help="the page that holds the table")
    return reader.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Play the replays, and say which bands are off."""
    args = options(arguments)
    families = args.only or list(FAMILIES)
    parts, rows = parts_of(families, args.runs), []
    for row in run_parts(parts, args.data, args.kept, args.jobs):
        rows.append(row)
        print(f"\r{len(rows)} of {len(parts)} parts", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    computed: Row = {"version": sparingly.__version__, "date": date.today().isoformat(), "runs": args.runs}
    computed |= summarise(rows, families)
    print(blocks(computed)["best calibration"])
    for prior, found in computed["variants"].items():
        worst_of = ", ".join(f"{question} {100 * off:.1f}" for question, off in found.items())
        print(f"{prior:<14} largest deviation: {worst_of}")
    if args.docs:
        write_whole(args.results, json.dumps(computed, separators=(",", ":")) + "\n")
        write_whole(args.page, replaced(args.page.read_text(encoding="utf-8"), blocks(computed)))
    wrong = missed(computed["tables"])
    for text in wrong:
        print(f"off by more than 5 points: {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    # Workers find functions by the name of their module, which is not __main__ there.
    from benchmarks.best_calibration import main as run

    sys.exit(run())
