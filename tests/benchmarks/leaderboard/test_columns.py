"""Numbers of the leaderboard as they are shown."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from benchmarks.leaderboard.board import BoardRow
from benchmarks.leaderboard.columns import ALL_COLUMNS, COLUMNS, OTHER_COLUMNS, STOP_COLUMNS, Column
from benchmarks.leaderboard.ranges import NAN, Range

ROW = cast(BoardRow, None)
BY_KEY = {column.key: column for column in ALL_COLUMNS}


def showing(key: str, found: Range) -> Column:
    return replace(BY_KEY[key], figure=lambda row: found)


@pytest.mark.parametrize(
    ("key", "found", "text", "interval"),
    [
        ("parity", Range(0.724, 0.681, 0.776), "72", "68 to 78"),
        ("gain", Range(-0.04, -1.26, 1.18), "+0.0", "−1.3 to +1.2"),
        ("gain", Range(1.0), "+1.0", ""),
        ("error", Range(0.896, 0.896, 0.896), "0.90", ""),
        ("coverage", Range(NAN), "–", ""),
        ("p", Range(0.0004), "< 0.001", ""),
        ("p", Range(0.0314), "0.031", ""),
        ("bias", Range(0.0312, -0.01, 0.07), "+0.031", "−0.010 to +0.070"),
        ("kendall_b", Range(0.91, 0.9, 0.92), "0.910", "0.900 to 0.920"),
    ],
)
def test_numbers_and_intervals(key: str, found: Range, text: str, interval: str) -> None:
    column = showing(key, found)
    assert column.text(ROW) == text
    assert column.interval(ROW) == interval


@pytest.mark.parametrize(
    ("key", "found", "verdict"),
    [
        ("parity", Range(0.8, 0.7, 0.9), "better"),
        ("parity", Range(0.8, 0.7, 1.0), ""),
        ("parity", Range(1.2, 1.1, 1.3), "worse"),
        ("parity", Range(0.5), ""),
        ("gain", Range(1.0, 0.5, 1.5), "better"),
        ("gain", Range(-1.0, -1.5, -0.5), "worse"),
        ("coverage", Range(0.5, 0.4, 0.6), ""),
    ],
)
def test_only_a_whole_interval_is_better_or_worse(key: str, found: Range, verdict: str) -> None:
    assert showing(key, found).verdict(ROW) == verdict


def test_a_mean_is_judged_by_its_difference_from_random() -> None:
    column = replace(
        showing("pairwise_accuracy", Range(0.9, 0.8, 1.0)), beside=lambda row: Range(-0.1, -0.2, -0.05)
    )
    assert column.verdict(ROW) == "worse"
    column = replace(
        showing("rank_changes", Range(3.0, 2.0, 4.0)), beside=lambda row: Range(-0.1, -0.2, -0.05)
    )
    assert column.verdict(ROW) == "better"


@pytest.mark.parametrize("columns", [COLUMNS, OTHER_COLUMNS, STOP_COLUMNS])
def test_columns_of_a_group_stand_together(columns: tuple[Column, ...]) -> None:
    groups = [column.group for column in columns]
    starts = [group for place, group in enumerate(groups) if place == 0 or groups[place - 1] != group]
    assert len(starts) == len(set(starts))


def test_columns_have_names_of_their_own() -> None:
    assert len(BY_KEY) == len(ALL_COLUMNS)
    assert all(column.words.endswith(".") for column in ALL_COLUMNS)
