"""Error of the scores and soft pairwise accuracy: published selectors beside draws with an estimate.

Zouhar et al. 2025, Table 9, has every informative selector far behind random selection on the models' scores.
Here stand, on the same items and budgets, those selectors with plain means, and probability designs with
``greg``. Soft pairwise accuracy compares p-values with the sign-flip p-values of all items. Of a draw there
are several p-values: those of ``rank`` (t tests for inputs like these, or for this set), and those that
judging everything is predicted to give, plain or shrunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks._honesty_cases import ENDE, Case, Kept, mean_with_interval, ratio_with_interval, rounded
from sparingly import EvalSet
from sparingly.base.arrays import Floats
from sparingly.base.stats.pairs import pair_indices, soft_pairwise_accuracy
from sparingly.infer.estimate.assemble import EstimateRequest, assemble
from sparingly.infer.estimate.draw import sample_from
from sparingly.infer.estimate.estimators import as_estimator
from sparingly.infer.estimate.full_set_p import full_set_p_values
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.rank.agreement import FullSet
from sparingly.infer.rank.compare import MethodReplay, full_set, method_curve
from sparingly.infer.rank.curve import SPA, random_curve, sizes_of
from sparingly.infer.rank.pair_tests import t_tests

Figures = dict[str, Any]
MAE = "mean_absolute_error"
# The p-values of an estimate, in the order in which they are kept.
FORMS = ("t, population", "t, set", "predicted", "predicted, shrunk")
ESTIMATOR = "greg"
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


def _from_t(found: Estimate) -> Floats:
    """Return the one-sided p-value that the first model of every pair is better."""
    first, second = pair_indices(len(found.models))
    tests = t_tests(found.scores, found.covariance, found.freedom, certain=False)
    return np.asarray(tests.worse[second, first])


def _predicted(found: Estimate) -> tuple[Floats, Floats]:
    """Return the p-values that judging everything is predicted to give, plain and shrunk.

    Computed from the arrays, and so also below the 30 items under which ``Estimate.full_set_p`` keeps silent.
    """
    assert found.pairs is not None
    first, second = pair_indices(len(found.models))
    differences = found.scores[first] - found.scores[second]
    spread = found.pairs.deviations(first, second)
    errors = found.pairs.over_set.of_pairs(first, second)[0]
    plain = full_set_p_values(differences, spread, found.size)
    # Under ten items there is no error to shrink by.
    known = errors if np.isfinite(errors).all() else None
    return plain, full_set_p_values(differences, spread, found.size, errors=known)


def case_figures(
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
