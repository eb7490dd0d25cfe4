"""The tidy table as arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars
import pytest

from sparingly.base.errors import DataError, UnknownNameError
from sparingly.bench.summary.results import SPA, Refusal, read_results
from tests.bench.summary.made import RANDOM, SHARES, THREE, MadeEntry, MadeSet, table

SETS = (MadeSet("a", strong=True), MadeSet("b"), MadeSet("small", items=40))
LISTED = MadeEntry("listed", kind="deterministic", runs=1, resamples=3, shares=THREE, not_for=("b",))
FRAME = table(SETS, [MadeEntry("random", runs=4, method="random"), LISTED])


def test_runs_are_rows_and_budgets_are_columns() -> None:
    runs = read_results(FRAME).runs["a", "random"]
    np.testing.assert_allclose(runs.shares, SHARES)
    assert runs.whole(SPA).shape == (4, 10)
    chosen = FRAME.filter(set="a", entry="random", seed=2).filter(polars.col("share") == SHARES[3])
    assert runs.whole(SPA)[2, 3] == chosen[SPA].item()


def test_resamples_are_kept_apart_from_the_whole_set() -> None:
    runs = read_results(FRAME).runs["a", "listed"]
    assert runs.whole(SPA).shape == (1, 3)
    assert sorted(runs.resampled(SPA)) == [1, 2, 3]
    np.testing.assert_array_equal(runs.curve(SPA), runs.whole(SPA)[0])
    chosen = FRAME.filter(set="a", entry="listed", resample=2)
    np.testing.assert_array_equal(runs.resampled(SPA)[2], chosen.sort("share")[SPA].to_numpy())


def test_the_order_of_rows_does_not_matter() -> None:
    one, other = read_results(FRAME), read_results(FRAME.sample(fraction=1.0, shuffle=True, seed=3))
    assert one.sets == other.sets
    assert one.entries == other.entries
    assert [*one.runs] == [*other.runs]
    for key, runs in one.runs.items():
        np.testing.assert_array_equal(runs.resamples, other.runs[key].resamples)
        np.testing.assert_array_equal(runs.whole(SPA), other.runs[key].whole(SPA))


def test_what_was_not_run_is_named_and_has_no_figures() -> None:
    found = read_results(FRAME)
    assert ("b", "listed") not in found.runs
    assert found.refusals == [Refusal("b", "listed", "not_applicable", "The set has no texts.")]


def test_small_sets_do_not_count() -> None:
    found = read_results(FRAME)
    assert found.counting() == ["a", "b"]
    assert found.sets["a"].strong
    assert not found.sets["b"].strong


def test_two_entries_are_compared_at_the_budgets_of_both() -> None:
    found = read_results(FRAME)
    shared = found.shared("a", "listed", "random")
    assert shared is not None
    for runs in shared:
        np.testing.assert_allclose(runs.shares, THREE)
    assert shared[1].whole(SPA).shape == (4, 3)
    assert found.shared("b", "listed", "random") is None


def test_an_unknown_measure_is_named() -> None:
    with pytest.raises(UnknownNameError, match="soft_pairwise_acuracy"):
        read_results(FRAME).runs["a", "random"].whole("soft_pairwise_acuracy")


def test_a_table_is_read_from_its_file(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "table.parquet")
    read = read_results(tmp_path / "table.parquet")
    np.testing.assert_array_equal(
        read.runs["a", "random"].whole(SPA), read_results(FRAME).runs["a", "random"].whole(SPA)
    )


def test_a_table_without_a_column_or_a_row_is_refused() -> None:
    with pytest.raises(DataError, match="share"):
        read_results(FRAME.drop("share"))
    with pytest.raises(DataError, match="empty"):
        read_results(FRAME.clear())


def test_random_has_its_hundred_runs() -> None:
    assert read_results(table(SETS[:1], [RANDOM])).runs["a", "random"].whole(SPA).shape == (100, 10)
