"""What the tables of honest scores are made of: cases, the coverage of intervals, the errors of scores."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks.pages import write_whole
from benchmarks.papers.work import SMALL_SET_SHARES, file_of
from sparingly import EvalSet, Selection
from sparingly.base import rng
from sparingly.base.arrays import Floats, Mask
from sparingly.base.stats.pairs import pair_indices, soft_pairwise_accuracy
from sparingly.infer.estimate.assemble import EstimateRequest, assemble
from sparingly.infer.estimate.estimators import as_estimator
from sparingly.infer.estimate.full_set_p import full_set_p_values
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import sample_from
from sparingly.infer.rank.agreement import FullSet
from sparingly.infer.rank.compare import MethodReplay, full_set, judged_part, method_curve
from sparingly.infer.rank.curve import SHARES, SPA, random_curve, sizes_of
from sparingly.infer.rank.decisions import decide
from sparingly.infer.rank.measures import significance_groups
from sparingly.infer.rank.pair_tests import t_tests

# --- the cases ----------------------------------------------------


# Runs are kept so many at a time, so that an interrupted command goes on, and more runs add to those there.
BLOCK = 10
_DECIMALS = 6


@dataclass(frozen=True)
class Case:
    """A fully judged set.

    Attributes:
        file: The data set, without its ending.
        truth: The aspect that is estimated.
        metric: The metric that selectors see, by a rule and not by how well it does: the learned one that
            published work uses (MetricX-23, bleurt-combi, GPT-4's own sum), chrF where there is none.
        title: How the set is called in tables.
        shares: The budgets over which figures are averaged.
    """

    file: str
    truth: str
    metric: str
    title: str
    shares: tuple[float, ...] = SHARES

    @property
    def name(self) -> str:
        """What the case is called in files and on the command line."""
        return f"{self.file}/{self.truth}"

    @property
    def is_vouched(self) -> bool:
        """Whether the metric is one that a user would vouch for: it was learned from judgements."""
        return self.metric != "chrF"

    def data(self, folder: Path) -> EvalSet:
        """Return the items and models that have the truth, with all metrics."""
        return _judged(folder, self.file, self.truth)


@lru_cache(maxsize=1)
def _judged(folder: Path, file: str, truth: str) -> EvalSet:
    return judged_part(sparingly.load(file_of(folder, file)), truth)[0]


_METRICX, _CHRF = "MetricX-23", "chrF"
ZHEN = Case("wmt23_zhen", "mqm", _METRICX, "WMT23 zh–en, MQM")
ENDE = Case("wmt23_ende", "mqm", _METRICX, "WMT23 en–de, MQM")
MAIN = (ENDE, ZHEN)
OTHERS = (
    Case("wmt23_ende", "da_sqm", _METRICX, "WMT23 en–de, DA+SQM"),
    Case("wmt23_ende_esa", "esa1", _METRICX, "WMT23 en–de, ESA"),
    Case("wmt23_ende_mqm3", "mqm3", _METRICX, "WMT23 en–de, MQM by three"),
    Case("wmt23_zhen_mqm3", "mqm3", _METRICX, "WMT23 zh–en, MQM by three"),
    Case("wmt24_encs", "esa", _CHRF, "WMT24 en–cs, ESA"),
    Case("wmt24_enhi", "esa", _CHRF, "WMT24 en–hi, ESA"),
    Case("wmt24_enzh", "esa", _CHRF, "WMT24 en–zh, ESA"),
    Case("summeval_llm12", "sum", "gpt4_rts_sum", "SummEval, GPT-4 as the metric", SMALL_SET_SHARES),
    Case("summeval", "sum", _CHRF, "SummEval, ROUGE and chrF", SMALL_SET_SHARES),
)
COVERAGE = (
    ENDE,
    ZHEN,
    Case("wmt20_ende_notext", "mqm", "bleurt-combi", "WMT20 en–de, MQM"),
    Case("ted21_ende", "mqm", _CHRF, "TED21 en–de, MQM"),
    *(
        Case(f"biomqm_{pair}", "mqm", _CHRF, f"BioMQM {pair[:2]}–{pair[2:]}")
        for pair in ("deen", "ende", "enes", "enfr", "enru")
    ),
)


@dataclass(frozen=True)
class Kept:
    """Runs that are finished, kept in a folder until it is deleted (None: nowhere)."""

    folder: Path | None = None

    def runs(
        self, key: Mapping[str, Any], count: int, run: Callable[[int], Any], *, or_more: bool = False
    ) -> Floats:
        """Return the results of runs 0 … count − 1, or also of finished ones beyond these."""
        found: list[Any] = []
        start = 0
        while start < count or (or_more and self._is_there(key, start)):
            stop = start + BLOCK if start + BLOCK <= count or start >= count else count
            found += self._block({**key, "start": start, "stop": stop}, start, stop, run)
            start = stop
        return np.array(found, np.float64)

    def _is_there(self, key: Mapping[str, Any], start: int) -> bool:
        path = self._path({**key, "start": start, "stop": start + BLOCK})
        return path is not None and path.exists()

    def _block(self, key: Mapping[str, Any], start: int, stop: int, run: Callable[[int], Any]) -> list[Any]:
        path = self._path(key)
        if path is not None and path.exists():
            return list(json.loads(path.read_text(encoding="utf-8"))["runs"])
        begun = time.perf_counter()
        runs = [np.asarray(run(place)).tolist() for place in range(start, stop)]
        if path is not None:
            write_whole(path, json.dumps({"key": dict(key), "runs": runs}))
        told = " ".join(str(value) for value in key.values() if not isinstance(value, tuple))
        print(f"{told}  {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
        return runs

    def _path(self, key: Mapping[str, Any]) -> Path | None:
        if self.folder is None:
            return None
        text = json.dumps({**key, "version": sparingly.__version__}, sort_keys=True)
        return self.folder / f"{blake2b(text.encode(), digest_size=12).hexdigest()}.json"


def rounded(value: float) -> float | None:
    """Return a number as it is written into results; one that is not there is None."""
    return None if np.isnan(value) else round(float(value), _DECIMALS)


def mean_with_interval(values: Floats) -> dict[str, float | None]:
    """Return the mean of runs with its 95 % t interval; a single run has none."""
    from scipy.special import stdtrit

    mean = float(values.mean())
    half = float("nan")
    if len(values) > 1:
        half = float(stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values)))
    return {"mean": rounded(mean), "low": rounded(mean - half), "high": rounded(mean + half)}


def ratio_with_interval(values: Floats, base: Floats) -> dict[str, float | None]:
    """Return the ratio of two means of independent runs with its 95 % interval (on the scale of logarithms).

    A single run is taken as it is: the interval is then that of the other mean alone.
    """
    ratio = float(values.mean() / base.mean())
    parts = [run.var(ddof=1) / len(run) / run.mean() ** 2 for run in (values, base) if len(run) > 1]
    half = 1.96 * float(np.sqrt(sum(parts)))
    return {
        "mean": rounded(ratio),
        "low": rounded(ratio * np.exp(-half)),
        "high": rounded(ratio * np.exp(half)),
    }


# --- coverage: do intervals hold the truth? --------------------------------------------------------------
# Replicates are random parts of a set, 80 % of its items, so that a selector without a seed differs between
# them, too; the truth is the mean over all items of the part. Three ways:
#
# - the top of the list of ``metric_cons``, taken for a sample as people do: t intervals, paired t tests,
# groups by Algorithm 1 of Zouhar et al. 2025; - the same of a random draw; - a probability design with
# ``greg``: intervals as ``estimate`` prints them, t tests and groups as ``rank`` has them for inputs like
# these.


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


def rank_claims(estimate: Estimate) -> tuple[Mask, Mask, Mask]:
    """Return which pairs ``rank`` calls different: one by one, in groups, and all at once.

    None where it refuses, because too few items or documents are judged to say how sure it is.
    """
    first, second = pair_indices(len(estimate.models))
    if not np.isfinite(estimate.covariance).all() or estimate.freedom < 1:
        nothing = np.zeros(len(first), bool)
        return nothing, nothing, nothing
    alpha = 1 - LEVEL
    tests = t_tests(estimate.scores, estimate.covariance, estimate.freedom, certain=False)
    decisions = decide(tests.two_sided, estimate.scores, alpha=alpha)
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


def coverage_figures(case: Case, folder: Path, kept: Kept, replicates: int) -> Figures:
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


# --- errors of scores and soft pairwise accuracy ---------------------------------------------------------
# Zouhar et al. 2025, Table 9, has every informative selector far behind random selection on the models'
# scores. Here stand, on the same items and budgets, those selectors with plain means, and probability
# designs with ``greg``. Soft pairwise accuracy compares p-values with the sign-flip p-values of all items.
# Of a draw there are several p-values: those of ``rank`` (t tests for inputs like these, or for this set),
# and those that judging everything is predicted to give, plain or shrunk.


MAE = "mean_absolute_error"
# The p-values of an estimate, in the order in which they are kept.
FORMS = ("t, population", "t, set", "predicted", "predicted, shrunk")
SEEDED_RUNS, RANDOM_RUNS = 5, 100
# Where a configuration is close to the bar, it is drawn so many times as often.
CLOSE = 10


@dataclass(frozen=True)
class Row:
    """A way to choose items; ``{}`` stands for the metric that was fixed beforehand."""

    method: str
    is_ours: bool = False
    is_seeded: bool = False
    needs_vouching: bool = False

    def text(self, case: Case) -> str:
        """Return the method with the metric of a set."""
        return self.method.replace("{}", case.metric)


CONS = Row("metric_cons:metric={}")
SELECTORS = (
    Row("metric_avg:metric={}"),
    Row("metric_var:metric={}"),
    CONS,
    Row("diversity"),
    Row("irt:metric={}"),
    Row("kmeans", is_seeded=True),
    Row("diffuse"),
)


def _vouched(design: str, utility: str) -> Row:
    return Row(f"{design}:utility=({utility}:metric={{}}),tau=0.5", is_ours=True, needs_vouching=True)


BEST = _vouched("local_pivotal", "metric_avg")
FEW = (Row("uniform", is_ours=True), Row("local_pivotal", is_ours=True), BEST)
DESIGNS = (
    *FEW,
    _vouched("local_pivotal", "metric_var"),
    _vouched("local_pivotal", "metric_cons"),
    Row("cube", is_ours=True),
    _vouched("cube", "metric_avg"),
)


def rows_of(is_main: bool) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Return the selectors and the designs: all of them on the main sets, the quick ones elsewhere."""
    return (SELECTORS, DESIGNS) if is_main else (SELECTORS[:5], FEW)


@dataclass(frozen=True, eq=False)
class Bench:
    """A set with the outcome of judging all of it."""

    case: Case
    data: EvalSet
    full: FullSet

    @classmethod
    def of(cls, case: Case, folder: Path) -> Bench:
        """Load a set and test all its pairs."""
        data = case.data(folder)
        return cls(case, data, full_set(data, case.truth))

    @property
    def sizes(self) -> list[int]:
        """The numbers of items that are judged."""
        return [int(size) for size in sizes_of(self.case.shares, len(self.full))]

    def plain(self, method: str, seed: int) -> Floats:
        """Return the error and the accuracy of a selector with plain means, budgets × 2."""
        again, sizes = MethodReplay(self.data, self.data), np.array(self.sizes)
        found = [method_curve(again, self.full, method, sizes, name, seed).values for name in (MAE, SPA)]
        return np.array(found).T

    def random(self, seed: int) -> Floats:
        """Return the same of a random selection."""
        return np.array([random_curve(self.full, self.sizes, [seed], name).values for name in (MAE, SPA)]).T

    def estimated(self, method: str, seed: int) -> Floats:
        """Return the error of a draw with its estimate, and its accuracy by every form of p-values."""
        return np.array(
            [self._drawn(method, size, 1000 * place + seed) for place, size in enumerate(self.sizes)]
        )

    def _drawn(self, method: str, size: int, seed: int) -> list[float]:
        chosen = sparingly.select(self.data, method, size, seed=seed)
        sample = sample_from(self.data, self.full.values, chosen)
        linear = as_estimator(ESTIMATOR).linear(sample, self.data, seed)
        wide, narrow = (
            assemble(sample, linear, self.data.models, asked, aspect=self.case.truth, estimator=ESTIMATOR)
            for asked in (
                EstimateRequest("population", interval="none"),
                EstimateRequest("set", interval="none"),
            )
        )
        p_values = [_from_t(wide), _from_t(narrow), *_predicted(wide)]
        error = float(np.abs(wide.scores - self.full.means).mean())
        return [error, *(float(soft_pairwise_accuracy(p, self.full.p_values)) for p in p_values)]


def _from_t(estimate: Estimate) -> Floats:
    """Return the one-sided p-value that the first model of every pair is better."""
    first, second = pair_indices(len(estimate.models))
    tests = t_tests(estimate.scores, estimate.covariance, estimate.freedom, certain=False)
    return np.asarray(tests.worse[second, first])


def _predicted(estimate: Estimate) -> tuple[Floats, Floats]:
    """Return the p-values that judging everything is predicted to give, plain and shrunk.

    Computed from the arrays, and so also below the 30 items under which ``Estimate.full_set_p`` keeps silent.
    """
    assert estimate.pairs is not None
    first, second = pair_indices(len(estimate.models))
    differences = estimate.scores[first] - estimate.scores[second]
    spread = estimate.pairs.deviations(first, second)
    errors = estimate.pairs.over_set.of_pairs(first, second)[0]
    plain = full_set_p_values(differences, spread, estimate.size)
    # Under ten items there is no error to shrink by.
    known = errors if np.isfinite(errors).all() else None
    return plain, full_set_p_values(differences, spread, estimate.size, errors=known)


def error_figures(
    case: Case, folder: Path, kept: Kept, draws: int, selectors: Sequence[Row], designs: Sequence[Row]
) -> Figures:
    """Return all rows of one set."""
    bench = Bench.of(case, folder)
    base = kept.runs({"case": case.name, "row": "random"}, max(draws, RANDOM_RUNS), bench.random)
    rows = [_plain_row(bench, kept, row, base) for row in selectors]
    bar = next(row["spa"]["plain"]["mean"] for row in rows if row["method"] == CONS.text(case))
    for row in designs:
        if case.is_vouched or not row.needs_vouching:
            rows.append(_own_row(bench, kept, row, draws, base, bar))
    items, models = bench.data.shape
    return {
        "name": case.name,
        "title": case.title,
        "metric": case.metric,
        "items": items,
        "models": models,
        "random": {
            "draws": len(base),
            "mae": mean_with_interval(base[:, :, 0].mean(axis=1)),
            "spa": mean_with_interval(base[:, :, 1].mean(axis=1)),
        },
        "rows": rows,
    }


def _plain_row(bench: Bench, kept: Kept, row: Row, base: Floats) -> Figures:
    text = row.text(bench.case)
    key = {"case": bench.case.name, "row": text}
    runs = kept.runs(key, SEEDED_RUNS if row.is_seeded else 1, lambda seed: bench.plain(text, seed))
    by_run = runs.mean(axis=1)
    return {
        "method": text,
        "ours": False,
        "draws": len(runs),
        "ratio": ratio_with_interval(by_run[:, 0], base[:, :, 0].mean(axis=1)),
        "spa": {"plain": mean_with_interval(by_run[:, 1])},
    }


def _own_row(bench: Bench, kept: Kept, row: Row, draws: int, base: Floats, bar: float) -> Figures:
    text = row.text(bench.case)
    key = {"case": bench.case.name, "row": text, "estimator": ESTIMATOR}
    if row == BEST and bench.case == ENDE:
        draws *= CLOSE
    runs = kept.runs(key, draws, lambda seed: bench.estimated(text, seed), or_more=True)
    by_run = runs.mean(axis=1)
    return {
        "method": text,
        "ours": True,
        "draws": len(runs),
        "ratio": ratio_with_interval(by_run[:, 0], base[:, :, 0].mean(axis=1)),
        "spa": {form: mean_with_interval(by_run[:, place + 1]) for place, form in enumerate(FORMS)},
        "by_budget": {
            "share": list(bench.case.shares),
            "ratio": [rounded(float(v)) for v in runs[:, :, 0].mean(axis=0) / base[:, :, 0].mean(axis=0)],
            "spa": [rounded(float(v)) for v in runs[:, :, 1 + FORMS.index("predicted")].mean(axis=0)],
        },
        # How often a single draw is more accurate than the one list that metric_cons gives.
        "above": {
            form: rounded(float((by_run[:, place + 1] > bar).mean())) for place, form in enumerate(FORMS)
        },
    }
