"""The rows of the leaderboard."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.leaderboard.board import Board, BoardRow, board, same_baseline
from benchmarks.leaderboard.results import read_results
from tests.benchmarks.leaderboard.arrays import entry_info, results_of, runs_of
from tests.benchmarks.leaderboard.made import MadeEntry, MadeSet, table

SETS = (
    MadeSet("good1", strong=True),
    MadeSet("good2", strong=True),
    MadeSet("poor", has_sources=False),
    MadeSet("tiny", items=40),
)
ENTRIES = (
    MadeEntry("random", kind="random", runs=30, method="random"),
    MadeEntry("random|greg", 0.8, error=0.9, runs=30, method="random", estimator="greg", coverage=0.95),
    MadeEntry("auto", 0.9, 0.5, error=0.85, estimator="greg", noise=0.002, coverage=0.97),
    MadeEntry("texts", 1.4, kind="deterministic", runs=1, resamples=5, not_for=("poor",)),
)
RESULTS = read_results(table(SETS, ENTRIES))
BOARD: Board = board(RESULTS)
ROWS: dict[str, BoardRow] = {row.info.entry: row for row in BOARD.rows}


def test_rows_stand_by_the_labels_that_they_need() -> None:
    needs = [row.parity.mean.value for row in BOARD.rows]
    assert needs == sorted(needs)
    assert {row.info.entry for row in BOARD.rows} == {entry.name for entry in ENTRIES}


def test_means_are_over_the_counting_sets_of_an_entry() -> None:
    assert {name: row.sets for name, row in ROWS.items()} == {
        "random": 3,
        "random|greg": 3,
        "auto": 3,
        "texts": 2,
    }
    row = ROWS["texts"]
    assert row.parity.sets == 2
    mean = np.mean([BOARD.by_set[name, "texts"].value for name in ("good1", "good2")])
    assert row.parity.mean.value == pytest.approx(mean)
    gain = np.mean([BOARD.gains[name, "texts"].value for name in ("good1", "good2")])
    assert row.gain.value == pytest.approx(gain)


def test_strong_sets_and_the_worst_set_are_told_apart() -> None:
    auto = ROWS["auto"].parity
    strong = np.mean([BOARD.by_set[name, "auto"].value for name in ("good1", "good2")])
    assert auto.strong.value == pytest.approx(strong)
    assert auto.strong.value == pytest.approx(0.5, abs=0.08)
    assert auto.worst_set == "poor"
    assert auto.worst.value == BOARD.by_set["poor", "auto"].value
    assert auto.worst.low < auto.worst.value < auto.worst.high


def test_sets_that_do_not_count_are_listed_and_in_no_mean() -> None:
    assert ("tiny", "auto") in BOARD.by_set
    assert ("tiny", "auto") in BOARD.gains
    assert ROWS["auto"].parity.sets == 3
    assert ROWS["auto"].first.sets == 3


def test_parity_with_the_same_estimate_is_above_that_with_plain_random() -> None:
    auto = ROWS["auto"]
    assert auto.same_entry == "random|greg"
    assert auto.same.mean.value > auto.parity.mean.value
    assert ROWS["random|greg"].same.mean.value == 1.0
    assert ROWS["texts"].same_entry == "random"
    assert ROWS["texts"].same == ROWS["texts"].parity


def test_sets_without_sources_are_not_in_the_seconds() -> None:
    assert ROWS["auto"].parity_seconds.sets == 2
    assert ROWS["auto"].parity_seconds.strong.value == pytest.approx(
        ROWS["auto"].parity.strong.value, rel=0.02
    )


def test_errors_trust_and_tests_are_in_the_row() -> None:
    auto = ROWS["auto"]
    assert auto.error.mean.value == pytest.approx(0.85, abs=0.05)
    assert auto.trust.coverage is not None
    assert auto.trust.coverage.rate.value == pytest.approx(0.97, abs=0.03)
    assert auto.test is not None
    assert auto.test.sets == 3
    assert auto.seconds == pytest.approx(0.01)
    assert ROWS["random"].test is None
    assert ROWS["random"].parity.mean.value == 1.0
    assert ROWS["texts"].extrapolated > 0.0


def test_other_measures_are_in_the_row() -> None:
    auto = ROWS["auto"].others
    names = ("good1", "good2", "poor")
    mean = np.mean([RESULTS.runs[name, "auto"].curve("kendall_b").mean() for name in names])
    assert auto["kendall_b"].mean.value == pytest.approx(mean)
    assert auto["kendall_b"].above.value == pytest.approx(2.0 * ROWS["auto"].gain.value / 100.0)
    assert ROWS["random"].others["pairwise_accuracy"].above.value == 0.0
    assert ROWS["auto"].stops is None
    assert BOARD.stopping == ()


def test_the_same_table_gives_the_same_board() -> None:
    again = board(read_results(table(SETS, ENTRIES).sample(fraction=1.0, shuffle=True, seed=1)))
    assert [row.info.entry for row in again.rows] == [row.info.entry for row in BOARD.rows]
    assert again.by_set == BOARD.by_set


def test_which_random_entry_an_entry_is_set_beside() -> None:
    infos = (
        entry_info("random|greg", "random", "greg"),
        entry_info("random|greg, expected p", "random", "greg", "full_set"),
        entry_info("cube|greg", "cube", "greg"),
        entry_info("cube|ppi", "cube", "ppi"),
        entry_info("waves", "waves", None, "full_set"),
        entry_info("auto", "auto", None, "full_set"),
        entry_info("judged as auto", "auto:spread=false", None, "full_set"),
    )
    names = ["random", *(info.entry for info in infos)]
    results = results_of({("a", name): runs_of([0.5, 0.6]) for name in names}, infos=infos)
    found = {name: same_baseline(results, name) for name in names}
    assert found == {
        "random": "random",
        "random|greg": "random|greg",
        "random|greg, expected p": "random|greg, expected p",
        "cube|greg": "random|greg",
        "cube|ppi": None,
        "waves": "random|greg, expected p",
        "auto": "judged as auto",
        "judged as auto": "random|greg, expected p",
    }
    without = {("a", name): runs_of([0.5, 0.6]) for name in names[:-1]}
    assert same_baseline(results_of(without, infos=infos), "auto") is None
