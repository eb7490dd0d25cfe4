"""Figures made of errors are what they are said to be."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.papers.saldias.cases import Case, Cases
from benchmarks.papers.saldias.draws import count_of
from benchmarks.papers.saldias.errors import Errors, Summary, bound_figures, method_figures, ratio
from benchmarks.papers.saldias.methods import BASE, BEST_PUBLISHED


def test_ratio_and_its_error_by_hand() -> None:
    baseline, error = np.array([1.0, 2.0, 3.0, 2.0]), np.array([1.0, 1.0, 2.0, 2.0])
    value, wide = ratio(error, baseline)
    left = error - 0.75 * baseline
    assert value == pytest.approx(0.75)
    assert wide == pytest.approx(left.std(ddof=1) / 2.0 / 2.0)


def test_figures_of_a_method_by_hand() -> None:
    # 2 shares × 2 draws × 2 simulations: better in three of four cells.
    baseline = np.array([[[2.0, 2.0], [4.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]])
    error = np.array([[[1.0, 3.0], [3.0, 1.0]], [[0.5, 2.0], [0.5, 2.0]]])
    found = method_figures("x", Summary.of(error), Summary.of(baseline))
    assert found["error"] == pytest.approx(error.mean())
    assert found["win"] == 0.75
    assert found["sd"] == pytest.approx((np.sqrt(2.0) * 2 + 0.0) / 4, abs=1e-5)
    assert found["ratio"] == pytest.approx(error.mean() / baseline.mean(), abs=1e-5)
    assert found["by_share"] == pytest.approx([2.0 / 3.0, 1.25], abs=1e-5)
    assert method_figures(BASE, Summary.of(baseline), Summary.of(baseline))["win"] is None


def test_a_summary_is_read_as_it_was_kept() -> None:
    kept = Summary.of(np.random.default_rng(3).random((2, 5, 3)))
    again = Summary.read(kept.plain())
    assert (again.means == kept.means).all()
    assert (again.per_draw == kept.per_draw).all()
    assert (again.spread == kept.spread).all()


def test_bounds_by_hand(cases: Cases, case: Case) -> None:
    shares = (0.1, 0.3, 0.5)
    shape = (3, 2, 3)
    found = {name: Errors(np.full(shape, 0.5), np.ones(shape)) for name in (BASE, BEST_PUBLISHED)}
    lines = bound_figures(cases, found, shares, found)
    n, size = count_of(case, 0.3), len(case.data)
    spread = np.ptp(case.truth, axis=0)
    hoeffding = spread * np.sqrt((1 - (n - 1) / size) * np.log(40.0) / (2 * n))
    bernstein = np.sqrt(2 * np.log(60.0) / n) + 3 * spread * np.log(60.0) / n
    there = {
        line["bound"]: line for line in lines if line["share"] == 0.3 and line["method"] == BEST_PUBLISHED
    }
    for name, width in (("Hoeffding", hoeffding), ("Bernstein", bernstein)):
        assert there[name]["width"] == pytest.approx(width.mean(), abs=1e-4)
        assert there[name]["slack"] == pytest.approx((width - 0.5).mean(), abs=1e-4)
        assert there[name]["calibration"] == pytest.approx((width >= 0.5).mean(), abs=1e-4)
