"""The tidy table as arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars
import pytest

from benchmarks.leaderboard.results import SPA, Refusal, read_results
from sparingly.base.errors import DataError, UnknownNameError
from tests.benchmarks.leaderboard.made import RANDOM, SHARES, THREE, MadeEntry, MadeSet, table

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


def texts(rows: list[tuple[str, str | None]], column: str = "method") -> str | None:
    """What is read as the text of an entry, from its texts on sets with these metrics."""
    listed = MadeEntry("listed", runs=1, shares=THREE[:1], method="made")
    frame = polars.concat(
        table([MadeSet(f"set{place}")], [listed]).with_columns(
            polars.lit(text).alias(column), polars.lit(metric, polars.String).alias("metric")
        )
        for place, (text, metric) in enumerate(rows)
    )
    return getattr(read_results(frame).entries["listed"], column)  # type: ignore[no-any-return]


@pytest.mark.parametrize("column", ["method", "estimator"])
@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([("var:metric=chrF", "chrF"), ("var:metric=COMET", "COMET")], "var:metric={metric}"),
        ([("var:metric=a,b=a", "a"), ("var:metric=c,b=c", "c")], "var:metric={metric},b={metric}"),
        ([("var:metric=a,b=a", "a"), ("var:metric=c,b=a", "c")], "var:metric={metric},b=a"),
        (
            [("mix:of=(v:metric=a)+(w)", "a"), ("mix:of=(v:metric=b)+(w)", "b")],
            "mix:of=(v:metric={metric})+(w)",
        ),
        ([('var:metric="a,b"', "a,b"), ("var:metric=chrF", "chrF")], "var:metric={metric}"),
        ([("var:metric={metric}", None), ("var:metric=chrF", "chrF")], "var:metric={metric}"),
        ([("var:metric=chrF", "chrF"), ("var:metric=chrF", "COMET")], "var:metric=chrF"),
        ([("var:metric=chrF", "chrF")], "var:metric=chrF"),
        ([("random", "chrF"), ("random", "COMET")], "random"),
    ],
)
def test_the_text_of_an_entry_is_that_of_the_grid(
    rows: list[tuple[str, str | None]], text: str, column: str
) -> None:
    assert texts(rows, column) == text
    assert texts(rows[::-1], column) == text
